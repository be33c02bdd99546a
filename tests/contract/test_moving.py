"""A database moves whole into another, of its own kind or not."""

import contextlib
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.case import Claim
from service.domain.delivery import Endpoint
from service.domain.errors import ConflictError
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.search import parse_search
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from service.stores.sql import SqlStores
from service.stores.sql.moving import compare, count_rows, move_rows
from tests.contract.conftest import SITES
from tests.databases import Stores, engine_on
from tests.factories import (
    NOW,
    SITE,
    keep_all,
    make_comment,
    make_decision,
    make_traits,
    make_verdict,
    put_endpoint,
)
from tests.fakes import make_services
from tests.functional import filled

WAYS = [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("postgresql", "postgresql")]
HOSTILE = "a\x00b\ud800\x1a\\N \t\n {} '\" \u202e 漢字"


def ignore(_rows):
    """Nobody looks at the progress here."""


@pytest.fixture
def engines(request, new_database):
    """Give two engines, on a database that is filled and on one that is empty."""
    kinds = request.param
    with contextlib.ExitStack() as stack:
        made = [engine_on(stack.enter_context(new_database(kind))) for kind in kinds]
        fill(made[0])
        yield made


def fill(engine: sa.Engine) -> None:
    """Keep something of each kind, and twelve comments that a copy might mangle."""
    stores = Stores(engine)
    for site in SITES:
        stores.sites.add(site)
    filled.fill(make_services(stores=stores, judges=False))
    comments = [replace(make_comment(f"{HOSTILE} {i}"), user_agent=HOSTILE) for i in range(12)]
    keep_all(stores.comments, *comments)
    instruction = Instruction(
        entry_id="ent_1", effect=Effect.BLOCK, kind=EntryKind.PHRASE, label=HOSTILE, reason="x"
    )
    verdicts = [
        make_verdict(one.id, Outcome.SPAM, instruction=instruction) for one in comments[:10]
    ]
    traits = [make_traits(comments[0].id)]  # with an embedding, which is bytes
    stores.verdicts.add(verdicts, audit=frozenset(), traits=traits)
    stores.decisions.add(make_decision("dec-1", comments[0].id, note=HOSTILE))
    stores.decisions.undo(comments[0].id, by="Zoë", at=NOW)
    put_endpoint(
        stores.endpoints, Endpoint(site_id=SITE, url="https://a.example", secrets=("whsec_x",))
    )
    stores.audit_log.append(AuditEntry(at=NOW, actor="Zoë", act="reject", subject="x"))
    fill_for_a_minute(stores, comments[0].id)


def fill_for_a_minute(stores, comment_id) -> None:
    """Write what a running installation writes of itself."""
    stores.campaigns.take_lease("worker-1", now=NOW, until=NOW + timedelta(seconds=30))
    until = NOW + timedelta(minutes=1)
    stores.claims.take(
        Claim(comment_id=comment_id, user_id="u", user_name="Zoë", since=NOW, until=until)
    )
    stores.search.index_due(limit=100)


@pytest.mark.parametrize("engines", WAYS, indirect=True, ids="-".join)
def test_everything_moves_and_is_used_as_before(engines):
    source, target = engines
    before, after = SqlStores(source), SqlStores(target)
    # What a running installation wrote of itself keeps nobody from moving into it.
    fill_for_a_minute(after, "nobody")

    move_rows(source, target, resume=False, told=ignore)

    used = []
    compared = {
        one.table: one
        for one in compare(
            source,
            target,
            told=lambda *_: used.append(tuple(engine.pool.checkedout() for engine in engines)),
        )
    }
    assert all(one.equal for one in compared.values())
    # No side waits in a transaction while the other is read.
    assert used
    assert sorted(used) == sorted([(1, 0), (0, 1)] * (len(used) // 2))
    assert compared["comments"].source.rows > 12
    filled_tables = {name for name, one in compared.items() if one.source.rows}
    assert filled_tables > {"campaigns", "deliveries", "list_entries", "retrainings", "strokes"}
    assert count_rows(target) == count_rows(source)
    with source.connect() as connection:
        ids = connection.scalars(sa.text("SELECT id FROM comments")).all()
    assert [after.cases.get(one) for one in ids] == [before.cases.get(one) for one in ids]
    # What moved is found by its words once it was indexed, and numbers go on after it.
    query = parse_search("漢字 outcome:spam")
    after.search.index_due(limit=100)
    found = [set(one.search.ids(query, site_ids=None, limit=100)) for one in (before, after)]
    assert found[0] == found[1]
    assert len(found[0]) == 10
    after.audit_log.append(AuditEntry(at=NOW, actor="Zoë", act="approve", subject="y"))
    assert [one.act for one in after.audit_log.recent(limit=2)] == ["approve", "reject"]


@pytest.mark.parametrize("engines", WAYS[:2], indirect=True, ids="-".join)
def test_a_database_with_rows_is_not_moved_into(engines):
    source, target = engines
    SqlStores(target).sites.add(SITES[0])

    with pytest.raises(ConflictError):
        move_rows(source, target, resume=False, told=ignore)

    assert count_rows(target) == 1


@pytest.mark.parametrize("engines", WAYS[:2], indirect=True, ids="-".join)
def test_a_move_that_was_stopped_goes_on_where_it_was(engines, monkeypatch):
    monkeypatch.setattr("service.stores.sql.moving.PORTION", 3)
    source, target = engines

    class StoppedError(Exception):
        """Somebody pressed Ctrl-C."""

    def stop(_rows):
        with target.connect() as connection:
            if connection.scalar(sa.text("SELECT count(*) FROM comments")) >= 6:
                raise StoppedError

    with pytest.raises(StoppedError):
        move_rows(source, target, resume=False, told=stop)
    move_rows(source, target, resume=True, told=ignore)

    assert all(one.equal for one in compare(source, target, told=ignore))


@pytest.mark.parametrize("engines", WAYS[:1], indirect=True, ids="-".join)
def test_a_row_that_differs_is_found(engines):
    source, target = engines
    move_rows(source, target, resume=False, told=ignore)
    with target.begin() as connection:
        connection.execute(sa.text("UPDATE verdicts SET p_spam = 0.51 WHERE p_spam > 0.4"))

    differing = [one.table for one in compare(source, target, told=ignore) if not one.equal]

    assert differing == ["verdicts"]
