"""Holds every store of verdicts, rule facts, reports, appeals and claims to its contract."""

import math
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.case import Appeal, Claim
from service.domain.comment import CommentId, Label, Post, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.rules import Rule, RuleFacts, SiteRules
from service.domain.user import User
from service.domain.verdict import Outcome, Span, WeighedSignal, WeightKind
from tests.contract.conftest import at_once, to_review
from tests.factories import (
    NOW,
    SITE,
    add_appeal,
    keep_one,
    make_comment,
    make_decision,
    make_delivery,
    make_entry,
    make_report,
    make_signal,
    make_verdict,
)

INSTRUCTED = Instruction(
    entry_id="ent_1",
    effect=Effect.BLOCK,
    kind=EntryKind.PHRASE,
    label="pills \x00 % example",
    reason="Sells pills",
)
WEIGHED = tuple(
    WeighedSignal(
        signal=make_signal(name, strength=1 / 3, spans=spans, boundaries=boundaries),
        weight=math.pi,
        contribution=math.pi / 3,
        kind=WeightKind.LEARNT,
        decisions=34,
    )
    for name, spans, boundaries in (
        ("shortened_link", (Span(start=2, end=9),), (2, 9)),
        ("abrupt_shift", (), ()),
    )
)


@pytest.mark.parametrize(
    "told",
    [
        {
            "signals": WEIGHED,
            "promo_spans": (Span(start=0, end=4), Span(start=7, end=70_000)),
            "score": 0.1 + 0.2,
            "p_spam": math.nextafter(0.5, 1),
            "model_p_spam": 5e-324,
            "model_contribution": -1e300,
        },
        {"outcome": Outcome.SPAM, "instruction": INSTRUCTED},
        {"outcome": Outcome.SPAM, "instruction": replace(INSTRUCTED, label=None)},
        {
            "model_p_spam": None,
            "signals": (),
            "promo_spans": (),
            "degraded_by": ("history", "model"),
        },
    ],
    ids=["of odd numbers", "instructed", "of an erased label", "degraded"],
)
def test_a_verdict_comes_back_as_it_was_to_the_last_bit(stores, told):
    kept = keep_one(stores)
    stores.list_entries.add([make_entry(id="ent_1")])
    verdict = make_verdict(kept, **told)

    stores.verdicts.add([verdict], audit=frozenset())

    assert stores.cases.get(kept).verdict == verdict


def test_the_first_verdict_stays_untouched_and_what_is_told_of_another_is_not_kept(stores):
    judged, fresh, unknown = keep_one(stores), keep_one(stores), CommentId("unknown")
    first = make_verdict(judged, Outcome.HAM)
    stores.verdicts.add([first], audit=frozenset())
    deliveries = [make_delivery(one) for one in (fresh, judged, unknown)]

    stored = stores.verdicts.add(
        [make_verdict(one, Outcome.SPAM) for one in (judged, fresh, unknown)],
        audit=frozenset([judged]),
        deliveries=deliveries,
    )

    case = stores.cases.get(judged)
    kept = stores.deliveries.recent(state=None, site_id=None, limit=9)
    assert stored == [fresh]
    assert (case.verdict, case.audit) == (first, False)
    assert [one.id for one in kept] == [deliveries[0].id]


def test_of_several_judges_of_one_comment_exactly_one_is_heard(stores):
    for one in [keep_one(stores) for _ in range(20)]:
        verdicts = [make_verdict(one, model_version=f"judge-{number}") for number in range(4)]

        stored = at_once(
            *(partial(stores.verdicts.add, [verdict], audit=frozenset()) for verdict in verdicts)
        )

        assert sorted(stored) == [[], [], [], [one]]
        assert stores.cases.get(one).verdict == verdicts[stored.index([one])]


def test_judges_whose_batches_cross_do_not_hinder_each_other(stores):
    ids = [keep_one(stores) for _ in range(40)]
    batches = [[make_verdict(one) for one in order] for order in (ids, ids[::-1]) * 6]

    stored = at_once(*(partial(stores.verdicts.add, one, audit=frozenset()) for one in batches))

    assert sorted(one for batch in stored for one in batch) == sorted(ids)


DAY = timedelta(days=1)
PERSON = SiteRules(hold_first_comment=True)
BOTH = SiteRules(hold_first_comment=True, max_post_days=30)
MARA = Sender(account_key="mara", before_rotation=Sender(account_key="an older key"))
OTHER_POST = Post(url="https://blog.example/p/2")


def keep(stores, outcome, ruling=None, *, account="mara", days=0, **changes):
    received, sender = NOW - days * DAY, Sender(account_key=account)
    kept = keep_one(stores, outcome, sender=sender, received_at=received, **changes)
    if ruling:
        stores.decisions.add(make_decision(f"d-{kept}", kept, ruling))
    return kept


def test_an_authors_published_comments_count_and_the_first_comment_under_a_post(stores):
    keep(stores, Outcome.HAM, days=9)
    keep(stores, Outcome.UNSURE, Ruling.APPROVE, days=8)
    keep(stores, Outcome.SPAM, Ruling.APPROVE, days=7, account="an older key")
    keep(stores, Outcome.HAM, Ruling.REJECT, days=20, post=OTHER_POST)
    held_by = (Rule.MANY_LINKS,)
    held = keep(stores, Outcome.UNSURE, days=20, verdict={"held_by": held_by}, post=OTHER_POST)
    stores.personal_data.withdraw([keep(stores, Outcome.HAM, days=50, post=OTHER_POST)], at=NOW)
    there = make_comment(sender=MARA, post=OTHER_POST)
    stranger = make_comment(sender=Sender(account_key="nobody"))
    dated = make_comment(post=Post(published_at=NOW))

    assert stores.cases.get(held).verdict.held_by == held_by
    first, oldest = NOW - 9 * DAY, NOW - 50 * DAY
    assert stores.verdicts.find_rule_facts([(one, BOTH) for one in (there, stranger, dated)]) == [
        RuleFacts(approved=3, first_approved=first, post_seen=oldest),
        RuleFacts(post_seen=first),
        RuleFacts(),
    ]
    [earlier] = stores.verdicts.find_rule_facts([(there, PERSON)], before=NOW - 8 * DAY)
    assert earlier == RuleFacts(approved=1, first_approved=first)


def test_a_report_that_says_what_the_newest_says_or_has_a_known_id_changes_nothing(stores):
    kept = keep_one(stores, Outcome.HAM)
    unseen = make_report(None)
    first = make_report(kept, Label.HAM, reported_by="Zoë from the front desk ☎")

    answers = [
        *(stores.reports.add(unseen) for _ in range(2)),
        stores.reports.add(first),
        stores.reports.add(make_report(kept, Label.HAM, reported_by="somebody else")),
        stores.reports.add(make_report(kept, Label.SPAM, id=first.id)),
    ]

    assert answers == [True, False, True, False, False]
    assert stores.cases.get(kept).reports == (first,)
    assert to_review(stores) == []


def test_a_report_of_an_unknown_comment_or_site_is_refused(stores):
    elsewhere = keep_one(stores, Outcome.SPAM, site_id=SiteId("site-2"))
    wrong = (
        make_report(CommentId("no")),
        make_report(elsewhere),
        make_report(None, site_id=SiteId("no")),
    )

    for report in wrong:
        with pytest.raises(NotFoundError):
            stores.reports.add(report)

    assert stores.cases.get(elsewhere).reports == ()
    assert to_review(stores) == []


@pytest.mark.parametrize("outcome", [Outcome.HAM, Outcome.SPAM])
@pytest.mark.parametrize("label", [Label.HAM, Label.SPAM])
def test_a_report_brings_the_comment_before_a_moderator_if_it_contradicts_the_verdict(
    stores, outcome, label
):
    kept = keep_one(stores, outcome)

    stores.reports.add(make_report(kept, label))

    contradicts = label.value != outcome.value
    assert to_review(stores) == ([kept] if contradicts else [])
    assert stores.cases.get(kept).disputed is contradicts
    assert stores.cases.get(kept).reports
    stores.reports.add(make_report(kept, Label(outcome.value)))
    assert to_review(stores) == []


def test_in_review_disputed_comments_and_audit_samples_wait_together_by_age(stores):
    disputed = {
        age: keep_one(stores, Outcome.SPAM, received_at=NOW - timedelta(hours=age))
        for age in (40, 20)
    }
    audited = {
        age: keep_one(stores, Outcome.HAM, audit=True, received_at=NOW - timedelta(hours=age))
        for age in (30, 10)
    }
    unsure = keep_one(stores, Outcome.UNSURE)
    for kept in (*disputed.values(), unsure):
        stores.reports.add(make_report(kept))

    queue = to_review(stores)

    assert queue == [unsure, disputed[40], audited[30], disputed[20], audited[10]]


def test_an_audit_sample_stays_one_when_a_report_agrees(stores):
    kept = keep_one(stores, Outcome.SPAM, audit=True)

    stores.reports.add(make_report(kept, Label.SPAM))

    assert to_review(stores) == [kept]


def test_a_report_before_the_verdict_counts_when_the_verdict_comes(stores):
    contradicted, confirmed = keep_one(stores), keep_one(stores)
    for kept in (contradicted, confirmed):
        stores.reports.add(make_report(kept, Label.HAM))
    seen = [to_review(stores)]

    stores.verdicts.add(
        [make_verdict(contradicted, Outcome.SPAM), make_verdict(confirmed, Outcome.HAM)],
        audit=frozenset(),
    )
    seen.append(to_review(stores))

    assert seen == [[], [contradicted]]


@pytest.mark.parametrize("reported_first", [True, False])
def test_a_decision_settles_a_dispute_and_undo_reopens_it(stores, reported_first):
    kept = keep_one(stores, Outcome.SPAM)
    if reported_first:
        stores.reports.add(make_report(kept))
    seen = [to_review(stores)]

    stores.decisions.add(make_decision("d1", kept, Ruling.APPROVE))
    if not reported_first:
        stores.reports.add(make_report(kept))
    seen.append(to_review(stores))
    stores.decisions.undo(kept, by="ada", at=NOW)
    seen.append(to_review(stores))

    assert seen == [[kept] if reported_first else [], [], [kept]]


def test_of_equal_reports_at_the_same_time_one_is_kept(stores):
    for one in [keep_one(stores, Outcome.SPAM) for _ in range(5)]:
        answers = at_once(*(partial(stores.reports.add, make_report(one)) for _ in range(4)))

        assert sum(answers) == 1
        assert len(stores.cases.get(one).reports) == 1


def test_reports_verdicts_and_decisions_at_the_same_time_leave_a_true_queue(stores):
    ids = [keep_one(stores) for _ in range(12)]

    def report() -> None:
        for one in ids:
            stores.reports.add(make_report(one))

    def judge() -> None:
        for start in range(0, 12, 3):
            some = [make_verdict(one, Outcome.SPAM) for one in ids[start : start + 3]]
            stores.verdicts.add(some, audit=frozenset())

    def rule() -> None:
        for one in ids[::2]:
            stores.decisions.add(make_decision(f"d-{one}", one, Ruling.APPROVE))

    at_once(report, judge, rule)

    assert sorted(to_review(stores)) == sorted(ids[1::2])


def test_an_appeal_comes_first_once_until_a_person_answers_it_by_itself(stores):
    spam = keep_one(stores, Outcome.SPAM)
    unsure = keep_one(stores, Outcome.UNSURE, received_at=NOW - timedelta(hours=90))
    rejected = keep_one(stores, Outcome.UNSURE, received_at=NOW - timedelta(hours=1))
    by_policy, together, alone = (
        make_decision(f"d{number}", rejected, decided_by=by)
        for number, by in enumerate((CAMPAIGN_POLICY, "ada", "ada"))
    )

    kept = at_once(*(partial(add_appeal, stores, spam, f"{n} \x00") for n in range(4)))
    add_appeal(stores, rejected)
    stores.decisions.add(by_policy)
    stores.reports.add(make_report(spam))
    stores.comments.reposition(SITE, after=None, limit=9)

    assert sorted(kept) == [False, False, False, True]
    assert not add_appeal(stores, keep_one(stores, Outcome.HAM))
    appeal = stores.cases.get(spam).appeal
    assert appeal == Appeal(text=f"{kept.index(True)} \x00", at=NOW, is_open=True)
    assert [one.subject for one in stores.audit_log.recent()] == [rejected, rejected, spam]
    assert stores.decisions.add_many([together]) == []
    assert to_review(stores) == [rejected, spam, unsure]
    stores.decisions.add(alone)
    assert to_review(stores) == [spam, unsure]
    stores.decisions.undo(rejected, by="ada", at=NOW)
    assert to_review(stores) == [rejected, spam, unsure]
    stores.personal_data.withdraw([rejected], at=NOW)
    assert to_review(stores) == [spam, unsure]
    with pytest.raises(NotFoundError):
        add_appeal(stores, rejected)


ONE, OTHER = CommentId("c1"), CommentId("c2")


def claim(user: str, comment_id: CommentId = ONE, *, after: float = 0) -> Claim:
    since = NOW + timedelta(seconds=after)
    return Claim(
        comment_id=comment_id,
        user_id=user,
        user_name=user.title(),
        since=since,
        until=since + timedelta(seconds=90),
    )


def test_a_renewed_claim_keeps_its_beginning_and_one_elsewhere_ends_it(stores):
    stores.claims.take(claim("ada"))

    renewed = stores.claims.take(claim("ada", after=60))
    stores.claims.take(claim("ada", OTHER, after=65))

    assert (renewed.since, renewed.until) == (NOW, NOW + timedelta(seconds=150))
    assert set(stores.claims.find([ONE, OTHER], now=NOW + timedelta(seconds=66))) == {OTHER}


def test_a_claim_that_ran_out_is_free_to_all_and_begins_anew(stores):
    stores.claims.take(claim("ada"))

    assert stores.claims.find([ONE], now=NOW + timedelta(seconds=90)) == {}
    assert stores.claims.take(claim("ada", after=90)) == claim("ada", after=90)
    assert stores.claims.take(claim("mara", after=180)) == claim("mara", after=180)


def test_a_claim_is_ended_by_its_holder_or_whoever_settles_the_comment(stores):
    stores.claims.take(claim("ada"))

    stores.claims.end(ONE, user_id="mara")
    while_held = stores.claims.find([ONE], now=NOW)
    stores.claims.end(ONE)
    stores.claims.end(ONE)

    assert set(while_held) == {ONE}
    assert stores.claims.find([ONE], now=NOW) == {}


def test_of_many_who_claim_at_once_one_gets_it(stores):
    held = at_once(*(partial(stores.claims.take, claim(f"user-{n}")) for n in range(6)))

    assert len({one.user_id for one in held}) == 1


def test_of_two_comments_that_one_moderator_opens_at_once_one_is_claimed(stores):
    stores.users.add(User(id="ada", name="Ada", password_hash="$x", created_at=NOW))

    for _ in range(40):
        at_once(*(partial(stores.claims.take, claim("ada", one)) for one in (ONE, OTHER)))

        [held] = stores.claims.find([ONE, OTHER], now=NOW)
        stores.claims.end(held)
