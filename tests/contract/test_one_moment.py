"""Reading a page at one moment: over one connection, never past a write, never beyond a thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import sqlalchemy as sa

from service.domain.errors import StoreUnavailableError
from service.domain.site import Site
from service.stores.sql import SqlStores
from service.stores.sql.engine import one_moment, reading
from tests.factories import NOW, SITE


@pytest.fixture
def sites(engine):
    stores = SqlStores(engine)
    stores.sites.add(Site(id=SITE, name="Radiator blog", created_at=NOW))
    return stores.sites


@pytest.fixture
def opened(engine):
    """Give the list of connections that were taken from the pool, one entry each time."""
    taken = []
    sa.event.listen(engine, "checkout", lambda *_: taken.append(1))
    return taken


def add(engine, site_id):
    """Add a site over a connection of its own, as another process would."""
    with ThreadPoolExecutor(1) as other:
        site = Site(id=site_id, name=site_id, created_at=NOW)
        other.submit(lambda: SqlStores(engine).sites.add(site)).result(20)


def names(sites):
    return {site.id for site in sites.all()}


def test_what_others_write_meanwhile_is_not_seen_until_the_moment_is_over(engine, sites):
    with one_moment(engine):
        before = names(sites)
        add(engine, "late")
        meanwhile = names(sites)

    assert before == meanwhile == {SITE}
    assert names(sites) == {SITE, "late"}


def test_all_is_read_over_one_connection(engine, sites, opened):
    with one_moment(engine), one_moment(engine):
        for _ in range(5):
            sites.all()
        sites.get(SITE)

    assert len(opened) == 1


def test_nothing_is_opened_where_nothing_is_read(engine, opened):
    with one_moment(engine):
        pass

    assert opened == []
    assert engine.pool.checkedout() == 0


def test_after_its_own_write_a_thread_reads_of_a_later_moment(engine, sites):
    with one_moment(engine):
        before = names(sites)
        add(engine, "others")
        sites.add(Site(id="own", name="own", created_at=NOW))
        after = names(sites)

    assert before == {SITE}
    assert after == {SITE, "others", "own"}


def test_a_write_needs_no_second_connection_beside_the_one_held(engine, sites):
    most = []
    sa.event.listen(engine, "checkout", lambda *_: most.append(engine.pool.checkedout()))

    with one_moment(engine):
        sites.all()
        sites.add(Site(id="own", name="own", created_at=NOW))
        sites.all()

    assert max(most) == 1


def test_a_reading_in_progress_keeps_its_moment_while_its_thread_writes(engine, sites):
    count = sa.text("SELECT count(*) FROM sites")

    with one_moment(engine), reading(engine) as connection:
        seen = [connection.execute(count).scalar_one()]
        sites.add(Site(id="own", name="own", created_at=NOW))
        seen.append(connection.execute(count).scalar_one())

    assert seen == [1, 1]


def test_other_threads_read_at_moments_of_their_own(engine, sites):
    with one_moment(engine), ThreadPoolExecutor(1) as other:
        sites.all()
        add(engine, "late")

        assert other.submit(names, sites).result(20) == {SITE, "late"}
        assert names(sites) == {SITE}


def test_after_an_error_the_next_reading_works(engine, sites):
    with one_moment(engine):
        with suppress(StoreUnavailableError, sa.exc.SQLAlchemyError), reading(engine) as connection:
            connection.exec_driver_sql("SELECT * FROM nothing_of_that_name")

        assert names(sites) == {SITE}


def test_nothing_is_held_after_an_error(engine, sites):
    with suppress(LookupError), one_moment(engine):
        sites.all()
        raise LookupError

    assert engine.pool.checkedout() == 0


def test_nothing_can_be_written_with_what_is_held_on_postgresql(engine, sites):
    if engine.dialect.name != "postgresql":
        # SQLite has no such promise: a reading there never begins as a writer.
        assert engine.dialect.name == "sqlite"
        return
    with (
        pytest.raises(StoreUnavailableError),
        one_moment(engine),
        reading(engine) as connection,
    ):
        connection.exec_driver_sql("DELETE FROM sites")

    assert names(sites) == {SITE}
