"""Checks the data folder: rights, owner, room, key, age of the last backup."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from service import remedies
from service.data_folder import MIN_SECRET_CHARS, DataFolder
from service.domain.finding import Finding, bytes_in_words, fail, time_in_words, warn, well

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LEAST_SHARE_FREE = 0.1
_LEAST_FREE_BYTES = 1_000_000_000
_NO_ROOM_BYTES = 100_000_000
_LEAST_DAYS_LEFT = 14
_MANY_DAYS = 730
_BACKUP_DAYS = 2
_DAY_SECONDS = 86_400.0
# A key of words or repeated characters is long and can be guessed all the same.
_LEAST_DIFFERENT_CHARS = 12


def check_rights(path: Path, *, user_id: int) -> Finding:
    """Find a data folder that others may read, or that is not this user's.

    One that keeps strangers' hands off by its sticky bit, as in containers, is judged by its files.
    """
    info = path.stat()
    if info.st_mode & stat.S_ISVTX:
        inside = [entry.lstat() for entry in path.iterdir()]
        if all(i.st_uid == user_id and not i.st_mode & _OTHERS for i in inside):
            return well("data folder", f"{path}, what is in it its owner's alone")
    if info.st_uid != user_id:
        return warn(
            "data folder",
            f"{path} belongs to user {info.st_uid}, this is user {user_id}",
            f"Run Slopsieve as the folder's owner, or: chown -R {user_id} {path}",
        )
    if info.st_mode & _OTHERS:
        return warn(
            "data folder",
            f"{path} is open to others (mode {info.st_mode & 0o777:03o})",
            f"chmod 700 {path}",
        )
    return well("data folder", f"{path}, its owner's alone")


def check_key_file(path: Path) -> Finding:
    """Find a secret key that others may read, or that is damaged."""
    if not path.exists():
        return well("secret key", "none in the data folder yet, or it is in the environment")
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS:
        return fail(
            "secret key", f"{path} is open to others (mode {mode:03o})", f"chmod 600 {path}"
        )
    return check_secret("secret key", path.read_text("utf-8", "replace").strip(), str(path))


def check_secret(check: str, secret: str, where: str) -> Finding:
    """Find a secret that is short, or that repeats itself; it is never shown."""
    if len(secret) < MIN_SECRET_CHARS:
        remedy = f"Make one of at least {MIN_SECRET_CHARS} random characters: openssl rand -hex 32"
        return fail(check, f"{where} has {len(secret)} characters", remedy)
    if len(set(secret)) < _LEAST_DIFFERENT_CHARS:
        return warn(
            check,
            f"{where} has {len(set(secret))} different characters, it can be guessed",
            "Make a random one: openssl rand -hex 32; a new one ends all sessions.",
        )
    return well(check, f"{where}, {len(secret)} characters")


def check_room(free: float, total: float, *, grows_a_day: float | None) -> Finding:
    """Find a disk that is full, or will be soon at the rate at which the database grows."""
    left = f"{bytes_in_words(free)} of {bytes_in_words(total)} free"
    if free < _NO_ROOM_BYTES and free < _LEAST_SHARE_FREE * total:
        return fail("disk", f"{left}: soon no comment can be kept", remedies.MAKE_ROOM)
    if grows_a_day and free / grows_a_day < _LEAST_DAYS_LEFT:
        days = free / grows_a_day
        return warn(
            "disk", f"{left}, enough for {days:.0f} days at the present rate", remedies.MAKE_ROOM
        )
    if free < _LEAST_SHARE_FREE * total and free < _LEAST_FREE_BYTES:
        return warn("disk", left, remedies.MAKE_ROOM)
    if grows_a_day:
        days = free / grows_a_day
        enough = f"{days:.0f} days" if days < _MANY_DAYS else "years"
        return well("disk", f"{left}, enough for {enough} at the present rate")
    return well("disk", left)


def check_backup(last: float | None, *, now: float, embedded: bool) -> Finding:
    """Find an embedded database whose last backup is old, or that never had one."""
    if not embedded:
        return well("backup", "the database has tools of its own; see that they run")
    remedy = "slopsieve backup FILE.tar, daily, and keep the file elsewhere."
    if last is None:
        return warn("backup", "no backup was made of this data folder yet", remedy)
    if now - last > _BACKUP_DAYS * _DAY_SECONDS:
        return warn("backup", f"the last one is {time_in_words(now - last)} old", remedy)
    return well("backup", f"{time_in_words(max(0.0, now - last))} ago")


def check_folder(
    folder: DataFolder, *, embedded: bool, grows_a_day: float | None, now: float
) -> Iterator[Finding]:
    """Check all of a data folder."""
    if wrong := folder.find_fault():
        yield fail("data folder", f"{folder.path} cannot be used: {wrong[0]}", f"{wrong[1]}.")
    yield check_rights(folder.path, user_id=os.geteuid())
    yield check_key_file(folder.key_file)
    usage = shutil.disk_usage(folder.path)
    yield check_room(usage.free, usage.total, grows_a_day=grows_a_day)
    backup = folder.last_backup_file
    last = backup.stat().st_mtime if backup.exists() else None
    yield check_backup(last, now=now, embedded=embedded)
