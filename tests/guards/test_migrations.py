"""Guards the migrations: one line of them, and they lead to the tables the code speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from service.stores.migrations import (
    SchemaState,
    SchemaTooNewError,
    alembic_config,
    migrate,
    schema_state,
)
from service.stores.sql import create_engine
from service.stores.sql.schema import metadata
from tests.servers import Server

scripts = ScriptDirectory.from_config(alembic_config())


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    """Give an engine on an empty database of each kind."""
    if request.param == "sqlite":
        engine = create_engine(f"sqlite:///{tmp_path / 'empty.db'}")
        yield engine
        engine.dispose()
        return
    server: Server = request.getfixturevalue("postgresql")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE migrated")
        engine = create_engine(server.url.replace("/postgres?", "/migrated?"))
        yield engine
        engine.dispose()
        connection.execute("DROP DATABASE migrated WITH (FORCE)")


def test_migrations_stand_in_one_line():
    revisions = list(scripts.walk_revisions())

    assert len(scripts.get_heads()) == 1
    assert len(scripts.get_bases()) == 1
    assert all(isinstance(one.down_revision, str | None) for one in revisions)
    assert not any(one.dependencies or one.branch_labels for one in revisions)


def test_migrations_are_numbered_as_they_follow():
    oldest_first = [one.revision for one in scripts.walk_revisions()][::-1]

    assert oldest_first == [f"m{number:04d}" for number in range(1, len(oldest_first) + 1)]
    for one in scripts.walk_revisions():
        assert Path(one.path).name.startswith(f"{one.revision}_")


def test_migrations_lead_to_the_tables_the_code_speaks_of(engine):
    migrate(engine)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        differences = compare_metadata(context, metadata)
    assert differences == []


def test_partial_indexes_are_partial_in_the_database_too(engine):
    migrate(engine)

    with engine.connect() as connection:
        found = [
            index
            for table in ("comments", "deliveries")
            for index in sa.inspect(connection).get_indexes(table)
        ]
    partial = {
        index["name"] for index in found if any("_where" in key for key in index["dialect_options"])
    }
    assert partial == {
        "ix_comments_review",
        "ix_comments_site_review",
        "ix_comments_site_decided",
        "ix_comments_pending",
        "ix_comments_judged_lane",
        "ix_comments_content",
        "ix_deliveries_due",
        "uq_deliveries_first_in_line",
        "ix_deliveries_line",
        "ix_deliveries_undelivered",
        "ix_deliveries_site_undelivered",
    }


def test_migrating_twice_changes_nothing_the_second_time(engine):
    before = schema_state(engine)

    changed = [migrate(engine), migrate(engine)]

    assert before is SchemaState.BEHIND
    assert changed == [True, False]
    assert schema_state(engine) is SchemaState.UP_TO_DATE


def test_of_several_that_migrate_at_once_one_does_it(engine):
    with ThreadPoolExecutor(4) as pool:
        changed = list(pool.map(lambda _: migrate(engine), range(4)))

    assert sorted(changed) == [False, False, False, True]


def test_a_schema_newer_than_the_code_is_left_alone(engine):
    migrate(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'm9999'")

    with pytest.raises(SchemaTooNewError, match="newer version"):
        migrate(engine)

    assert schema_state(engine) is SchemaState.AHEAD


def test_migrations_can_be_taken_back_to_an_empty_database(engine):
    migrate(engine)
    config = alembic_config()

    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["alembic_version"]
    assert migrate(engine)
