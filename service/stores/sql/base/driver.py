"""The PostgreSQL driver's errors, where it is installed: SQLite needs none of it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

IS_INSTALLED = find_spec("psycopg") is not None

if TYPE_CHECKING or IS_INSTALLED:
    from psycopg import Error, OperationalError
    from psycopg.errors import UniqueViolation as TakenError
else:

    class Error(Exception):
        """Stands in for the driver's; nothing raises it."""

    class OperationalError(Error):
        """Stands in for the driver's; nothing raises it."""

    class TakenError(Error):
        """Stands in for the driver's; nothing raises it."""


__all__ = ["IS_INSTALLED", "Error", "OperationalError", "TakenError"]
