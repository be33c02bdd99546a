"""Reads files of comments of any length, gzipped or not, in bounded memory."""

import gzip
import hashlib
import io
import json
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from service.domain.errors import Problem
from service.imports.encodings import LATIN, encoding_of

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
# Of zip, 7z and xz.
_OTHER_MAGIC = (b"PK\x03\x04", b"7z\xbc\xaf", b"\xfd7zXZ")
_BUFFER_BYTES = 1 << 18
# A text of the longest allowed size, every character escaped, is under 400 kB; the rest is for keys
# that we ignore. A file without line breaks must not be read into memory whole.
MAX_LINE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Broken:
    """One entry that holds no usable comment, and why. It never has the entry's content."""

    number: int
    problems: tuple[Problem, ...]

    @classmethod
    def line(cls, number: int, problem: str, remedy: str) -> Self:
        """Return an entry for a whole line that is broken."""
        return cls(number, (Problem("line", problem, remedy),))

    @classmethod
    def damaged(cls, number: int) -> Self:
        """Return an entry for the line at which gzip data are damaged."""
        remedy = "what comes after cannot be read; fetch the file again"
        return cls.line(number, "the gzip data are damaged or end early", remedy)


class InputFile:
    """A file or standard input that is read once from its start; a context manager."""

    def __init__(self, path: str, *, hashed: bool = False) -> None:
        """Open `path`, or standard input for "-". Raise `OSError` if it can't be opened.

        With `hashed`, a stream that cannot be read twice is copied first, so that `sha256` works.
        """
        self.path = Path(path)
        self._is_stdin = path == STDIN
        self.name = "standard input" if self._is_stdin else path
        self.stem = "stdin"
        self.size = 0
        if self._is_stdin:
            # Without this buffer, a pipe's lines are read as they arrive.
            raw: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
            file: BinaryIO = io.BufferedReader(raw, _BUFFER_BYTES)
        else:
            file = self.path.open("rb", _BUFFER_BYTES)  # closed by __exit__
            self.stem = self.path.name.removesuffix(".gz").removesuffix(".jsonl")
            self.size = self.path.stat().st_size
        self._source = self._file = cast("io.BufferedReader", file)
        if hashed and not file.seekable():
            copy = tempfile.TemporaryFile()  # noqa: SIM115  # deleted with this object
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            self._file = cast("io.BufferedReader", copy)
        is_gzipped = self._file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
        self._unpacked = _UnpackedReader(self._file) if is_gzipped else None
        self.stream: BinaryIO = io.BufferedReader(self._unpacked) if self._unpacked else self._file

    @property
    def is_damaged(self) -> bool:
        """Return True if the gzip data end early or are damaged. What precedes them was read."""
        return self._unpacked is not None and self._unpacked.is_damaged

    @property
    def is_archive(self) -> bool:
        """Return True if the file is packed in another way than by gzip; ask before reading it."""
        return self._file.peek(len(_OTHER_MAGIC[-1])).startswith(_OTHER_MAGIC)

    def sha256(self) -> str:
        """Return the checksum of the whole file, still packed. The file cannot be read after it."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()

    def tell(self) -> int:
        """Return how many bytes of the file, still packed, were read."""
        return self._file.tell()

    def text(self) -> io.TextIOWrapper:
        """Return the file as text, in UTF-16 or -32 after such a mark, else in UTF-8.

        Bytes that are no UTF-8 are read as Windows-1252.
        """
        # Kept, because a wrapper closes its stream when it is garbage-collected.
        stream = cast("io.BufferedReader", self.stream)
        self._text = io.TextIOWrapper(stream, encoding_of(stream.peek(4)[:4]), LATIN, newline="")
        return self._text

    def lines(self) -> Iterator[tuple[int, bytes | Broken]]:
        """Yield each line that is not empty, with its number, in bounded memory.

        A byte-order mark is left out. Damaged gzip data end the file.
        """
        for number in count(1):
            line = self._line()
            if self.is_damaged and not line.endswith(b"\n"):
                yield number, Broken.damaged(number)
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

    def objects(self) -> Iterator[tuple[int, dict[str, object] | Broken]]:
        """Yield the JSON object on each line that is not empty, with the line's number."""
        for number, line in self.lines():
            yield number, line if isinstance(line, Broken) else _json_object(number, line)

    def _line(self) -> bytes:
        """Return a line with its end, or the beginning of one that is too long."""
        line = rest = self.stream.readline(MAX_LINE_BYTES + 1)
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = self.stream.readline(MAX_LINE_BYTES + 1)
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_stdin:
            # Standard input stays open for the process.
            self._source.detach()
        else:
            self._source.close()


class _UnpackedReader(io.RawIOBase):
    """Unpacks gzip data, and ends where they are damaged."""

    def __init__(self, packed: BinaryIO) -> None:
        self._gzip = gzip.GzipFile(fileobj=packed)
        self.is_damaged = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # bytes-like
        try:
            data = self._gzip.read1(len(buffer))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            self.is_damaged = True
            return 0
        buffer[: len(data)] = data
        return len(data)


def _json_object(number: int, line: bytes) -> dict[str, object] | Broken:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        return Broken.line(number, "is not UTF-8", "convert the file to UTF-8")
    except json.JSONDecodeError as error:
        problem = f"is not JSON (column {error.colno})"
        return Broken.line(number, problem, "write one JSON object a line")
    except (RecursionError, ValueError):
        return Broken.line(number, "is JSON beyond reason", "nest less and use shorter numbers")
    if not isinstance(row, dict):
        return Broken.line(number, "is not a JSON object", "write one JSON object a line")
    return row
