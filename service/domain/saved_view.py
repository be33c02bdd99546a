"""A search that somebody keeps under a name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MAX_VIEW_NAME_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedView:
    """A search under a name; `shared` ones are listed for every account.

    `query` is a line as it was typed, so that it means to each account what it sees itself.
    """

    id: str
    owner_id: str
    name: str
    query: str
    shared: bool
    created_at: datetime
