"""Writes files that appear under their name only when they are complete."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from service.data_folder import written_whole

STDOUT = "-"
# Level 6 costs a third of level 9's time for files 3 % larger.
_GZIP_LEVEL = 6


@contextmanager
def open_whole(path: str, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yield a stream to write; "-" is standard output, and a name in .gz is written gzipped.

    A file is written whole or not at all, see `written_whole`. A pipe or a device cannot be
    replaced and is written to directly.
    """
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield cast("BinaryIO", stream)
        return
    with written_whole(target, mode=mode) as file:
        if target.suffix == ".gz":
            # No name and no time inside: the same verdicts make the same bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=file, mtime=0) as stream:
                yield cast("BinaryIO", stream)
        else:
            yield file
