"""Packs a platform's plugin into the file that people upload there."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

# The folder's name is the plugin's at its platform.
WORDPRESS = Path(__file__).parent / "wordpress" / "slopsieve"
# The earliest moment that a zip can name: the same files make the same bytes, whenever it is made.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16
# In the head of a compiled catalogue.
_HASHES_AT = 24


def pack_plugin(folder: Path) -> bytes:
    """Return a zip of a plugin's folder, with the folder's own name inside.

    A catalogue of texts is packed as platforms read it: `languages/de.po` as `slopsieve-de.mo`.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in sorted(_contents(folder)):
            entry = zipfile.ZipInfo(f"{folder.name}/{name}", _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = _READABLE
            archive.writestr(entry, content, compresslevel=9)
    return packed.getvalue()


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each file's name in the folder and what it holds."""
    for path in folder.rglob("*"):
        if path.suffix == ".po":
            place = path.with_name(f"{folder.name}-{path.stem}.mo")
            yield place.relative_to(folder).as_posix(), _compiled(path)
        elif path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _compiled(catalogue: Path) -> bytes:
    with catalogue.open("rb") as file:
        texts = read_po(file, locale=catalogue.stem)
    texts.creation_date = texts.revision_date = datetime(*_LONG_AGO, tzinfo=UTC)
    compiled = io.BytesIO()
    write_mo(compiled, texts)
    held = bytearray(compiled.getvalue())
    # Where a table of hashes would begin that is not there: WordPress before 6.5 reads no file that
    # does not say it, though 0 would do.
    count, after = struct.unpack_from("<8xI4xI", held)
    struct.pack_into("<I", held, _HASHES_AT, after + 8 * count)
    return bytes(held)
