"""The file of one compiled reputation list: a header, flat arrays, a checksum; mapped, not read."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import sys
import tempfile
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from service.domain.comment import ListBasis, ListKind
from service.reputation.about_list import AboutList
from service.reputation.ranges import CompiledEntries, ItemFormat, empty_column

SUFFIX = ".list"
_MAGIC = b"SLOPLST1"
_LENGTH_BYTES = 8
_DIGEST_BYTES = 32
_MAX_HEADER_BYTES = 65_536
# The arrays in their order in the file; each is 4 or 8 bytes an item (see `CompiledEntries`).
_ITEM_FORMATS: tuple[ItemFormat, ...] = ("I", "I", "Q", "Q", "Q", "Q", "Q")
_ITEM_BYTES = {"I": 4, "Q": 8}
_ALIGNMENT = 16


class DamagedListError(Exception):
    """A file is no list, was cut short or changed, or comes from another kind of machine."""


def write_list(path: Path, about: AboutList, compiled: CompiledEntries) -> None:
    """Write a list whole or not at all, in place of what was there.

    Readers keep the old one mapped. The file is never changed or cut once it has its name: a
    reader's map would break.
    """
    columns = compiled.columns()
    header = _header_bytes(about, [len(column) for column in columns])
    arrays = (column.cast("B") for column in columns if len(column))
    parts: tuple[bytes | memoryview, ...] = (header, *arrays)
    digest = hashlib.sha256()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for raw in parts:
                digest.update(raw)
                file.write(raw)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that a rename or a removal in a folder outlives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_list(path: Path) -> tuple[AboutList, CompiledEntries]:
    """Map a list into memory. Raises `DamagedListError`, `OSError`."""
    with path.open("rb") as file:
        try:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:
            msg = "the file is empty"
            raise DamagedListError(msg) from None
    body = mapped[:-_DIGEST_BYTES]
    if hashlib.sha256(body).digest() != bytes(mapped[-_DIGEST_BYTES:]):
        msg = "its checksum does not fit its content"
        raise DamagedListError(msg)
    try:
        return _parsed(body)
    except (ValueError, KeyError, TypeError) as error:
        msg = "its header cannot be read"
        raise DamagedListError(msg) from error


def _parsed(body: memoryview) -> tuple[AboutList, CompiledEntries]:
    prefix = len(_MAGIC) + _LENGTH_BYTES
    length = int.from_bytes(body[len(_MAGIC) : prefix], "little")
    if bytes(body[: len(_MAGIC)]) != _MAGIC or length > _MAX_HEADER_BYTES:
        msg = "another kind of file"
        raise ValueError(msg)
    header = json.loads(bytes(body[prefix : prefix + length]))
    if header.pop("byteorder") != sys.byteorder:
        msg = "another kind of machine"
        raise ValueError(msg)
    columns = _columns(body[prefix + length :], header.pop("lengths"))
    for name in ("listed_at", "imported_at", "expires_at"):
        header[name] = datetime.fromisoformat(header[name])
    header["kind"] = ListKind(header["kind"])
    # Lists that were imported before there was one do not have the key.
    header["basis"] = ListBasis(header.get("basis", ListBasis.REPORTED))
    about = AboutList(**header)
    return about, CompiledEntries.of_columns(columns)


def _columns(raw: memoryview, lengths: list[int]) -> tuple[memoryview, ...]:
    columns, start = [], 0
    for length, item_format in zip(lengths, _ITEM_FORMATS, strict=True):
        end = start + length * _ITEM_BYTES[item_format]
        part = raw[start:end]
        columns.append(part.cast(item_format) if length else empty_column(item_format))
        start = end
    if start != len(raw):
        msg = "the arrays do not fill the file"
        raise ValueError(msg)
    return tuple(columns)


def _header_bytes(about: AboutList, lengths: list[int]) -> bytes:
    values = asdict(about) | {"lengths": lengths, "byteorder": sys.byteorder}
    for name in ("listed_at", "imported_at", "expires_at"):
        values[name] = values[name].isoformat()
    raw = json.dumps(values).encode()
    prefix = len(_MAGIC) + _LENGTH_BYTES
    # Spaces after a JSON value are nothing; with them the arrays begin on a round address.
    raw += b" " * (-(prefix + len(raw)) % _ALIGNMENT)
    return _MAGIC + len(raw).to_bytes(_LENGTH_BYTES, "little") + raw
