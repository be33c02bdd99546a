"""Opens a folder of small files to be read once, and knows how far it has come."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

# Far more than a comment with all its fields, which is kept up to 64 KiB.
MAX_FILE_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFile:
    """One file: its path below the folder, and its content.

    None is of one that has more than is read, or can't be opened.
    """

    path: Path
    content: bytes | None


class OpenedFolder:
    """The regular files of a folder with one of these endings; none is left open.

    Links are not followed: whoever made the folder could have them lead anywhere.
    """

    def __init__(self, path: str, endings: Collection[str]) -> None:
        """Look what there is. Raise `OSError` if the folder can't be read."""
        self.path = Path(path).resolve()
        self.size = self.bytes_read = 0
        self._found: list[Path] = []
        told = hashlib.sha256()
        for folder, folders, names in os.walk(self.path, onerror=_raise):
            folders.sort()
            for name in sorted(names):
                found = Path(folder, name)
                known = found.lstat()
                if found.suffix.lower() in endings and stat.S_ISREG(known.st_mode):
                    self._found.append(found)
                    self.size += known.st_size
                    told.update(f"{found}\0{known.st_size}\0".encode("utf-8", "surrogateescape"))
        self.fingerprint = told.hexdigest()

    def files(self) -> Iterator[FolderFile]:
        """Yield the files, a folder's own before those of the folders in it, in order."""
        for found in self._found:
            yield FolderFile(path=found.relative_to(self.path), content=self._read(found))

    def _read(self, found: Path) -> bytes | None:
        # What was a file may be a link or a pipe by now; neither is waited for.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            with os.fdopen(os.open(found, flags), "rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
                self.bytes_read += os.fstat(stream.fileno()).st_size
        except OSError:
            return None
        return content if len(content) <= MAX_FILE_BYTES else None


def _raise(error: OSError) -> None:
    raise error
