"""Holds every figure store to its contract."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from service.campaigns.traits import Traits
from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId, Lane, SiteId
from service.domain.decision import IMPORT, Decision, Ruling
from service.domain.figures import (
    ActCount,
    AskedAt,
    CampaignCount,
    DayCount,
    FigureCounts,
    Leaned,
    PairCount,
    RuledCount,
    Scope,
    SetSignal,
    SignalCount,
    TimedDecision,
    UnsureCount,
    VersionCount,
    WaitingNow,
)
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.report import Label, Report
from service.domain.verdict import Outcome, WeighedSignal, WeightKind
from service.ports.campaigns import Placement
from service.ports.comments import NewComment
from service.scoring.holding import HELD_BACK
from service.scoring.lean import SITE_DECISIONS
from service.stores.limits import FigureLimits
from tests.factories import NOW, SITE, make_comment, make_signal, make_verdict

OTHER_SITE = SiteId("site-2")
TODAY = NOW.date()
DAY = timedelta(days=1)
YESTERDAY = NOW - DAY
MIDNIGHT = NOW.replace(hour=0)
_numbers = itertools.count(1)


def scope(**changes) -> Scope:
    values = {"site_ids": None, "since": MIDNIGHT - 6 * DAY, "until": NOW + timedelta(hours=1)}
    return Scope(**(values | changes))


def keep(stores, outcome=Outcome.UNSURE, *, at=NOW, site=SITE, audit=False, **verdict) -> CommentId:
    comment = make_comment(received_at=at, site_id=site)
    stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
    if outcome is not None:
        made = make_verdict(comment.id, outcome, **({"judged_at": at} | verdict))
        stores.verdicts.add([made], audit=frozenset([comment.id] if audit else []))
    return comment.id


def rule(
    stores, comment_id: CommentId, ruling: str = "approve", *, by="ada", at=NOW, **changes
) -> None:
    stores.decisions.add(
        Decision(
            id=f"d{next(_numbers)}",
            comment_id=comment_id,
            ruling=Ruling(ruling),
            decided_by=by,
            decided_at=at,
            **changes,
        )
    )


def test_nothing_kept_counts_as_nothing(stores):
    assert stores.figures.count(scope()) == FigureCounts()


def test_comments_are_counted_by_utc_day_site_and_outcome(stores):
    keep(stores, Outcome.HAM, at=MIDNIGHT)
    keep(stores, Outcome.HAM, at=MIDNIGHT + timedelta(hours=1))
    keep(stores, Outcome.HAM, at=MIDNIGHT - timedelta(microseconds=1))
    keep(stores, Outcome.SPAM, site=OTHER_SITE)
    keep(stores, None)

    counted = stores.figures.count(scope())

    assert set(counted.days) == {
        DayCount(day=TODAY, site_id=SITE, outcome=Outcome.HAM, comments=2),
        DayCount(day=YESTERDAY.date(), site_id=SITE, outcome=Outcome.HAM, comments=1),
        DayCount(day=TODAY, site_id=OTHER_SITE, outcome=Outcome.SPAM, comments=1),
        DayCount(day=TODAY, site_id=SITE, outcome=None, comments=1),
    }


def test_what_lies_outside_the_days_or_the_sites_is_not_counted(stores):
    early, elsewhere = MIDNIGHT - 6 * DAY - timedelta(microseconds=1), OTHER_SITE
    for which in ({"at": early}, {"at": NOW + DAY}, {"site": elsewhere}):
        rule(stores, keep(stores, **which), at=which.get("at", NOW))
        rule(stores, keep(stores, Outcome.SPAM, audit=True, **which), at=which.get("at", NOW))

    counted = stores.figures.count(scope(site_ids=(SITE,)))

    assert counted == FigureCounts()
    assert stores.figures.count(scope(site_ids=())) == FigureCounts()


def test_unsure_ones_tell_whether_they_are_degraded_and_when_they_were_withdrawn(stores):
    keep(stores, at=YESTERDAY, degraded_by=("history",))
    gone = keep(stores, at=YESTERDAY)
    stores.comments.withdraw(gone, at=NOW)
    decided = keep(stores, at=YESTERDAY)
    rule(stores, decided)
    stores.comments.withdraw(decided, at=NOW)

    counted = stores.figures.count(scope())

    of_day = {"day": YESTERDAY.date(), "site_id": SITE, "comments": 1}
    assert set(counted.unsure) == {
        UnsureCount(degraded=True, withdrawn=None, **of_day),
        UnsureCount(degraded=False, withdrawn=TODAY, **of_day),
        UnsureCount(degraded=False, withdrawn=None, **of_day),
    }


def test_the_queue_is_told_by_why_and_since_when_they_wait(stores):
    keep(stores, at=NOW - 30 * DAY)
    keep(stores, at=NOW - 2 * DAY)
    keep(stores, Outcome.HAM, audit=True)
    disputed = keep(stores, Outcome.HAM)
    stores.reports.add(
        Report(id="r1", site_id=SITE, label=Label.SPAM, reported_at=NOW, comment_id=disputed)
    )
    rule(stores, keep(stores, at=NOW - 40 * DAY))
    keep(stores, at=NOW - 50 * DAY, site=OTHER_SITE)

    waiting = stores.figures.count(scope(site_ids=(SITE,))).waiting

    assert waiting == WaitingNow(unsure=2, audited=1, reported=1, oldest=NOW - 30 * DAY, middle=NOW)


def test_decisions_take_queued_comments_out_and_undoing_brings_them_back(stores):
    unsure = keep(stores, at=NOW - 20 * DAY)
    rule(stores, unsure, at=NOW - 2 * DAY)
    stores.decisions.undo(unsure, by="ben", at=YESTERDAY)
    rule(stores, unsure, "reject", by="ben", at=NOW)
    rule(stores, keep(stores, Outcome.SPAM, audit=True), at=NOW)
    rule(stores, keep(stores, Outcome.SPAM), at=NOW)

    counted = stores.figures.count(scope())

    assert counted.left == {TODAY - 2 * DAY: 1, TODAY: 2}
    assert counted.returned == {TODAY - DAY: 1}


def test_ruled_ones_are_counted_by_verdict_sample_ruling_and_bin(stores):
    for p_spam in (0.05, 0.099):
        rule(stores, keep(stores, p_spam=p_spam), "reject")
    rule(stores, keep(stores, Outcome.SPAM, p_spam=1.0, audit=True))
    keep(stores, Outcome.HAM, p_spam=0.0, audit=True)
    keep(stores, Outcome.HAM)
    keep(stores)
    stores.comments.withdraw(keep(stores, Outcome.HAM, audit=True), at=NOW)

    counted = sorted(stores.figures.count(scope()).ruled, key=lambda one: one.in_bin)

    assert counted == [
        RuledCount(
            day=TODAY, outcome=Outcome.HAM, audit=True, ruling=None, in_bin=0, comments=1,
            p_spam_sum=0.0,
        ),
        RuledCount(
            day=TODAY, outcome=Outcome.UNSURE, audit=False, ruling=Ruling.REJECT, in_bin=1,
            comments=2, p_spam_sum=pytest.approx(0.149),
        ),
        RuledCount(
            day=TODAY, outcome=Outcome.SPAM, audit=True, ruling=Ruling.APPROVE, in_bin=11,
            comments=1, p_spam_sum=1.0,
        ),
    ]  # fmt: skip


def test_two_persons_rulings_on_one_comment_make_a_pair(stores):
    both = keep(stores)
    rule(stores, both, "approve", by="ada")
    rule(stores, both, "reject", by="ben")
    rule(stores, both, "reject", by="cleo")
    alone = keep(stores)
    rule(stores, alone, "approve", by="ada")
    rule(stores, alone, "reject", by="ada")
    before = keep(stores, site=OTHER_SITE)
    rule(stores, before, "approve", by="ada", at=NOW - 20 * DAY)
    rule(stores, before, "approve", by="ben")

    pairs = set(stores.figures.count(scope()).pairs)

    assert pairs == {
        PairCount(first=Ruling.APPROVE, second=Ruling.REJECT, comments=1),
        PairCount(first=Ruling.REJECT, second=Ruling.REJECT, comments=1),
    }
    assert set(stores.figures.count(scope(site_ids=(SITE,))).pairs) == pairs


def test_signals_are_counted_with_what_was_ruled(stores):
    def weighed(name: str, contribution: float) -> WeighedSignal:
        signal = make_signal(name, reason='a "reason", with quotes and ⟦marks⟧')
        return WeighedSignal(signal=signal, weight=1.0, contribution=contribution)

    two = (weighed("front_page_link", 0.5), weighed("shortened_link", -0.25))
    rule(stores, keep(stores, signals=two), "reject")
    undone = keep(stores, signals=two[:1])
    rule(stores, undone, "reject")
    stores.decisions.undo(undone, by="ada", at=NOW)
    keep(stores, None)
    keep(stores, signals=())

    counted = stores.figures.count(scope())

    assert counted.sampled == 3
    assert set(counted.signals) == {
        SignalCount(name="front_page_link", ruling=Ruling.REJECT, fired=1, contribution_sum=0.5),
        SignalCount(name="shortened_link", ruling=Ruling.REJECT, fired=1, contribution_sum=-0.25),
        SignalCount(name="front_page_link", ruling=None, fired=1, contribution_sum=0.5),
    }
    assert stores.figures.count(scope(site_ids=(OTHER_SITE,))).sampled == 0


def test_verdicts_are_counted_by_version_on_the_day_of_judging(stores):
    keep(stores, at=YESTERDAY, judged_at=NOW, model_version="b")
    keep(stores, at=YESTERDAY, model_version="a", site=OTHER_SITE)
    keep(stores, at=YESTERDAY, model_version="a")

    versions = stores.figures.count(scope()).versions
    of_site = stores.figures.count(scope(site_ids=(SITE,))).versions

    a, b = VersionCount(day=YESTERDAY.date(), version="a", verdicts=2), VersionCount(
        day=TODAY, version="b", verdicts=1
    )  # fmt: skip
    assert set(versions) == {a, b}
    assert set(of_site) == {VersionCount(day=YESTERDAY.date(), version="a", verdicts=1), b}


def test_decisions_are_counted_by_day_and_person_undone_ones_too(stores):
    for at in (NOW, NOW, YESTERDAY):
        rule(stores, keep(stores), at=at)
    undone = keep(stores)
    rule(stores, undone, by="site: <b>jo</b>")
    stores.decisions.undo(undone, by="ada", at=NOW)
    rule(stores, keep(stores, site=OTHER_SITE), by="ben")

    acts = stores.figures.count(scope(site_ids=(SITE,))).acts

    assert set(acts) == {
        ActCount(day=TODAY, decided_by="ada", in_bulk=False, decisions=2),
        ActCount(day=YESTERDAY.date(), decided_by="ada", in_bulk=False, decisions=1),
        ActCount(day=TODAY, decided_by="site: <b>jo</b>", in_bulk=False, decisions=1),
    }


def test_decisions_in_a_bulk_decision_are_counted_apart_and_seconds_are_told_newest_first(stores):
    rule(stores, keep(stores), seconds=4.5)
    rule(stores, keep(stores), seconds=2.25, by="ben")
    rule(stores, keep(stores), bulk_decision_id="stroke-1")
    rule(stores, keep(stores, site=OTHER_SITE), seconds=9.0)

    counted = stores.figures.count(scope(site_ids=(SITE,)))

    assert counted.timed == (
        TimedDecision(decided_by="ben", seconds=2.25),
        TimedDecision(decided_by="ada", seconds=4.5),
    )
    assert set(counted.acts) == {
        ActCount(day=TODAY, decided_by="ada", in_bulk=False, decisions=1),
        ActCount(day=TODAY, decided_by="ben", in_bulk=False, decisions=1),
        ActCount(day=TODAY, decided_by="ada", in_bulk=True, decisions=1),
    }


def test_what_a_policy_decided_is_nobodys_ruling(stores):
    signals = (WeighedSignal(signal=make_signal(), weight=1.0, contribution=1.0),)
    by_policy = keep(stores, signals=signals)
    rule(stores, by_policy, "reject", by=CAMPAIGN_POLICY)
    overruled = keep(stores, signals=())
    rule(stores, overruled, "reject", by=CAMPAIGN_POLICY)
    rule(stores, overruled, "approve", by="ada")

    counted = stores.figures.count(scope())

    assert [(one.ruling, one.comments) for one in counted.ruled] == [(Ruling.APPROVE, 1)]
    assert [one.ruling for one in counted.signals] == [None]
    assert counted.pairs == ()
    assert counted.left == {TODAY: 3}


def test_verdicts_that_followed_a_list_entry_are_told_apart(stores):
    instruction = Instruction(
        entry_id="ent_1", effect=Effect.BLOCK, kind=EntryKind.DOMAIN, label="a", reason="b"
    )
    followed = keep(stores, Outcome.SPAM, instruction=instruction, p_spam=0.3)
    rule(stores, followed)
    keep(stores, Outcome.SPAM, instruction=instruction, p_spam=0.3, audit=True)
    rule(stores, keep(stores, Outcome.SPAM))
    # Without the evidence an entry is not followed.
    rule(stores, keep(stores, instruction=instruction, degraded_by=("history",)))

    counted = stores.figures.count(scope())

    assert sorted((one.outcome, one.audit, one.followed) for one in counted.ruled) == [
        (Outcome.SPAM, False, False),
        (Outcome.SPAM, False, True),
        (Outcome.SPAM, True, True),
        (Outcome.UNSURE, False, False),
    ]
    assert counted.followed == {Outcome.SPAM: 2}


def campaign(stores, name: str, size: int, *, site=SITE) -> list[CommentId]:
    """Keep a campaign of so many unsure comments; return their ids."""
    ids = []
    for _ in range(size):
        comment = make_comment(site_id=site)
        stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        traits = Traits(
            comment_id=comment.id,
            embedding=None,
            space="test-1",
            targets=frozenset({"site:shop.example"}),
            copies=(),
        )
        stores.verdicts.add([make_verdict(comment.id)], audit=frozenset(), traits=[traits])
        ids.append(comment.id)
    likes = [None, *ids[:1] * (size - 1)]
    stores.campaigns.place(
        [
            Placement(comment_id=one, like=like, new_campaign_id=name)
            for one, like in zip(ids, likes, strict=True)
        ],
        at=NOW,
    )
    return ids


def test_campaigns_are_counted_those_first_of_which_most_waits(stores):
    large = campaign(stores, "large", 4)
    for comment_id in large[:3]:
        rule(stores, comment_id, "reject")
    campaign(stores, "waiting", 3)
    campaign(stores, "elsewhere", 5, site=OTHER_SITE)
    campaign(stores, "pair", 2)

    campaigns = stores.figures.count(scope(site_ids=(SITE,))).campaigns

    assert campaigns == (
        CampaignCount(campaign_id="waiting", comments=3, waiting=3),
        CampaignCount(campaign_id="large", comments=4, waiting=1),
    )


def leaned(lean: float, *, name: str = SITE_DECISIONS) -> tuple[WeighedSignal, ...]:
    return (
        WeighedSignal(signal=make_signal("front_page_link"), weight=0.5, contribution=0.5),
        WeighedSignal(signal=make_signal(name), weight=5.0, contribution=lean),
    )


def test_who_was_asked_is_told_newest_or_oldest_first_of_the_named_sites(stores):
    keep(stores, Outcome.HAM, at=NOW - 3 * DAY)
    keep(stores, Outcome.UNSURE, at=NOW - 2 * DAY)
    keep(stores, Outcome.SPAM, at=NOW - DAY, audit=True)
    keep(stores, None)
    keep(stores, Outcome.UNSURE, site=OTHER_SITE)

    newest = stores.figures.asked((SITE,), newest_first=True, limit=2)
    oldest = stores.figures.asked(None, newest_first=False, limit=9)

    assert newest == [
        AskedAt(received_at=NOW - DAY, asked=True),
        AskedAt(received_at=NOW - 2 * DAY, asked=True),
    ]
    assert [one.asked for one in oldest] == [False, True, True, True]
    assert stores.figures.asked((), newest_first=True, limit=9) == []


def test_nobody_was_asked_about_what_was_imported_with_its_decision(stores):
    rule(stores, keep(stores), by=IMPORT)
    rule(stores, keep(stores, at=YESTERDAY), by="ada")

    found = stores.figures.asked(None, newest_first=True, limit=9)

    assert [one.received_at for one in found] == [YESTERDAY]


def test_verdicts_that_decisions_moved_are_told_with_what_they_were_compared_with(stores):
    keep(stores, Outcome.SPAM, signals=leaned(2.5), score=3.5, at=YESTERDAY)
    keep(stores, Outcome.UNSURE, signals=leaned(2.5, name="other"))
    keep(stores, Outcome.HAM, site=OTHER_SITE, signals=leaned(-1.0))
    entry = Instruction(
        entry_id="ent_1", effect=Effect.BLOCK, kind=EntryKind.DOMAIN, label="x.com", reason="x"
    )
    keep(stores, Outcome.SPAM, signals=leaned(1.0), instruction=entry)

    found = stores.figures.left(scope(site_ids=(SITE,)))

    assert found.leaned == (
        Leaned(
            day=YESTERDAY.date(),
            site_id=SITE,
            outcome=Outcome.SPAM,
            score=3.5,
            lean=2.5,
            model_version="test-1",
            ham_cutoff=0.1,
            spam_cutoff=0.9,
        ),
    )
    assert found.leaned_since is None
    assert sum(one.comments for one in found.days) == 3


def test_where_only_the_newest_were_looked_at_it_is_told_since_when(stores, monkeypatch):
    monkeypatch.setattr(stores.figures, "_limits", FigureLimits(leaned=2))
    for n in range(3):
        keep(stores, Outcome.SPAM, signals=leaned(1.0), at=NOW - n * DAY)

    found = stores.figures.left(scope())

    assert len(found.leaned) == 2
    assert found.leaned_since == NOW - DAY


def test_a_moved_verdict_is_told_with_what_stood_beside_the_words(stores):
    def weighed(name: str, contribution: float, kind: WeightKind | None) -> WeighedSignal:
        signal = make_signal(name, strength=0.5)
        return WeighedSignal(signal=signal, weight=1.0, contribution=contribution, kind=kind)

    beside = (
        weighed("too_fast", 1.5, WeightKind.LEARNT),
        weighed("honeypot_filled", 0.75, WeightKind.SET),
        weighed("sender_burst", 0.7, WeightKind.FITTED),
        weighed("copy_burst", 0.5, None),
        weighed(HELD_BACK, -1.25, WeightKind.SET),
    )
    keep(stores, Outcome.UNSURE, signals=(*beside, *leaned(2.5)))
    keep(stores, Outcome.UNSURE, signals=beside)

    [found] = stores.figures.left(scope()).leaned

    assert (found.lean, found.held_back) == (2.5, -1.25)
    assert found.beside == (
        SetSignal(name="honeypot_filled", strength=0.5, contribution=0.75, kind=WeightKind.SET),
        SetSignal(name="too_fast", strength=0.5, contribution=1.5, kind=WeightKind.LEARNT),
    )
