"""Opens a file to be read once from its start, gzipped or not, and knows how far it has come."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_BYTES = 1 << 18
_HEAD_BYTES = 1 << 16


class InputFile:
    """A file that is read once; a context manager."""

    def __init__(self, path: str) -> None:
        """Open the file. Raise `OSError` if it can't be opened."""
        self.path = Path(path)
        self._raw = self.path.open("rb", buffering=0)
        self.size = os.fstat(self._raw.fileno()).st_size
        buffered = io.BufferedReader(self._raw, _BUFFER_BYTES)
        head = buffered.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        self.fingerprint = hashlib.sha256(b"%d:" % self.size + head).hexdigest()
        self.stream = cast("IO[bytes]", buffered)
        if head.startswith(_GZIP_MAGIC):
            self.stream = cast("IO[bytes]", gzip.GzipFile(fileobj=buffered))
        self._text: io.TextIOWrapper | None = None

    @property
    def bytes_read(self) -> int:
        """Return how many bytes of the file, as it lies there, were read so far."""
        return self._raw.tell()

    def text(self) -> io.TextIOWrapper:
        """Return the file as text in UTF-8; bytes that are none are replaced."""
        # Kept here, because a wrapper that is let go closes what it wraps.
        if self._text is None:
            self._text = io.TextIOWrapper(
                cast("io.BufferedReader", self.stream),
                encoding="utf-8-sig",
                errors="replace",
                newline="",
            )
        return self._text

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._raw.close()
