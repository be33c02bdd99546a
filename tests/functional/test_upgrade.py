"""A data folder of version 1.0.0, with all that it held, is brought up to date and works."""

import json
import tarfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.domain.case import CaseFilter, Order
from service.domain.decision import Mode
from service.domain.site import SiteSettings
from service.domain.text import content_key
from service.stores.migrations import SchemaState, migrate, schema_state
from service.stores.sql import SqlStores
from tests.databases import engine_on
from tests.factories import NOW, make_report
from tests.guards.migrated import ARCHIVE

# What filled it: comments over the API, a third of them decided on, and the commands.
HELD = {"sites": 2, "users": 2, "comments": 48, "verdicts": 48, "decisions": 16, "campaigns": 7}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a copy of the data folder as 1.0.0 left it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def old(folder: Path) -> sa.Engine:
    """Give an engine on its database."""
    return engine_on(f"sqlite:///{folder / 'slopsieve.db'}")


def rows_of(engine: sa.Engine) -> dict[str, int]:
    """Return the number of rows of each table."""
    with engine.connect() as connection:
        return {
            table: connection.execute(
                sa.select(sa.func.count()).select_from(sa.table(table))
            ).scalar_one()
            for table in sa.inspect(connection).get_table_names()
            if not table.startswith(("search_fts", "alembic"))
        }


def test_no_row_of_a_table_that_stays_is_lost(old):
    before = rows_of(old)

    migrate(old)

    after = rows_of(old)
    assert schema_state(old) is SchemaState.UP_TO_DATE
    assert {table: before[table] for table in HELD} == HELD
    stay = before.keys() & after.keys()
    assert {table: after[table] for table in stay} == {table: before[table] for table in stay}


def test_comments_are_read_found_reported_and_withdrawn_by_this_version(old):
    settings = '{"mode": "enforce", "ham_cutoff": 0.2, "spam_cutoff": null, "languages": ["de"]}'
    with old.begin() as connection:
        connection.exec_driver_sql(f"UPDATE sites SET settings = '{settings}'")  # noqa: S608  # no input
    migrate(old)

    stores = SqlStores(old)
    page = stores.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=99)
    comments = [case.comment for case in page.items]
    one, other = comments[:2]
    found = [
        stores.comments.find_by_content(c.site_id, content_key(c.text), since=c.received_at)
        for c in comments
    ]
    assert all(c.id in ids for c, ids in zip(comments, found, strict=True))
    assert len(comments) == HELD["comments"]
    kept = stores.sites.get(one.site_id).settings
    assert kept == SiteSettings(mode=Mode.ENFORCE, ham_cutoff=0.2)
    stores.reports.add(make_report(one.id, site_id=one.site_id))
    assert stores.cases.get(one.id).reports
    assert stores.personal_data.withdraw([other.id], at=NOW) == 1
    assert stores.cases.get(other.id).comment.text == ""


def test_the_commands_work_on_the_upgraded_folder(folder, run):
    upgraded = run("migrate")
    again = run("migrate")
    names = [row["name"] for row in run("users", "list", "--json")]
    reasons = [row["reason"] for row in run("lists", "list", "--json")]
    sites = {row["name"]: row["site_id"] for row in run("sites", "list", "--json")}
    (first,) = sites.keys() - {"Second blog"}
    exported = run("export", "--site", sites[first], "--format", "jsonl")
    rows = [json.loads(line) for line in exported.splitlines()]

    assert ("was migrated" in upgraded, "is up to date" in again) == (True, True)
    assert "mara" in names
    assert reasons == ["a regular", "spam"]
    assert len(rows) == HELD["comments"]
    assert sum(row["state"] == "decided" for row in rows) == HELD["decisions"]
