"""Finds damage in a SQLite database's file: one check, for backups, restores and the doctor."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def is_whole(path: Path) -> bool:
    """Return True if SQLite finds no damage in tables and indexes; it reads the whole file.

    Raises `OSError` for a file that cannot be opened.
    """
    with path.open("rb"):
        pass
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        code = error.sqlite_errorcode & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return False
        msg = f"{path.name} cannot be read: {type(error).__name__}"
        raise OSError(msg) from error
