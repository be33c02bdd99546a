"""A page of a longer list."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item", covariant=True)
Cursor = TypeVar("Cursor", str, int, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item, Cursor]):
    """Some items of a list, in its order, and the cursor of the next page, None at the end."""

    items: tuple[Item, ...]
    next_cursor: Cursor | None = None


def all_items(read: Callable[[Any], Page[Item, Any]], first: int | None = None) -> Iterator[Item]:
    """Yield the items of all pages; `read` returns the page at a cursor, at first at `first`."""
    page = read(first)
    yield from page.items
    while page.next_cursor is not None:
        page = read(page.next_cursor)
        yield from page.items
