"""Holds every store to what it counts: figures, previews of cutoffs, what waits."""

from datetime import timedelta

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId, Label, Lane
from service.domain.decision import Decision, Ruling
from service.domain.delivery import DeliveryState
from service.domain.figures import (
    AuditCount,
    CutoffPreview,
    DayCount,
    Moved,
    ReviewPart,
    Scope,
    Waiting,
)
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.verdict import Outcome, Rule
from service.scoring.conclude import decide
from service.scoring.weights import Cutoffs
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    add_appeal,
    keep_one,
    make_attempt,
    make_decision,
    make_delivery,
    make_report,
)

TODAY = NOW.date()
DAY = timedelta(days=1)
HAM, UNSURE, SPAM = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM


def scope(**changes) -> Scope:
    values = {"site_ids": None, "since": NOW.replace(hour=0) - 6 * DAY, "until": NOW + DAY / 24}
    return Scope(**(values | changes))


def keep(
    stores, outcome=UNSURE, *, at=NOW, minutes=0, site=SITE, audit=False, lane=Lane.BULK, **verdict
) -> CommentId:
    """Keep a comment that came at this time, or so many minutes ago."""
    at -= timedelta(minutes=minutes)
    verdict = {"judged_at": at} | verdict
    sent = {"received_at": at, "site_id": site}
    return keep_one(stores, outcome, audit=audit, verdict=verdict, lane=lane, **sent)


def rule(stores, comment_id, ruling=Ruling.REJECT, *, by="Ola") -> Decision:
    decision = make_decision(f"dec-{comment_id}", comment_id, ruling, decided_by=by)
    stores.decisions.add(decision)
    return decision


def test_comments_are_counted_by_day_and_outcome_at_their_sites(stores):
    keep(stores, HAM)
    keep(stores, HAM, at=NOW - DAY)
    keep(stores, None)
    keep(stores, SPAM, site=OTHER_SITE)
    keep(stores, HAM, at=NOW - 30 * DAY)

    found = set(stores.figures.count(scope(site_ids=(SITE,))).days)

    assert found == {
        DayCount(day=TODAY, outcome=HAM, comments=1),
        DayCount(day=TODAY - DAY, outcome=HAM, comments=1),
        DayCount(day=TODAY, outcome=None, comments=1),
    }
    everywhere = stores.figures.count(scope()).days
    assert DayCount(day=TODAY, outcome=SPAM, comments=1) in everywhere


def test_the_queue_is_counted_by_why_a_comment_waits(stores):
    keep(stores, at=NOW - DAY)
    keep(stores, degraded_by=("history",))
    keep(stores, SPAM, audit=True)
    reported = keep(stores, HAM)
    stores.reports.add(make_report(reported, Label.SPAM))
    rule(stores, keep(stores))

    queue = stores.figures.count(scope(until=NOW)).queue

    assert (queue.waiting, queue.unsure, queue.audited, queue.reported) == (4, 2, 1, 1)
    assert queue.oldest_seconds == DAY.total_seconds()
    assert stores.figures.count(scope(site_ids=(OTHER_SITE,))).queue.oldest_seconds is None


def test_the_audit_sample_is_counted_by_outcome_and_ruling_of_people(stores):
    rule(stores, keep(stores, SPAM, audit=True), Ruling.APPROVE)
    rule(stores, keep(stores, HAM, audit=True), Ruling.APPROVE)
    keep(stores, HAM, audit=True)
    rule(stores, keep(stores, SPAM), Ruling.APPROVE)
    rule(stores, keep(stores, UNSURE))
    instruction = Instruction(
        entry_id="ent_1", effect=Effect.BLOCK, kind=EntryKind.DOMAIN, label="a", reason="b"
    )
    rule(stores, keep(stores, SPAM, audit=True, instruction=instruction), Ruling.APPROVE)

    assert set(stores.figures.count(scope()).audited) == {
        AuditCount(outcome=SPAM, ruling=Ruling.APPROVE, comments=1),
        AuditCount(outcome=HAM, ruling=Ruling.APPROVE, comments=1),
        AuditCount(outcome=HAM, ruling=None, comments=1),
    }


def test_people_waited_from_receiving_to_the_decision_in_force(stores):
    rule(stores, keep(stores, at=NOW - 2 * DAY))
    undone = rule(stores, keep(stores, at=NOW - DAY))
    stores.decisions.undo(undone.comment_id, by="Ola", at=NOW)
    rule(stores, keep(stores, at=NOW - DAY), by=CAMPAIGN_POLICY)
    rule(stores, keep(stores, HAM, at=NOW - DAY))

    queue = stores.figures.count(scope()).queue
    assert queue.waited == (queue.median_seconds,) == (2 * DAY.total_seconds(),)


def test_scores_are_counted_by_bins_of_the_last_week_and_the_weeks_before(stores):
    keep(stores, HAM, p_spam=0.01)
    keep(stores, SPAM, p_spam=1.0)
    keep(stores, HAM, p_spam=0.05, at=NOW - 10 * DAY)
    keep(stores, HAM, p_spam=0.05, at=NOW - 60 * DAY)

    counts = stores.figures.count(scope())

    assert counts.recent_scores == (1, *[0] * 10, 1)
    assert counts.earlier_scores == (0, 1, *[0] * 10)


def judge(stores, p_spam: float, outcome: Outcome, *rulings: Ruling, **verdict) -> CommentId:
    comment_id = keep(stores, outcome, p_spam=p_spam, **verdict)
    for number, ruling in enumerate(rulings):
        stores.decisions.add(make_decision(f"{comment_id}-{number}", comment_id, ruling))
    return comment_id


def preview(stores, ham_cutoff: float, spam_cutoff: float) -> CutoffPreview:
    cutoffs = Cutoffs(ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    return stores.cases.cutoff_preview(SITE, received_from=NOW, cutoffs=cutoffs)


def test_comments_are_counted_by_what_was_and_would_be_concluded_and_by_the_ruling_in_force(stores):
    judge(stores, 0.05, HAM, Ruling.REJECT)
    judge(stores, 0.3, UNSURE, Ruling.REJECT, Ruling.APPROVE)
    judge(stores, 0.7, UNSURE, Ruling.APPROVE)
    judge(stores, 0.7, UNSURE, Ruling.REJECT)
    undone = judge(stores, 0.7, UNSURE, Ruling.APPROVE)
    stores.decisions.undo(undone, by="ada", at=NOW)
    judge(stores, 0.95, SPAM)
    judge(stores, 0.05, UNSURE, held_by=(Rule.MANY_LINKS,))
    # Degraded verdicts stay unsure whatever the cutoffs.
    for p_spam in (0.0, 1.0):
        judge(stores, p_spam, UNSURE, degraded_by=("history",))

    found = preview(stores, 0.4, 0.6)

    assert set(found.moved) == {
        Moved(was=HAM, becomes=HAM, comments=1, rejected=1),
        Moved(was=UNSURE, becomes=HAM, comments=1, approved=1),
        Moved(was=UNSURE, becomes=SPAM, comments=3, approved=1, rejected=1),
        Moved(was=UNSURE, becomes=UNSURE, comments=3),
        Moved(was=SPAM, becomes=SPAM, comments=1),
    }
    assert (found.becoming(SPAM, "approved"), found.becoming(HAM, "rejected")) == (1, 1)
    assert found.judged == 9


def test_a_cutoff_itself_parts_as_the_policy_does(stores):
    shares = (0.0, 0.1, 0.5, 0.9, 1.0)
    for p_spam in shares:
        judge(stores, p_spam, UNSURE)
    cutoffs = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)

    found = preview(stores, cutoffs.ham_cutoff, cutoffs.spam_cutoff)

    expected = [decide(p_spam, cutoffs, degraded=False) for p_spam in shares]
    assert {o: found.becoming(o) for o in Outcome} == {o: expected.count(o) for o in Outcome}


def test_older_comments_other_sites_and_what_has_no_verdict_are_left_out(stores):
    judge(stores, 0.7, UNSURE, at=NOW - timedelta(microseconds=1))
    judge(stores, 0.7, UNSURE, site=OTHER_SITE)
    keep_one(stores)

    assert preview(stores, 0.1, 0.9) == CutoffPreview()


def test_what_has_no_verdict_is_counted_by_lane_with_the_oldest(stores):
    keep(stores, None, minutes=3, lane=Lane.INTERACTIVE)
    keep(stores, None, minutes=9, lane=Lane.INTERACTIVE)
    keep(stores, None, minutes=5)
    keep(stores, HAM, minutes=60)
    stores.personal_data.withdraw([keep(stores, None, minutes=70)], at=NOW)

    unjudged = stores.figures.backlog().unjudged

    assert stores.figures.oldest_unjudged() == NOW - timedelta(minutes=9)
    assert unjudged == {
        Lane.INTERACTIVE: Waiting(number=2, oldest=NOW - timedelta(minutes=9)),
        Lane.BULK: Waiting(number=1, oldest=NOW - timedelta(minutes=5)),
    }


def test_what_waits_for_a_moderator_is_counted_by_the_queues_parts(stores):
    keep(stores, UNSURE, minutes=1)
    keep(stores, UNSURE, minutes=8)
    keep(stores, HAM, minutes=4, audit=True)
    stores.reports.add(make_report(keep(stores, SPAM, minutes=6)))
    add_appeal(stores, keep(stores, SPAM, minutes=90))
    keep(stores, SPAM, minutes=7)

    review = stores.figures.backlog().review

    assert review == {
        ReviewPart.APPEALED: Waiting(number=1, oldest=NOW - timedelta(minutes=90)),
        ReviewPart.UNSURE: Waiting(number=2, oldest=NOW - timedelta(minutes=8)),
        ReviewPart.TO_CHECK: Waiting(number=2, oldest=NOW - timedelta(minutes=6)),
        ReviewPart.HELD_AS_SPAM: Waiting(number=1, oldest=NOW - timedelta(minutes=7)),
    }


def test_messages_are_counted_while_they_are_tried_and_when_they_were_given_up(stores):
    comment_id = keep(stores, None)
    waiting, dead, told = (make_delivery(comment_id, id=f"del-{n}") for n in range(3))
    stores.deliveries.add([waiting, dead, told])
    for delivery, state in ((dead, DeliveryState.DEAD), (told, DeliveryState.DELIVERED)):
        stores.deliveries.record(make_attempt(delivery.id), state=state)

    backlog = stores.figures.backlog()

    assert backlog.callbacks == Waiting(number=1, oldest=waiting.created_at)
    assert backlog.dead_callbacks == Waiting(number=1, oldest=dead.created_at)


def test_the_oldest_kept_is_judged_and_has_its_words(stores):
    stores.personal_data.withdraw([keep(stores, SPAM, minutes=90)], at=NOW)
    keep(stores, HAM, minutes=40)
    keep(stores, SPAM, minutes=50)
    keep(stores, None, minutes=99)

    assert stores.figures.backlog().oldest_kept == NOW - timedelta(minutes=50)
