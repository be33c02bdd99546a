"""Keeps reputation lists as mapped files of a folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import mmap
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from service.domain.comment import ListBasis, Listing, ListKind
from service.domain.sender import parse_address
from service.reputation.lists import AboutList, is_local, normal_domain
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


log = logging.getLogger(__name__)

# A comment with hundreds of links must not cost hundreds of look-ups; the first ones tell enough.
MAX_LOOKED_UP = 20
# mail.some.example.com, some.example.com, example.com: more labels than these are made up.
_MAX_PARENTS = 4
_PRIVATE_FOLDER = 0o700
_SECONDS_BETWEEN_LOOKS = 1.0

_Entry = tuple[AboutList, CompiledEntries]
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a sender is looked up by, made ready once for all lists."""

    version: int
    address: int
    domains: tuple[str, ...]
    mail_domains: tuple[str, ...]

    def is_on(self, about: AboutList, compiled: CompiledEntries) -> bool:
        if about.kind is ListKind.NETWORKS:
            ranges = compiled.ranges4 if self.version == 4 else compiled.ranges6
            return self.version > 0 and ranges.holds(self.address)
        names = self.domains if about.kind is ListKind.DOMAINS else self.mail_domains
        return any(compiled.digests.holds(name) for name in names)


class ListFolder:
    """Lists as files of one folder, which commands replace while servers read them.

    A new file is seen within a second. A damaged one is told of in the log and left out; where a
    good one was loaded before under its name, that one goes on. Safe to use from many threads.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the folder as it is; it need not exist. `clock` tells seconds."""
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: dict[str, tuple[_Stamp, _Entry | None]] = {}
        self._lists: tuple[_Entry, ...] = ()
        self._next_look = -1.0

    def has(self, kind: ListKind) -> bool:
        """Return True if there is a list of this kind, even an expired one."""
        return any(about.kind is kind for about, _ in self._current())

    def find(
        self,
        *,
        address: str | None,
        domains: Sequence[str],
        mail_domain: str | None,
        at: datetime,
    ) -> Sequence[Listing]:
        """Return the lists that hold the address, one of the domains or the mail domain.

        Each list comes at most once, with its age at this moment; one past its expiry says
        nothing. Addresses of private networks are on no list. At most `MAX_LOOKED_UP` domains
        are looked up. It answers from memory and never raises.
        """
        lists = self._current()
        if not lists:
            return ()
        sought = _sought(address, domains, mail_domain)
        return [
            Listing(
                list_name=about.name,
                kind=about.kind,
                age_days=round(about.age_days(at), 2),
                basis=about.basis,
            )
            for about, compiled in lists
            if at < about.expires_at and sought.is_on(about, compiled)
        ]

    def all(self) -> list[AboutList]:
        """Return what is known of every list that can be read, by name."""
        return [about for about, _ in self._current()]

    def damaged(self) -> list[str]:
        """Return the names of the files that cannot be read, sorted."""
        self._current()
        return sorted(name for name, (_, entry) in self._loaded.items() if entry is None)

    def put(self, about: AboutList, compiled: CompiledEntries) -> None:
        """Keep a list in place of an earlier one of its name, in one go. Raises `OSError`."""
        self._folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_list(self._path(about.name), about, compiled)
        self._next_look = -1.0

    def remove(self, name: str) -> bool:
        """Remove a list; return whether there was one. Raises `OSError`."""
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            return False
        sync_folder(self._folder)
        self._next_look = -1.0
        return True

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _current(self) -> tuple[_Entry, ...]:
        """Return the lists; look for new files at most once a second, one thread for all."""
        if self._clock() >= self._next_look and self._lock.acquire(blocking=not self._loaded):
            try:
                self._look()
                # Set afterwards, so that nobody goes on without lists while the first look lasts.
                self._next_look = self._clock() + _SECONDS_BETWEEN_LOOKS
            finally:
                self._lock.release()
        return self._lists

    def _look(self) -> None:
        loaded = {name: self._load(name, path, stamp) for name, path, stamp in self._files()}
        if loaded == self._loaded:
            return
        self._loaded = loaded
        entries = [entry for _, entry in loaded.values() if entry is not None]
        self._lists = tuple(sorted(entries, key=lambda entry: entry[0].name))

    def _files(self) -> Iterator[tuple[str, Path, _Stamp]]:
        # A folder that is not there holds no list; a file may go between two looks at it.
        with contextlib.suppress(OSError):
            for path in self._folder.glob(f"[!.]*{SUFFIX}"):
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


def _sought(address: str | None, domains: Sequence[str], mail_domain: str | None) -> _Sought:
    version, number = 0, 0
    if address:
        parsed = parse_address(address)
        version, number = (0, 0) if is_local(parsed) else (parsed.version, int(parsed))
    normal = (normal_domain(domain) for domain in domains[:MAX_LOOKED_UP])
    mail = normal_domain(mail_domain) if mail_domain else None
    return _Sought(
        version,
        number,
        tuple(domain for domain in normal if domain),
        _with_parents(mail) if mail else (),
    )


def _with_parents(domain: str) -> tuple[str, ...]:
    """Return a domain and those above it down to two labels: a mail service lends out the lower."""
    labels = domain.split(".")
    first = max(0, len(labels) - 1 - _MAX_PARENTS)
    parents = (".".join(labels[at:]) for at in range(first, len(labels) - 1))
    return tuple(dict.fromkeys((domain, *parents)))
