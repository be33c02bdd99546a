"""Holds every figure store to its contract."""

from __future__ import annotations

from datetime import timedelta

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.figures import AuditCount, DayCount, Scope
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.verdict import Outcome
from tests.factories import NOW, SITE, keep_one, make_decision, make_report

OTHER_SITE = SiteId("site-2")
TODAY = NOW.date()
DAY = timedelta(days=1)


def scope(**changes) -> Scope:
    values = {"site_ids": None, "since": NOW.replace(hour=0) - 6 * DAY, "until": NOW + DAY / 24}
    return Scope(**(values | changes))


def keep(stores, outcome=Outcome.UNSURE, *, at=NOW, site=SITE, audit=False, **verdict) -> CommentId:
    verdict = {"judged_at": at} | verdict
    return keep_one(stores, outcome, audit=audit, verdict=verdict, received_at=at, site_id=site)


def rule(stores, comment_id, ruling=Ruling.REJECT, *, by="Ola") -> Decision:
    decision = make_decision(f"dec-{comment_id}", comment_id, ruling, decided_by=by)
    stores.decisions.add(decision)
    return decision


def test_comments_are_counted_by_day_and_outcome_at_their_sites(stores):
    keep(stores, Outcome.HAM)
    keep(stores, Outcome.HAM, at=NOW - DAY)
    keep(stores, None)
    keep(stores, Outcome.SPAM, site=OTHER_SITE)
    keep(stores, Outcome.HAM, at=NOW - 30 * DAY)

    found = set(stores.figures.count(scope(site_ids=(SITE,))).days)

    assert found == {
        DayCount(day=TODAY, outcome=Outcome.HAM, comments=1),
        DayCount(day=TODAY - DAY, outcome=Outcome.HAM, comments=1),
        DayCount(day=TODAY, outcome=None, comments=1),
    }
    everywhere = stores.figures.count(scope()).days
    assert DayCount(day=TODAY, outcome=Outcome.SPAM, comments=1) in everywhere


def test_the_queue_is_counted_by_why_a_comment_waits(stores):
    keep(stores, at=NOW - DAY)
    keep(stores, degraded_by=("history",))
    keep(stores, Outcome.SPAM, audit=True)
    reported = keep(stores, Outcome.HAM)
    stores.reports.add(make_report(reported, Label.SPAM))
    rule(stores, keep(stores))

    counts = stores.figures.count(scope())

    assert (counts.waiting.unsure, counts.waiting.audited, counts.waiting.reported) == (2, 1, 1)
    assert counts.waiting.oldest == NOW - DAY
    assert stores.figures.count(scope(site_ids=(OTHER_SITE,))).waiting.oldest is None


def test_the_audit_sample_is_counted_by_outcome_and_ruling_of_people(stores):
    rule(stores, keep(stores, Outcome.SPAM, audit=True), Ruling.APPROVE)
    rule(stores, keep(stores, Outcome.HAM, audit=True), Ruling.APPROVE)
    keep(stores, Outcome.HAM, audit=True)
    rule(stores, keep(stores, Outcome.SPAM), Ruling.APPROVE)
    rule(stores, keep(stores, Outcome.UNSURE))
    instruction = Instruction(
        entry_id="ent_1", effect=Effect.BLOCK, kind=EntryKind.DOMAIN, label="a", reason="b"
    )
    rule(stores, keep(stores, Outcome.SPAM, audit=True, instruction=instruction), Ruling.APPROVE)

    assert set(stores.figures.count(scope()).audited) == {
        AuditCount(outcome=Outcome.SPAM, ruling=Ruling.APPROVE, comments=1),
        AuditCount(outcome=Outcome.HAM, ruling=Ruling.APPROVE, comments=1),
        AuditCount(outcome=Outcome.HAM, ruling=None, comments=1),
    }


def test_people_waited_from_receiving_to_the_decision_in_force(stores):
    rule(stores, keep(stores, at=NOW - 2 * DAY))
    undone = rule(stores, keep(stores, at=NOW - DAY))
    stores.decisions.undo(undone.comment_id, by="Ola", at=NOW)
    rule(stores, keep(stores, at=NOW - DAY), by=CAMPAIGN_POLICY)
    rule(stores, keep(stores, Outcome.HAM, at=NOW - DAY))

    assert stores.figures.count(scope()).waited == (2 * DAY.total_seconds(),)


def test_scores_are_counted_by_bins_of_the_last_week_and_the_weeks_before(stores):
    keep(stores, Outcome.HAM, p_spam=0.01)
    keep(stores, Outcome.SPAM, p_spam=1.0)
    keep(stores, Outcome.HAM, p_spam=0.05, at=NOW - 10 * DAY)
    keep(stores, Outcome.HAM, p_spam=0.05, at=NOW - 60 * DAY)

    counts = stores.figures.count(scope())

    assert counts.recent_scores == (1, *[0] * 10, 1)
    assert counts.earlier_scores == (0, 1, *[0] * 10)
