"""Packs a platform's plugin into the file that people upload there."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

# The folder's name is the plugin's at its platform.
WORDPRESS = Path(__file__).parent / "wordpress" / "slopsieve"
# The earliest moment that a zip can name: the same files make the same bytes, whenever it is made.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16


def pack_plugin(folder: Path) -> bytes:
    """Return a zip of a plugin's folder, with the folder's own name inside."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix(), _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = _READABLE
            archive.writestr(entry, path.read_bytes(), compresslevel=9)
    return packed.getvalue()
