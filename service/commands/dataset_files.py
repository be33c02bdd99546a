"""Reads files of comments line by line, however long, however broken."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.domain.dataset_row import comment_from_row
from service.domain.errors import InvalidInputError, Problem

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_BYTES = 1 << 18
# A text of the longest allowed size, every character escaped, is under 400 kB; the rest is room
# for keys we ignore. A file without line breaks must not be read into memory whole.
MAX_LINE_BYTES = 8 << 20
MAX_ID_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetLine:
    """One line that holds a comment. `row` has all its keys, for those who read labels."""

    number: int
    comment: Comment
    row: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLine:
    """One line that holds no comment we can judge, and why. Never carries the line's content."""

    number: int
    problems: tuple[Problem, ...]


class DatasetFile:
    """One file of JSON lines, gzipped or not, or standard input; a context manager.

    Iterate once. Memory does not grow with the file.
    """

    def __init__(self, path: str) -> None:
        """Open `path`, "-" being standard input. Raise `OSError` if it can't be opened."""
        self.name = "standard input" if path == STDIN else path
        self.size = None if path == STDIN else Path(path).stat().st_size
        raw = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115  # __exit__
        self._to_close = None if path == STDIN else raw
        self._counted = _CountedReader(raw)
        self._stream = io.BufferedReader(self._counted, _BUFFER_BYTES)

    @property
    def bytes_read(self) -> int:
        """Return how many bytes of the file on disk, packed or not, were read so far."""
        return self._counted.n

    def sha256(self) -> str:
        """Read what is left of the file and return the checksum of all of it."""
        while self._stream.read(_BUFFER_BYTES):
            pass
        return self._counted.digest.hexdigest()

    def __iter__(self) -> Iterator[DatasetLine | BrokenLine]:
        number = 0
        lines = _lines(self._stream)
        while True:
            try:
                line = next(lines, b"")
            except (gzip.BadGzipFile, EOFError, zlib.error):
                yield _broken(
                    number + 1,
                    "the gzip data are damaged or end early",
                    "what comes after cannot be read; fetch the file again",
                )
                return
            if not line:
                return
            number += 1
            if line.strip():
                yield _read_line(number, line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def _lines(raw: io.BufferedReader[_CountedReader]) -> Iterator[bytes]:
    """Yield lines with their ends; one that is too long comes as its first bytes, unended."""
    is_gzipped = raw.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
    stream = gzip.GzipFile(fileobj=raw) if is_gzipped else raw
    first = True
    while line := stream.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES + 1)
        if first:
            # A file may begin with a byte-order mark.
            line = line.removeprefix(b"\xef\xbb\xbf") or b"\n"
            first = False
        yield line


def _read_line(number: int, line: bytes) -> DatasetLine | BrokenLine:
    if len(line) > MAX_LINE_BYTES:
        return _broken(
            number, f"is longer than {MAX_LINE_BYTES:,} bytes", "write one comment a line"
        )
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        return _broken(number, "is not UTF-8", "convert the file to UTF-8")
    except json.JSONDecodeError as error:
        return _broken(
            number, f"is not JSON (column {error.colno})", "write one JSON object a line"
        )
    except (RecursionError, ValueError):
        return _broken(number, "is JSON beyond reason", "nest less and use shorter numbers")
    if not isinstance(row, dict):
        return _broken(number, "is not a JSON object", "write one JSON object a line")
    problems = _problems(row)
    if problems:
        return BrokenLine(number=number, problems=tuple(problems))
    try:
        return DatasetLine(number=number, comment=comment_from_row(row), row=row)
    except InvalidInputError as error:
        return BrokenLine(number=number, problems=error.problems)
    except ValueError:
        return _broken(number, "does not describe a comment", "compare it with the data card")


def _problems(row: Mapping[str, object]) -> list[Problem]:
    problems = []
    comment_id, text = row.get("id"), row.get("text")
    if not isinstance(comment_id, str) or not 0 < len(comment_id) <= MAX_ID_CHARS:
        problems.append(
            Problem(
                field="id",
                problem="is missing" if comment_id is None else "is not usable",
                remedy=f"give every comment a string of 1 to {MAX_ID_CHARS} characters",
            )
        )
    if not isinstance(text, str):
        problems.append(
            Problem(
                field="text",
                problem="is missing" if text is None else "is not a string",
                remedy="give every comment its text",
            )
        )
    elif len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        problems.append(
            Problem(
                field="text",
                problem=f"is longer than {MAX_TEXT_BYTES:,} bytes",
                remedy="shorten it; the API refuses it too",
            )
        )
    return problems


def _broken(number: int, problem: str, remedy: str) -> BrokenLine:
    return BrokenLine(
        number=number, problems=(Problem(field="line", problem=problem, remedy=remedy),)
    )
