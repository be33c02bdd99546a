"""Holds every retraining store to its contract."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from service.domain.errors import ConflictError
from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    RetrainingState,
)
from service.ports.audit import AuditEntry
from service.ports.comments import Lease
from service.stores.sql.tables import retrainings
from tests import runs
from tests.contract.conftest import at_once
from tests.factories import NOW

MINUTE = timedelta(minutes=1)
REPORT = replace(runs.REPORT, newly_lost=("c1", "\u202ec2"), no_longer_lost=("c3",))


def retraining(name: str = "rtr_1", *, minutes: float = 0, **changes) -> Retraining:
    return Retraining(
        **({"id": name, "asked_by": "Ola", "asked_at": NOW + minutes * MINUTE} | changes)
    )


def take(stores, holder: str, *, minutes: float = 0) -> Lease:
    now = NOW + minutes * MINUTE
    return stores.retrainings.take_lease(holder, now=now, until=now + MINUTE)


def test_a_retraining_comes_back_as_it_was_kept(stores):
    asked = retraining(options=RetrainingOptions(data=("/a", "b\x00")))
    ended = retraining(
        "rtr_2",
        minutes=1,
        state=RetrainingState.ENDED,
        started_at=NOW,
        seen_at=NOW,
        ended_at=NOW + MINUTE,
        step="report",
        share_done=1.0,
        decisions=42,
        decisions_sha256="f" * 64,
        report=REPORT,
    )

    for one in (asked, ended):
        stores.retrainings.put(one)

    assert [stores.retrainings.get(one.id) for one in (asked, ended)] == [asked, ended]
    assert stores.retrainings.get("rtr_2").waits
    assert stores.retrainings.recent(limit=9) == [ended, asked]
    assert stores.retrainings.recent(limit=1) == [ended]


def test_a_report_of_version_1_0_keeps_its_counts(stores):
    stores.retrainings.put(retraining(report=REPORT))
    counts = {"used": 5, "spam": 4, "ham": 1, "set_aside": {}}
    kept = {"recommendation": "refuse", "version": "old", "lessons": counts}
    with stores.engine.begin() as connection:
        connection.execute(sa.update(retrainings).values(summary=kept))

    report = stores.retrainings.get("rtr_1").report

    assert report == RetrainingReport(recommendation=Recommendation.REFUSE, version="old", **counts)


def test_what_is_kept_again_is_as_it_is_now_but_keeps_its_answer(stores):
    stores.retrainings.put(retraining(state=RetrainingState.ENDED, report=REPORT))
    stores.retrainings.answer("rtr_1", Answer.REFUSED, by="Mara", at=NOW + MINUTE)

    stores.retrainings.put(retraining(state=RetrainingState.ENDED, problem="none"))

    kept = stores.retrainings.get("rtr_1")
    assert (kept.problem, kept.report) == ("none", None)
    assert (kept.answer, kept.answered_by, kept.answered_at) == (
        Answer.REFUSED,
        "Mara",
        NOW + MINUTE,
    )


def test_a_candidate_is_answered_once(stores):
    stores.retrainings.put(retraining())

    answered = stores.retrainings.answer("rtr_1", Answer.PROMOTED, by="Mara", at=NOW)
    with pytest.raises(ConflictError):
        stores.retrainings.answer("rtr_1", Answer.REFUSED, by="Ola", at=NOW)

    assert answered == replace(
        retraining(), answer=Answer.PROMOTED, answered_by="Mara", answered_at=NOW
    )
    assert stores.retrainings.get("rtr_1") == answered


def test_one_holder_retrains_until_the_lease_runs_out_or_is_given_back(stores):
    first = [take(stores, "one"), take(stores, "other"), take(stores, "one", minutes=0.5)]
    after_it_ran_out = take(stores, "other", minutes=1.5)
    stores.retrainings.end_lease("one")
    still_held = take(stores, "one", minutes=2)
    stores.retrainings.end_lease("other")

    assert first == [Lease.TAKEN, Lease.REFUSED, Lease.KEPT]
    assert (after_it_ran_out, still_held) == (Lease.TAKEN, Lease.REFUSED)
    # Once it ran out it is begun anew, even by the same.
    assert [take(stores, "one", minutes=at) for at in (2, 9)] == [Lease.TAKEN] * 2


def test_of_many_who_want_to_retrain_at_once_one_does(stores):
    answers = at_once(*(partial(take, stores, f"holder-{n}") for n in range(6)))

    assert sorted(answers) == [Lease.REFUSED] * 5 + [Lease.TAKEN]


def test_of_many_who_ask_for_a_retraining_at_once_one_does(stores):
    act = AuditEntry(at=NOW, actor="Ola", act="ask for retraining", subject="rtr")

    def ask(number: int) -> None:
        with suppress(ConflictError):
            stores.retrainings.ask(retraining(f"rtr_{number}"), act=act)

    at_once(*(partial(ask, number) for number in range(6)))

    assert len(stores.retrainings.recent(limit=9)) == 1
