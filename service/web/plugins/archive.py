"""Packs a platform's plugin into a zip to upload."""

import io
import struct
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

# The folder has the plugin's name.
WORDPRESS = Path(__file__).parent / "wordpress" / "slopsieve"
# The earliest date of a zip, for reproducible archives.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16
# The hash table's offset in the header of a compiled catalogue.
_HASHES_AT = 24


def pack_plugin(folder: Path) -> bytes:
    """Return a zip of a plugin's folder, with compiled catalogues.

    `languages/de.po` becomes `languages/slopsieve-de.mo`.
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
    # WordPress before 6.5 requires the offset of the hash table, though there is none.
    count, after = struct.unpack_from("<8xI4xI", held)
    struct.pack_into("<I", held, _HASHES_AT, after + 8 * count)
    return bytes(held)
