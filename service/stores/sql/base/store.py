"""What all SQL stores have in common: an engine, and how they read with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa

from service.stores.sql.base.engine import reading

_T = TypeVar("_T")


class SqlStore:
    """A store over an engine, whose schema must be migrated."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _find(self, query: sa.Select[Any], read: Callable[[Any], _T]) -> _T | None:
        """Return the value of a query's only row, None if there is no row."""
        with reading(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else read(row)

    def _list(self, query: sa.Select[Any], read: Callable[[Any], _T]) -> list[_T]:
        """Return the values of a query's rows."""
        with reading(self._engine) as connection:
            return [read(row) for row in connection.execute(query)]
