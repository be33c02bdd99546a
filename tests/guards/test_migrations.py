"""Migrations lead to the tables the code speaks of and don't stop the site."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext

from service.cli import main
from service.start_error import ExitCode
from service.stores import migrations
from service.stores.migrations import (
    MigrationBlockedError,
    SchemaState,
    UnfitSchemaError,
    migrate,
    schema_state,
)
from service.stores.migrations.online import create_index_online
from service.stores.sql.tables import metadata
from tests.databases import engine_on
from tests.guards.migrated import empty_postgresql, make_first_schema

LARGE = (
    "comments", "verdicts", "decisions", "reports", "deliveries", "delivery_attempts",
    "audit_log", "search_docs", "comment_traits",
)  # fmt: skip
_LARGE = rf"\"?({'|'.join(LARGE)})\"?\b"
FORBIDDEN = {
    "builds an index while nobody may write: use create_index_online in a migration of its own": (
        rf"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY).*\bON {_LARGE}"
    ),
    "takes an index away while nobody may read": r"DROP INDEX (?!CONCURRENTLY)",
    "writes the whole table anew": rf"ALTER TABLE {_LARGE} ALTER COLUMN .* TYPE",
    "reads the whole table while nobody may write: say NOT VALID, validate later": (
        rf"ALTER TABLE {_LARGE} (ADD CONSTRAINT(?!.*NOT VALID)|ALTER COLUMN .* SET NOT NULL)"
    ),
    "fails where there are rows: give a default": (
        rf"ALTER TABLE {_LARGE} ADD COLUMN (?!.*DEFAULT).*NOT NULL"
    ),
    "writes every row in one transaction: let upkeep fill it, a portion at a time": (
        rf"UPDATE {_LARGE} SET"
    ),
}


def broken_rules(statement: str) -> list[str]:
    """Return the fault of a migration's statement on PostgreSQL."""
    said = " ".join(statement.split())
    return [rule for rule, pattern in FORBIDDEN.items() if re.match(pattern, said, re.IGNORECASE)]


@pytest.fixture
def postgres(postgresql):
    with empty_postgresql(postgresql) as engine:
        yield engine


@pytest.fixture
def hurried(monkeypatch):
    """Let steps give up soon."""
    monkeypatch.setattr(migrations, "_STEP_LOCK_TIMEOUT", "100ms")
    monkeypatch.setattr(migrations, "_PAUSE_SECONDS", 0.1)


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request, tmp_path):
    """Give an engine on an empty database of each kind."""
    if request.param == "sqlite":
        return engine_on(f"sqlite:///{tmp_path / 'empty.db'}")
    return request.getfixturevalue("postgres")


@pytest.mark.parametrize("is_new", [True, False])
def test_a_new_and_an_upgraded_database_have_what_the_code_speaks_of(engine, is_new):
    if not is_new:
        make_first_schema(engine)
    migrate(engine)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                # The full-text index, which each database has in a form of its own.
                "include_name": lambda name, _kind, _parents: (
                    not str(name).startswith(("search_fts", "ix_search_docs_terms"))
                ),
            },
        )
        differences = compare_metadata(context, metadata)
    assert differences == []

    # What is compared leaves out which rows an index has.
    where = f"{engine.dialect.name}_where"
    inspector = sa.inspect(engine)
    found = {
        index["name"]: where in index["dialect_options"]
        for table in metadata.tables
        for index in inspector.get_indexes(table)
    }
    partial = {
        index.name: index.dialect_options[engine.dialect.name]["where"] is not None
        for table in metadata.tables.values()
        for index in table.indexes
    }
    assert any(partial.values())
    assert {name: found[name] for name in partial} == partial


def test_of_several_that_migrate_at_once_one_does_it(engine):
    with ThreadPoolExecutor(4) as pool:
        changed = list(pool.map(lambda _: migrate(engine), range(4)))

    assert sorted(changed) == [False, False, False, True]


def test_a_schema_that_the_code_does_not_know_is_left_alone(engine):
    migrate(engine)
    for revision in ("m9999", "m0009"):
        with engine.begin() as connection:
            version = sa.table("alembic_version", sa.column("version_num"))
            connection.execute(sa.update(version).values(version_num=revision))

        with pytest.raises(UnfitSchemaError, match="does not know"):
            migrate(engine)
        assert schema_state(engine) is SchemaState.UNKNOWN


def test_no_migration_stops_the_site(postgres):
    make_first_schema(postgres)
    said: list[str] = []
    sa.event.listen(
        postgres, "before_cursor_execute", lambda _c, _u, statement, *_: said.append(statement)
    )

    migrate(postgres)

    assert said
    assert {one: broken_rules(one) for one in said if broken_rules(one)} == {}


def test_a_step_that_waits_for_a_table_lets_others_through_and_is_tried_again(postgres, hurried):
    make_first_schema(postgres)

    with ThreadPoolExecutor(1) as other, postgres.connect() as reader:
        # Somebody's long report: as long as it runs no column can be added.
        reader.exec_driver_sql("SELECT count(*) FROM comments")
        migrating = other.submit(migrate, postgres)
        with postgres.connect() as visitor:
            for _ in range(5):
                visitor.exec_driver_sql("SELECT pg_sleep(0.05), count(*) FROM comments")
                visitor.rollback()
        assert not migrating.done()
        reader.rollback()

        assert migrating.result(60)
    assert schema_state(postgres) is SchemaState.UP_TO_DATE


def test_a_step_that_always_waits_gives_up_and_says_which(postgres, hurried, monkeypatch):
    monkeypatch.setattr(migrations, "_TRIES", 2)
    make_first_schema(postgres)

    with postgres.connect() as reader:
        reader.exec_driver_sql("SELECT count(*) FROM applied")
        with pytest.raises(MigrationBlockedError, match="m0024 needs a table"):
            migrate(postgres)

    with postgres.connect() as connection:
        done = MigrationContext.configure(connection).get_current_revision()
    assert done == "m0023"
    assert migrate(postgres)


@pytest.mark.parametrize("is_valid", [True, False])
def test_an_index_that_is_there_already_is_kept_and_one_that_was_cut_off_made_anew(
    postgres, is_valid
):
    query = "SELECT oid, indisvalid FROM pg_class JOIN pg_index ON oid = indexrelid"
    query += " WHERE relname = 'ix_new'"
    with postgres.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE comments (lane TEXT)")
        connection.exec_driver_sql("CREATE INDEX ix_new ON comments (lane)")
        before = connection.exec_driver_sql(query).one().oid
        if not is_valid:
            update = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_new'::regclass"
            connection.exec_driver_sql(update)

    with (
        postgres.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        connection.begin(),
        Operations.context(MigrationContext.configure(connection)),
    ):
        create_index_online("ix_new", "comments", ["lane"])
        after = connection.exec_driver_sql(query).one()

    assert after.indisvalid
    assert (after.oid == before) is is_valid


def test_the_command_refuses_a_schema_that_the_code_does_not_know(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SLOPSIEVE_DATABASE_URL", raising=False)
    engine = engine_on(f"sqlite:///{tmp_path / 'slopsieve.db'}")
    migrate(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'm9999'")

    with pytest.raises(SystemExit) as ended:
        main(["migrate", "--data-dir", str(tmp_path)])

    assert ended.value.code == ExitCode.DATABASE
    assert "restore a backup" in capsys.readouterr().err
