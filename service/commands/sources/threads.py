"""Remembers what comments of a file stand under, where that is told apart from them."""

from __future__ import annotations

import sqlite3


class Threads:
    """Remembers address and title of every thread, on disk: a forum has as many as it likes."""

    def __init__(self) -> None:
        # An empty name is a database in a temporary file, which goes when it is closed.
        self._database = sqlite3.connect("")
        self._database.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, link TEXT, title TEXT)")

    def keep(self, thread_id: str, link: str | None, title: str | None) -> None:
        """Remember one thread."""
        row = (thread_id, link, title)
        self._database.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?)", row)

    def find(self, thread_id: str) -> tuple[str | None, str | None]:
        """Return a thread's address and title, None for what is not known."""
        query = "SELECT link, title FROM threads WHERE id = ?"
        row = self._database.execute(query, (thread_id,)).fetchone()
        return (row[0], row[1]) if row else (None, None)

    def close(self) -> None:
        """Forget everything."""
        self._database.close()
