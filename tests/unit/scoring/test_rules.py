"""A site's rules hold what would be published, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Edit, Post, Sender
from service.domain.decision import Ruling
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.rules import Rule, RuleFacts, RuleHit, SiteRules
from service.domain.rules_preview import PastComment
from service.domain.verdict import Outcome
from service.scoring.explanation import explain
from service.scoring.rules import apply_rules, preview_rules
from tests.factories import NOW, make_comment, make_verdict

DAY = timedelta(days=1)
LINK = "See https://boilers.example/a for the part."
KNOWN = RuleFacts(approved=3, first_approved=NOW - 30 * DAY)
POST = "https://blog.example/p/1"


def held(rules, facts=KNOWN, *, outcome=Outcome.HAM, instruction=None, **changes):
    comment = make_comment(**changes)
    verdict = make_verdict(comment.id, outcome, promo_spans=(), instruction=instruction)
    after = apply_rules(verdict, comment, rules, facts)
    assert after.score == verdict.score
    assert replace(after, outcome=outcome, held_by=()) == verdict
    assert (after.outcome is Outcome.UNSURE) == bool(after.held_by) or outcome is Outcome.UNSURE
    return after.held_by


FIRST = SiteRules(hold_first_comment=True)
CASES = {
    "first": (FIRST, RuleFacts(), {}, RuleHit(rule=Rule.FIRST_COMMENT)),
    "newcomer": (
        SiteRules(link_min_approved=4),
        KNOWN,
        {"text": LINK},
        RuleHit(rule=Rule.NEWCOMER_LINKS, number=4),
    ),
    "recent": (
        SiteRules(link_min_days=31),
        KNOWN,
        {"text": LINK},
        RuleHit(rule=Rule.RECENT_LINKS, number=31),
    ),
    "many": (
        SiteRules(max_links=0),
        KNOWN,
        {"text": LINK},
        RuleHit(rule=Rule.MANY_LINKS, number=0),
    ),
    "quoted": (
        SiteRules(max_links=0),
        KNOWN,
        {"text": "> https://boilers.example/a\n\nYes."},
        RuleHit(rule=Rule.MANY_LINKS, number=0),
    ),
    "old by date": (
        SiteRules(max_post_days=9),
        replace(KNOWN, post_seen=NOW),
        {"post": Post(url=POST, published_at=NOW - 10 * DAY)},
        RuleHit(rule=Rule.OLD_POST, number=9),
    ),
    "old by its first comment": (
        SiteRules(max_post_days=9),
        replace(KNOWN, post_seen=NOW - 10 * DAY),
        {},
        RuleHit(rule=Rule.OLD_POST, number=9),
    ),
    "unread": (SiteRules(link_min_days=1), None, {"text": LINK}, RuleHit(rule=Rule.UNKNOWN)),
    "closed": (SiteRules(closed_posts=(POST,)), KNOWN, {}, RuleHit(rule=Rule.CLOSED_POST)),
    "closed, written otherwise": (
        SiteRules(closed_posts=("http://www.Blog.example/p/1/#comments",)),
        KNOWN,
        {},
        RuleHit(rule=Rule.CLOSED_POST),
    ),
    "premoderated": (
        SiteRules(premoderated_posts=(POST,)),
        KNOWN,
        {},
        RuleHit(rule=Rule.PREMODERATED_POST),
    ),
}


@pytest.mark.parametrize(("rules", "facts", "changes", "hit"), CASES.values(), ids=CASES)
def test_a_rule_makes_unsure_what_would_be_ham_alone(rules, facts, changes, hit):
    assert held(rules, facts, **changes) == (hit,)
    assert held(SiteRules(), facts, **changes) == ()
    for outcome in (Outcome.UNSURE, Outcome.SPAM):
        assert held(rules, facts, outcome=outcome, **changes) == ()


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        (FIRST, {}),
        (FIRST, {"edit": Edit.APPROVED, "facts": RuleFacts()}),
        (FIRST, {"edit": Edit.BY_STAFF, "facts": RuleFacts()}),
        (SiteRules(link_min_approved=4, link_min_days=31), {}),
        (SiteRules(link_min_approved=3, link_min_days=30), {"text": LINK}),
        (SiteRules(max_links=1), {"text": LINK}),
        (SiteRules(max_post_days=10), {"post": Post(published_at=NOW - 10 * DAY)}),
        (SiteRules(max_post_days=10), {"post": Post()}),
        (SiteRules(closed_posts=(f"{POST}2",), premoderated_posts=("https://a.example",)), {}),
        (SiteRules(closed_posts=(POST,)), {"post": Post()}),
    ],
)
def test_what_no_rule_means_passes(rules, changes):
    assert held(rules, **changes) == ()


def test_an_allow_entry_stands_above_rules_but_not_above_those_of_its_post():
    entry = Instruction(
        entry_id="e1", effect=Effect.ALLOW, kind=EntryKind.EMAIL, label=None, reason="Ours"
    )
    strict = SiteRules(hold_first_comment=True, max_links=0)

    assert held(strict, RuleFacts(), instruction=entry, text=LINK) == ()
    closed = replace(strict, closed_posts=(POST,))
    assert held(closed, RuleFacts(), instruction=entry) == (RuleHit(rule=Rule.CLOSED_POST),)


def test_the_explanation_says_what_held_it_and_what_the_evidence_came_to():
    comment = make_comment(LINK)
    rules = SiteRules(max_links=0, hold_first_comment=True)
    ham = make_verdict(comment.id, Outcome.HAM)

    said = explain(apply_rules(ham, comment, rules, RuleFacts()))

    assert said[0] == (
        "Held by a rule of the site: it has too many links (more than 0); its author has no"
        " approved comment here."
    )
    assert said[1].startswith("By the evidence alone: ham")


def test_a_preview_knows_of_each_comment_what_was_known_when_it_came():
    def past(account, ruling=None, **changes):
        comment = make_comment(sender=Sender(account_key=account))
        values = {"was_ham": True, "is_published": ruling is not Ruling.REJECT, "ruling": ruling}
        return PastComment(comment=comment, facts=RuleFacts(), **(values | changes))

    found = preview_rules(
        FIRST,
        [
            past("mara"),
            past("mara"),
            past("spam", Ruling.REJECT),
            past("spam", Ruling.REJECT),
            past("unsure first", Ruling.APPROVE, was_ham=False),
            past("unsure first", Ruling.APPROVE),
            past("allowed", is_allowed=True),
            past(None),
        ],
        since=NOW,
    )

    assert (found.seen, found.held, found.approved, found.rejected) == (7, 4, 0, 2)
    assert found.by_rule == {Rule.FIRST_COMMENT: 4}
