"""Migrations lead to the tables the code speaks of."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from service.cli import main
from service.start_error import ExitCode
from service.stores.migrations import SchemaState, UnfitSchemaError, migrate, schema_state
from service.stores.sql.tables import metadata
from tests.databases import engine_on
from tests.guards.migrated import empty_postgresql, make_first_schema


@pytest.fixture
def postgres(postgresql):
    with empty_postgresql(postgresql) as engine:
        yield engine


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
