"""The PostgreSQL driver's errors, where it is installed and in use: SQLite needs none of it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Error, OperationalError
    from psycopg.errors import UniqueViolation as TakenError

IS_INSTALLED = find_spec("psycopg") is not None

__all__ = ["IS_INSTALLED", "Error", "OperationalError", "TakenError"]


class _NeverRaisedError(Exception):
    """Stands in for the driver's errors."""


def __getattr__(name: str) -> type[Exception]:
    """Return one of the driver's errors; whoever did not load it, for 7 MB, can't raise any."""
    if name not in __all__:
        raise AttributeError(name)
    if "psycopg" not in sys.modules:
        return _NeverRaisedError
    from psycopg import Error, OperationalError
    from psycopg.errors import UniqueViolation

    return {"Error": Error, "OperationalError": OperationalError, "TakenError": UniqueViolation}[
        name
    ]
