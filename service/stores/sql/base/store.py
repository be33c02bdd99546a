"""What all SQL stores have in common: an engine, and how they read and write with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from service.stores.sql.base.engine import reading, write

_P = ParamSpec("_P")
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

    def write(self, work: Callable[[sa.Connection], _T]) -> _T:
        """Do `work` in one transaction and return its answer once that is durable."""
        return write(self._engine, work)


_Store = TypeVar("_Store", bound=SqlStore)


def transaction(
    method: Callable[Concatenate[_Store, sa.Connection, _P], _T],
) -> Callable[Concatenate[_Store, _P], _T]:
    """Run a store's method in one transaction, whose connection it is given first.

    As `write` does, it may run again after a deadlock.
    """

    @wraps(method)
    def within(self: _Store, /, *args: _P.args, **named: _P.kwargs) -> _T:
        return self.write(lambda connection: method(self, connection, *args, **named))

    return within
