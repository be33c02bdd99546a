"""Guards the migrations: one line of them, and they lead to the tables the code speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from service.domain.case import CaseFilter
from service.domain.comment import Comment, Label, Lane, Report
from service.domain.decision import Mode
from service.domain.site import SiteSettings
from service.domain.text import content_key
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.stores.migrations import (
    SchemaState,
    UnfitSchemaError,
    alembic_config,
    migrate,
    schema_state,
)
from service.stores.sql import SqlStores
from service.stores.sql import tables as schema
from service.stores.sql.comments import comment_values
from service.stores.sql.rows import verdict_values
from service.stores.sql.tables import metadata
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.guards.migrated import empty_postgresql, empty_sqlite, make_first_schema

scripts = ScriptDirectory.from_config(alembic_config())


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    """Give an engine on an empty database of each kind."""
    if request.param == "sqlite":
        with empty_sqlite(tmp_path) as engine:
            yield engine
        return
    with empty_postgresql(request.getfixturevalue("postgresql")) as engine:
        yield engine


def test_migrations_stand_in_one_line():
    revisions = list(scripts.walk_revisions())

    assert len(scripts.get_heads()) == 1
    assert len(scripts.get_bases()) == 1
    assert all(isinstance(one.down_revision, str | None) for one in revisions)
    assert not any(one.dependencies or one.branch_labels for one in revisions)


def test_migrations_are_numbered_as_they_follow():
    oldest_first = [one.revision for one in scripts.walk_revisions()][::-1]

    assert oldest_first == [f"m{number:04d}" for number in range(23, 23 + len(oldest_first))]
    for one in scripts.walk_revisions():
        assert Path(one.path).name.startswith(f"{one.revision}_")


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


def test_a_schema_newer_than_the_code_or_from_before_the_first_release_is_left_alone(engine):
    migrate(engine)
    for revision, says, state in (
        ("m9999", "newer version", SchemaState.AHEAD),
        ("m0009", r"newest version 0\.1", SchemaState.TOO_OLD),
    ):
        with engine.begin() as connection:
            version = sa.table("alembic_version", sa.column("version_num"))
            connection.execute(sa.update(version).values(version_num=revision))

        with pytest.raises(UnfitSchemaError, match=says):
            migrate(engine)
        assert schema_state(engine) is state


def test_comments_of_the_first_version_are_read_found_reported_and_withdrawn_by_this_one(engine):
    make_first_schema(engine)
    hostile = 'It\'s <b>"fine"</b>\x00\x1a\ud800 &amp; dandy'
    kept = [make_comment(f"{hostile} {number}") for number in range(3)]
    keep_as_of_the_first(engine, kept)

    migrate(engine)

    stores = SqlStores(engine)
    found = [
        stores.comments.find_by_content(SITE, content_key(comment.text), since=NOW)
        for comment in kept
    ]
    assert found == [[comment.id] for comment in kept]
    assert stores.sites.get(SITE).settings == SiteSettings(
        mode=Mode.ENFORCE, ham_cutoff=0.2, languages=("de",)
    )
    judged, other = kept[0], kept[1]
    report = Report(id="r", site_id=SITE, label=Label.HAM, reported_at=NOW, comment_id=judged.id)
    stores.reports.add(report)
    assert stores.cases.get(judged.id).comment == judged
    assert stores.cases.count(CaseFilter(needs_review=True)) == 1
    stores.personal_data.withdraw([other.id], at=NOW)
    assert stores.comments.count_pending()[Lane.BULK] == 1


def keep_as_of_the_first(engine: sa.Engine, kept: Sequence[Comment]) -> None:
    """Write comments, the first of them judged spam, as that version did."""
    rows = []
    for comment in kept:
        new = NewComment(comment=comment, lane=Lane.BULK)
        rows.append(as_kept(engine, "comments", comment_values(new)))
    settings = {"mode": "enforce", "ham_cutoff": 0.2, "spam_cutoff": None, "languages": ["de"]}
    site = {"id": SITE, "name": "Radiator blog", "created_at": NOW, "settings": settings}
    judged = as_kept(engine, "verdicts", verdict_values(make_verdict(kept[0].id, Outcome.SPAM)))
    with engine.begin() as connection:
        connection.execute(sa.insert(schema.sites), [site])
        connection.execute(sa.insert(schema.comments), rows)
        connection.execute(sa.insert(schema.verdicts), [judged])
        connection.execute(
            sa.update(schema.comments)
            .where(schema.comments.c.id == kept[0].id)
            .values(outcome="spam", degraded=False)
        )


def as_kept(engine: sa.Engine, table: str, values: dict[str, object]) -> dict[str, object]:
    """Return what of a row this schema has columns for."""
    columns = {column["name"] for column in sa.inspect(engine).get_columns(table)}
    return {name: value for name, value in values.items() if name in columns}
