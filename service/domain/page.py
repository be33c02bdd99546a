"""A page of a longer list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item", covariant=True)
Cursor = TypeVar("Cursor", str, int, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item, Cursor]):
    """Some items of a list, in its order, and the cursor of the next page, None at the end."""

    items: tuple[Item, ...]
    next_cursor: Cursor | None = None
