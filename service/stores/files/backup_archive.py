"""Writes and reads the archive of a backup (.tar): files, and a manifest with their checksums."""

import hashlib
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from models import registry
from models.errors import ModelVersionError
from service.data_folder import PRIVATE_FILE, DataFolder, written_whole
from service.start_error import StartError

DATABASE, KEY, LISTS, MODELS = "slopsieve.db", "secret.key", "reputation", "models"
_MANIFEST = "backup.json"
_FORMAT = 1
_VERSION_FILE = r"[A-Za-z0-9][\w.-]{0,99}/[A-Za-z0-9][\w.-]{0,99}"
# An archive's files are written only under these names.
_OURS = re.compile(
    rf"{re.escape(DATABASE)}|{re.escape(KEY)}|{LISTS}/[^/.][^/]*"
    rf"|{MODELS}/({registry.CURRENT_FILE}|{registry.PREVIOUS_FILE}|{_VERSION_FILE})",
    re.ASCII,
)
# The errors of a manifest that is not JSON or lacks our fields.
_WRONG_MANIFEST = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def find_parts(folder: DataFolder, database: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files to back up by their names in the archive; `database` is a copy.

    Raises `ModelVersionError` if a version that was trained here is damaged.
    """
    yield DATABASE, database
    if folder.key_file.is_file():
        yield KEY, folder.key_file
    for path in sorted(folder.lists_folder.glob("[!.]*")):
        if path.is_file():
            yield f"{LISTS}/{path.name}", path
    yield from _model_parts(folder.path / MODELS)


def _model_parts(models: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of the current and the previous version, if they were trained here."""
    try:
        current = registry.read_current_name(models)
    except ModelVersionError:
        return
    for name in filter(None, dict.fromkeys((current, registry.read_previous_name(models)))):
        registry.check_version(models / name)
        for path in sorted((models / name).glob("[!.]*")):
            yield f"{MODELS}/{name}/{path.name}", path
    for name in (registry.PREVIOUS_FILE, registry.CURRENT_FILE):
        if (models / name).is_file():
            yield f"{MODELS}/{name}", models / name


def write(stream: BinaryIO, paths: Iterable[tuple[str, Path]]) -> int:
    """Write files under these names, after a manifest with their checksums; return their number."""
    with ExitStack() as stack, tarfile.open(fileobj=stream, mode="w|") as archive:
        # These files stay open: one that is replaced from here on is another file.
        parts = {name: stack.enter_context(path.open("rb")) for name, path in paths}
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        sums = {name: _sha256(part) for name, part in parts.items()}
        manifest = {"format": _FORMAT, "made_at": made_at, "files": sums}
        content = io.BytesIO(json.dumps(manifest, indent=1).encode())
        for name, part in {_MANIFEST: content, **parts}.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = part.seek(0, os.SEEK_END), PRIVATE_FILE
            part.seek(0)
            archive.addfile(entry, part)
    return len(parts)


def _sha256(file: io.BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(file: Path, staging: Path) -> list[str]:
    """Unpack a backup and return its files' names. Raises `StartError` if it is not one."""
    damaged = []
    try:
        with tarfile.open(file) as archive:
            # A folder has no content, so it is read as an empty file.
            with archive.extractfile(_MANIFEST) or io.BytesIO() as stream:
                manifest = json.loads(stream.read(1 << 20))
            files: dict[str, str] = manifest["files"]
            if manifest["format"] != _FORMAT or DATABASE not in files:
                raise ValueError(_MANIFEST)
            for name, sha256 in files.items():
                if not _OURS.fullmatch(name):
                    raise ValueError(name)
                target = staging / name
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with (
                    archive.extractfile(name) or io.BytesIO() as packed,
                    written_whole(target, mode=PRIVATE_FILE) as unpacked,
                ):
                    shutil.copyfileobj(packed, unpacked)
                with target.open("rb") as written:
                    if _sha256(written) != sha256:
                        damaged.append(name)
    except (tarfile.TarError, OSError, EOFError, *_WRONG_MANIFEST) as error:
        msg = f"{file} is no whole backup of Slopsieve ({type(error).__name__}): nothing restored"
        raise StartError(msg) from error
    if damaged:
        raise StartError(f"{file} is damaged, its {', '.join(damaged)} is not what was backed up")
    return list(files)
