"""Reading, writing and parts of statements that all SQL stores use."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.ports.comments import Lease
from service.stores.cursor import Place
from service.stores.sql.engine import reading, refuse_damaged, write
from service.stores.sql.tables import comments, write_probe

_T = TypeVar("_T")
# The sites to include; None means all.
SiteIds = Sequence[SiteId] | None


def of_sites(site_ids: SiteIds) -> list[sa.ColumnElement[bool]]:
    """Return the condition for comments of these sites, none for all."""
    if site_ids is None:
        return []
    # With equality, an index that begins with the site keeps its order.
    if len(site_ids) == 1:
        return [comments.c.site_id == site_ids[0]]
    return [comments.c.site_id.in_(site_ids)]


# SQLite allows 32,766 parameters per statement, PostgreSQL 65,535.
CHUNK = 1_000


def chunks(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the items in chunks that fit into one statement."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def rows_in(
    tx: sa.Connection, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Sequence[Any]
) -> Iterator[sa.Row[*tuple[Any, ...]]]:
    """Yield the query's rows whose column has one of these values."""
    for some in chunks(values):
        yield from tx.execute(query.where(column.in_(some)))


def execute_in(
    tx: sa.Connection,
    statement: sa.Update | sa.Delete,
    column: sa.ColumnElement[Any],
    values: Sequence[Any],
) -> None:
    """Update or delete the rows whose column has one of these values."""
    for some in chunks(values):
        tx.execute(statement.where(column.in_(some)))


def known(found: _T | None, what: str, row_id: str) -> _T:
    """Return the value. Raise `NotFoundError` if it is None."""
    if found is None:
        raise no_such(what, row_id)
    return found


def no_such(what: str, row_id: str) -> NotFoundError:
    return NotFoundError(f"there is no {what} {row_id!r}")


def refuse_unknown(tx: sa.Connection, table: sa.Table, row_id: str, what: str) -> None:
    """Raise `NotFoundError` if a table has no row with this id."""
    known(tx.scalar(sa.select(table.c.id).where(table.c.id == row_id)), what, row_id)


def update_known(
    tx: sa.Connection, table: sa.Table, row_id: str, what: str, values: Mapping[str, Any]
) -> sa.Row[*tuple[Any, ...]]:
    """Update the row with this id and return it. Raise `NotFoundError`."""
    statement = sa.update(table).where(table.c.id == row_id).values(values).returning(*table.c)
    return known(tx.execute(statement).one_or_none(), what, row_id)


def insert_new(tx: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> bool:
    """Insert a row unless its unique values exist; return True if it was inserted."""
    statement = insert_if_free(tx, table).returning(*table.primary_key)
    return bool(tx.execute(statement, [values]).all())


def put_row(tx: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
    """Insert a row or update the row with the same primary key."""
    key = table.primary_key.columns
    changed = {name: value for name, value in values.items() if name not in key}
    new = upsert(tx, table).values(values)
    tx.execute(new.on_conflict_do_update(index_elements=[*key], set_=changed))


def is_older(at: sa.Column[Any], row_id: sa.Column[Any], than: Place) -> sa.ColumnElement[bool]:
    """Return the condition for rows after `than` in a list that is sorted newest first."""
    place = sa.tuple_(sa.literal(than.at, at.type), sa.literal(than.id, row_id.type))
    return sa.tuple_(at, row_id) < place


def insert_if_free(tx: sa.Connection, table: sa.Table) -> Any:
    """Return an INSERT that skips rows whose unique values exist."""
    return upsert(tx, table).on_conflict_do_nothing()


def upsert(tx: sa.Connection, table: sa.Table) -> Any:
    """Return an INSERT to which `on_conflict_do_update` can be added."""
    if tx.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_rows(tx: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows with the same columns. On PostgreSQL, COPY raises the driver's own errors."""
    if not rows:
        return
    if tx.dialect.name != "postgresql":
        tx.execute(sa.insert(table), rows)
        return
    dialect = tx.dialect
    ready = {
        name: table.columns[name].type.dialect_impl(dialect).bind_processor(dialect)
        for name in rows[0]
    }
    quote = dialect.identifier_preparer.quote
    names = ", ".join(quote(name) for name in ready)
    driver = tx.connection.driver_connection
    assert driver is not None  # noqa: S101  # A transaction always has one.
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {quote(table.name)} ({names}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row([make(row[name]) if make else row[name] for name, make in ready.items()])


def take_lease(
    tx: sa.Connection, table: sa.Table, holder: str, *, now: datetime, until: datetime
) -> Lease:
    """Take or renew the lease in this table's only row."""
    row = tx.execute(sa.select(table).where(table.c.id == 1).with_for_update()).one_or_none()
    if row is not None and row.holder != holder and row.until > now:
        return Lease.REFUSED
    values = {"holder": holder, "until": until}
    free = sa.or_(table.c.holder == holder, table.c.until <= now)
    statement = (
        upsert(tx, table)
        .values(id=1, **values)
        # Two concurrent calls may both have found no row; this refuses the second one.
        .on_conflict_do_update(index_elements=["id"], set_=values, where=free)
        .returning(table.c.holder)
    )
    if not tx.execute(statement).all():
        return Lease.REFUSED
    kept = row is not None and row.holder == holder and row.until > now
    return Lease.KEPT if kept else Lease.TAKEN


_P = ParamSpec("_P")


class SqlStore:
    """A store over an engine whose schema is migrated."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[*tuple[Any, ...]]]:
        with reading(self._engine) as tx:
            return tx.execute(query).all()

    def _count(self, query: sa.Select[Any]) -> int:
        """Return the number in a query's only row, 0 for NULL or no row."""
        with reading(self._engine) as tx:
            return tx.scalar(query) or 0

    def _find(self, query: sa.Select[Any], read: Callable[[Any], _T]) -> _T | None:
        """Return the value of a query's only row, None without a row."""
        with reading(self._engine) as tx:
            row = tx.execute(query).one_or_none()
        return None if row is None else read(row)

    def _list(self, query: sa.Select[Any], read: Callable[[Any], _T]) -> list[_T]:
        return [read(row) for row in self._rows(query)]

    def write(self, work: Callable[[sa.Connection], _T]) -> _T:
        """Call `work` in one transaction and return its result; see `engine.write`."""
        return write(self._engine, work)


_Store = TypeVar("_Store", bound=SqlStore)


def transaction(
    method: Callable[Concatenate[_Store, sa.Connection, _P], _T],
) -> Callable[Concatenate[_Store, _P], _T]:
    """Run a store's method in a transaction, and again after a deadlock; pass the connection."""

    @wraps(method)
    def within(self: _Store, /, *args: _P.args, **named: _P.kwargs) -> _T:
        return self.write(lambda tx: method(self, tx, *args, **named))

    return within


def prove_write(engine: sa.Engine, *, at: datetime) -> None:
    """Write `at` to the probe's table; return once the write is durable.

    Raise `StoreUnavailableError` on failure, and after damage that this process has found until
    another write succeeds, because the probe's row may be undamaged.
    """
    refuse_damaged(engine)
    write(engine, lambda tx: put_row(tx, write_probe, {"id": 1, "at": at}))
