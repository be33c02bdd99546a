"""Column types that return exactly the stored value, on every database."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from service.stores.cursor import EPOCH

_MICROSECOND = timedelta(microseconds=1)

# PostgreSQL cannot store U+0000, and UTF-8 has no lone surrogates. They are stored as U+001A and
# four hexadecimal digits, as is U+001A itself.
_MARK = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


class LosslessText(sa.types.TypeDecorator[str]):
    """Text of any code points, including NUL and lone surrogates; ordered by code point."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> sa.types.TypeEngine[Any]:
        """Use the "C" collation on PostgreSQL, whatever its locale."""
        return sa.Text(collation="C" if dialect.name == "postgresql" else None)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or not _UNSTORABLE.search(value):
            return value
        return _UNSTORABLE.sub(lambda m: f"{_MARK}{ord(m[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or _MARK not in value:
            return value
        return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), value)


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """A datetime with a time zone, returned in UTC, exact to the microsecond.

    SQLite stores it as the number of microseconds since 1970.
    """

    impl = sa.BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> sa.types.TypeEngine[Any]:
        if dialect.name == "postgresql":
            return sa.TIMESTAMP(timezone=True)
        return sa.BigInteger()

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Return the stored form. Raise `ValueError` for a naive datetime."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment must carry a time zone, got {value!r}")
        return value if dialect.name == "postgresql" else (value - EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        return EPOCH + timedelta(microseconds=value)
