"""Reads files of comments, gzipped or not, a piece at a time, however long, however broken."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self, cast

from service.domain.errors import Problem

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_BYTES = 1 << 18
# A text of the longest allowed size, every character escaped, is under 400 kB; the rest is room
# for keys we ignore. A file without line breaks must not be read into memory whole.
MAX_LINE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Broken:
    """One entry that holds no comment we can use, and why. Never carries the entry's content."""

    number: int
    problems: tuple[Problem, ...]

    @classmethod
    def line(cls, number: int, problem: str, remedy: str) -> Self:
        """Return a line that is broken as a whole."""
        return cls(number, (Problem("line", problem, remedy),))


class InputFile:
    """A file that is read once from its start, or standard input; a context manager."""

    def __init__(self, path: str) -> None:
        """Open `path`, "-" being standard input. Raise `OSError` if it can't be opened."""
        is_stdin = path == STDIN
        self.path = Path(path)
        self.name = "standard input" if is_stdin else path
        self.stem = (
            "stdin" if is_stdin else self.path.name.removesuffix(".gz").removesuffix(".jsonl")
        )
        self.size = None if is_stdin else self.path.stat().st_size
        raw = sys.stdin.buffer if is_stdin else self.path.open("rb")
        self._to_close = None if is_stdin else raw
        self._counted = _CountedReader(raw)
        self._buffered = io.BufferedReader(self._counted, _BUFFER_BYTES)
        is_gzipped = self._buffered.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
        unpacked = gzip.GzipFile(fileobj=self._buffered) if is_gzipped else self._buffered
        self.stream = cast("BinaryIO", unpacked)

    @property
    def bytes_read(self) -> int:
        """Return how many bytes of the file on disk, packed or not, were read so far."""
        return self._counted.n

    def sha256(self) -> str:
        """Read what is left of the file and return the checksum of all of it."""
        while self._buffered.read(_BUFFER_BYTES):
            pass
        return self._counted.digest.hexdigest()

    def text(self) -> io.TextIOWrapper:
        """Return the file as text in UTF-8; bytes that are none are replaced."""
        # A wrapper that is let go closes what it wraps.
        return io.TextIOWrapper(
            cast("io.BufferedReader", self.stream),
            encoding="utf-8-sig",
            errors="replace",
            newline="",
        )

    def lines(self) -> Iterator[tuple[int, bytes | Broken]]:
        """Yield each line that is not empty, with its number. Memory does not grow with the file.

        A byte-order mark is left out. Damaged gzip data end the file.
        """
        number = 0
        while True:
            number += 1
            try:
                line = self._line()
            except (gzip.BadGzipFile, EOFError, zlib.error):
                remedy = "what comes after cannot be read; fetch the file again"
                yield number, Broken.line(number, "the gzip data are damaged or end early", remedy)
                return
            if not line:
                return
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > MAX_LINE_BYTES:
                problem = f"is longer than {MAX_LINE_BYTES:,} bytes"
                yield number, Broken.line(number, problem, "write one comment a line")
            elif line.strip():
                yield number, line

    def _line(self) -> bytes:
        """Return a line with its end; of one that is too long the beginning, without its end."""
        line = rest = self.stream.readline(MAX_LINE_BYTES + 1)
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = self.stream.readline(MAX_LINE_BYTES + 1)
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._to_close:
            self._to_close.close()


class _CountedReader(io.RawIOBase):
    """Counts and checksums what passes through."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner
        # A pipe is read as its lines come; `read` would wait until the buffer is full.
        self._read_some = getattr(inner, "read1", inner.read)
        self.n = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # bytes-like
        data = self._read_some(len(buffer))
        buffer[: len(data)] = data
        self.n += len(data)
        self.digest.update(data)
        return len(data)
