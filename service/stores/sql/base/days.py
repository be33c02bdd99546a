"""Lets the database group moments by UTC day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

_FIRST_DAY = date(1970, 1, 1)
_MICROSECONDS = 86_400_000_000


class UtcDay(FunctionElement[int]):
    """The number of whole days since 1970 at a moment, whatever the session's time zone."""

    name = "utc_day"
    type = sa.Integer()
    inherit_cache = True


@compiles(UtcDay, "sqlite")
def _on_sqlite(element: UtcDay, compiler: SQLCompiler, **options: Any) -> str:
    moment = compiler.process(element.clauses, **options)
    return f"({moment} / {_MICROSECONDS})"


@compiles(UtcDay, "postgresql")
def _on_postgresql(element: UtcDay, compiler: SQLCompiler, **options: Any) -> str:
    moment = compiler.process(element.clauses, **options)
    return f"(CAST(timezone('UTC', {moment}) AS date) - DATE '1970-01-01')"


def utc_day(moment: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """Return the number of the UTC day that a column of moments lies in."""
    return UtcDay(moment)


def day_of(number: int) -> date:
    """Return the day with this number."""
    return _FIRST_DAY + timedelta(days=number)
