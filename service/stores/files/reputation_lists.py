"""Stores reputation lists as memory-mapped files in a folder."""

import contextlib
import hashlib
import json
import logging
import mmap
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from service.data_folder import PRIVATE_FILE, sync_folder, written_whole
from service.domain.comment import ListBasis, Listing, ListKind
from service.domain.sender import parse_address
from service.domain.text import normal_domain
from service.reputation.lists import AboutList, is_local
from service.reputation.ranges import COLUMN_FORMATS, CompiledEntries

SUFFIX = ".list"
_MAGIC = b"SLOPLST1"
_LENGTH_BYTES = 8
_DIGEST_BYTES = 32
_ITEM_BYTES = {"I": 4, "Q": 8}
_ABOUT = TypeAdapter(AboutList)


class DamagedListError(Exception):
    """A file is not a list, was truncated or changed, or has another byte order."""


def write_list(path: Path, about: AboutList, compiled: CompiledEntries) -> None:
    """Write a list to a new file that replaces the old one, which readers may have mapped."""
    lengths = [len(column) for column in compiled.columns]
    values = to_jsonable_python(about) | {"lengths": lengths, "byteorder": sys.byteorder}
    raw_values = json.dumps(values).encode()
    # Padded with spaces, which JSON ignores, to align the arrays.
    raw_values += b" " * (-(len(_MAGIC) + _LENGTH_BYTES + len(raw_values)) % 16)
    header = _MAGIC + len(raw_values).to_bytes(_LENGTH_BYTES, "little") + raw_values
    arrays = (column.cast("B") for column in compiled.columns if len(column))
    parts: tuple[bytes | memoryview, ...] = (header, *arrays)
    digest = hashlib.sha256()
    with written_whole(path, mode=PRIVATE_FILE) as file:
        for raw in parts:
            digest.update(raw)
            file.write(raw)
        file.write(digest.digest())


def open_list(path: Path) -> tuple[AboutList, CompiledEntries]:
    """Map a list into memory. Raise `DamagedListError` or `OSError`."""
    with path.open("rb") as file:
        try:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:
            raise DamagedListError("the file is empty") from None
    body = mapped[:-_DIGEST_BYTES]
    if hashlib.sha256(body).digest() != bytes(mapped[-_DIGEST_BYTES:]):
        raise DamagedListError("its checksum does not fit its content")
    try:
        return _parsed(body)
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedListError("its header cannot be read") from error


def _parsed(body: memoryview) -> tuple[AboutList, CompiledEntries]:
    prefix = len(_MAGIC) + _LENGTH_BYTES
    length = int.from_bytes(body[len(_MAGIC) : prefix], "little")
    if bytes(body[: len(_MAGIC)]) != _MAGIC or length > 65_536:
        raise ValueError("another kind of file")
    header = json.loads(bytes(body[prefix : prefix + length]))
    if header.pop("byteorder") != sys.byteorder:
        raise ValueError("another kind of machine")
    raw = body[prefix + length :]
    columns, start = [], 0
    for length, item_format in zip(header.pop("lengths"), COLUMN_FORMATS, strict=True):
        end = start + length * _ITEM_BYTES[item_format]
        # An empty view cannot be cast.
        part = raw[start:end].cast(item_format) if length else memoryview(array(item_format))
        columns.append(part)
        start = end
    if start != len(raw):
        raise ValueError("the arrays do not fill the file")
    # Older lists have no `basis`; what they have besides is ignored.
    about = _ABOUT.validate_python({"basis": ListBasis.REPORTED, **header})
    return about, CompiledEntries(tuple(columns))


log = logging.getLogger(__name__)

# Limits the look-ups for comments with hundreds of links; the first ones suffice.
MAX_LOOKED_UP = 20
# mail.some.example.com, some.example.com, example.com: hosts with more labels are made up.
_MAX_PARENTS = 4
_SECONDS_BETWEEN_CHECKS = 1.0

_Entry = tuple[AboutList, CompiledEntries]
_Stamp = tuple[int, int, int]


@dataclass(eq=False)
class ListFolder:
    """Lists as files in a folder, which commands replace while servers read them.

    A new file is read within a second. A damaged one is logged and skipped, or the list loaded
    before under its name stays. The folder may not exist yet. Thread-safe.
    """

    folder: Path
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: dict[str, tuple[_Stamp, _Entry | None]] = {}
        self._lists: tuple[_Entry, ...] = ()
        self._next_check = -1.0

    def has(self, kind: ListKind) -> bool:
        """Return True if there is a list of this kind, even an expired one."""
        return any(about.kind is kind for about, _ in self._current())

    def find(
        self, *, address: str | None, domains: Sequence[str], mail_domain: str | None, at: datetime
    ) -> Sequence[Listing]:
        """Return the unexpired lists that contain the address, a domain or the mail domain.

        Each is returned once, with its age. Addresses of private networks are in no list, and at
        most `MAX_LOOKED_UP` domains are looked up. It reads memory only and never raises.
        """
        lists = self._current()
        if not lists:
            return ()
        parsed = parse_address(address) if address else None
        normal = (normal_domain(domain) for domain in domains[:MAX_LOOKED_UP])
        mail = (mail_domain and normal_domain(mail_domain)) or ""
        # Down to two labels, because mail services assign the lower ones to customers.
        labels = mail.split(".")
        first = max(0, len(labels) - 1 - _MAX_PARENTS)
        parents = (".".join(labels[at:]) for at in range(first, len(labels) - 1))
        names = {
            ListKind.DOMAINS: [domain for domain in normal if domain],
            ListKind.MAIL_DOMAINS: list(dict.fromkeys((mail, *parents))) if mail else [],
        }

        def is_on(about: AboutList, compiled: CompiledEntries) -> bool:
            if about.kind is not ListKind.NETWORKS:
                return any(map(compiled.holds_domain, names[about.kind]))
            if parsed is None or is_local(parsed):
                return False
            return compiled.holds(parsed.version, int(parsed))

        return [
            Listing(
                list_name=about.name,
                kind=about.kind,
                age_days=round(about.age_days(at), 2),
                basis=about.basis,
            )
            for about, compiled in lists
            if at < about.expires_at and is_on(about, compiled)
        ]

    def all(self) -> list[AboutList]:
        return [about for about, _ in self._current()]

    def damaged(self) -> list[str]:
        """Return the names of unreadable files, sorted."""
        self._current()
        return sorted(name for name, (_, entry) in self._loaded.items() if entry is None)

    def put(self, about: AboutList, compiled: CompiledEntries) -> None:
        """Add a list or atomically replace the one with its name. Raise `OSError`."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_list(self._path(about.name), about, compiled)
        self._next_check = -1.0

    def remove(self, name: str) -> bool:
        """Remove a list; return False if there was none. Raise `OSError`."""
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            return False
        sync_folder(self.folder)
        self._next_check = -1.0
        return True

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _current(self) -> tuple[_Entry, ...]:
        """Return the lists; one thread checks for new files, at most once a second."""
        if self.clock() >= self._next_check and self._lock.acquire(blocking=not self._loaded):
            try:
                self._reload()
                # Set afterwards, so that other threads wait for the first check.
                self._next_check = self.clock() + _SECONDS_BETWEEN_CHECKS
            finally:
                self._lock.release()
        return self._lists

    def _reload(self) -> None:
        loaded = {name: self._load(name, path, stamp) for name, path, stamp in self._files()}
        if loaded == self._loaded:
            return
        self._loaded = loaded
        entries = [entry for _, entry in loaded.values() if entry is not None]
        self._lists = tuple(sorted(entries, key=lambda entry: entry[0].name))

    def _files(self) -> Iterator[tuple[str, Path, _Stamp]]:
        # The folder may not exist, and files may disappear meanwhile.
        with contextlib.suppress(OSError):
            for path in self.folder.glob(f"[!.]*{SUFFIX}"):
                with contextlib.suppress(OSError):
                    stat = path.stat()
                    yield path.stem, path, (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def _load(self, name: str, path: Path, stamp: _Stamp) -> tuple[_Stamp, _Entry | None]:
        known = self._loaded.get(name)
        if known is not None and known[0] == stamp:
            return known
        try:
            return stamp, open_list(path)
        except (DamagedListError, OSError) as error:
            reason = str(error) if isinstance(error, DamagedListError) else error.strerror
            log.warning("reputation list unreadable", extra={"list": name, "reason": reason})
            return stamp, known[1] if known else None
