"""A site's rules hold what would be published, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Edit, Post
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.rules import Rule, RuleFacts, SiteRules
from service.domain.verdict import Outcome
from service.scoring.explanation import explain
from service.scoring.rules import apply_rules
from tests.factories import NOW, make_comment, make_verdict

DAY = timedelta(days=1)
KNOWN = RuleFacts(approved=3, first_approved=NOW - 30 * DAY)
URL = "https://blog.example/p/1"
LINK = {"text": "See https://boilers.example/a for the part."}
QUOTED = {"text": "> https://boilers.example/a\n\nYes."}
DATED = {"post": Post(url=URL, published_at=NOW - 10 * DAY)}
STAFF = {"edit": Edit.BY_STAFF}
SEEN = replace(KNOWN, post_seen=NOW - 10 * DAY)
FIRST, ANY_LINK, OLD = (
    SiteRules(hold_first_comment=True),
    SiteRules(max_links=0),
    SiteRules(max_post_days=9),
)
CLOSED = SiteRules(closed_posts=("http://www.Blog.example/p/1/#comments",))
FEW, RECENT = SiteRules(link_min_approved=4), SiteRules(link_min_days=31)


def held(rules, facts, outcome=Outcome.HAM, instruction=None, **changes):
    comment = make_comment(**changes)
    verdict = make_verdict(comment.id, outcome, instruction=instruction)
    after = apply_rules(verdict, comment, rules, facts)
    assert replace(after, outcome=outcome, held_by=()) == verdict
    return after.held_by


@pytest.mark.parametrize(
    ("rules", "facts", "changes", "rule"),
    [
        (FIRST, RuleFacts(), {}, Rule.FIRST_COMMENT),
        (FEW, KNOWN, LINK, Rule.NEWCOMER_LINKS),
        (RECENT, KNOWN, LINK, Rule.NEWCOMER_LINKS),
        (RECENT, RuleFacts(), LINK, Rule.NEWCOMER_LINKS),
        (ANY_LINK, KNOWN, LINK, Rule.MANY_LINKS),
        (ANY_LINK, None, QUOTED, Rule.MANY_LINKS),
        (OLD, replace(KNOWN, post_seen=NOW), DATED, Rule.OLD_POST),
        (OLD, SEEN, {}, Rule.OLD_POST),
        (FIRST, None, {}, Rule.UNKNOWN),
        (OLD, None, {}, Rule.UNKNOWN),
        (CLOSED, None, STAFF, Rule.CLOSED_POST),
        (SiteRules(premoderated_posts=(URL,)), KNOWN, {}, Rule.PREMODERATED_POST),
    ],
)
def test_a_rule_makes_unsure_what_would_be_ham_alone(rules, facts, changes, rule):
    assert held(rules, facts, **changes) == (rule,)
    for outcome in (Outcome.UNSURE, Outcome.SPAM):
        assert held(rules, facts, outcome, **changes) == ()


@pytest.mark.parametrize(
    ("rules", "facts", "changes"),
    [
        (FIRST, KNOWN, {}),
        (FIRST, RuleFacts(), {"edit": Edit.APPROVED}),
        (FIRST, RuleFacts(), STAFF),
        (FEW, RuleFacts(), {}),
        (SiteRules(link_min_approved=3, link_min_days=30), KNOWN, LINK),
        (SiteRules(max_links=1), KNOWN, LINK),
        (SiteRules(max_post_days=10), KNOWN, DATED),
        (OLD, SEEN, {"post": Post(url=URL, published_at=NOW)}),
        (OLD, KNOWN, {"post": Post()}),
        (SiteRules(closed_posts=(f"{URL}2", "https://blog.example")), KNOWN, {}),
        (CLOSED, KNOWN, {"post": Post()}),
        (SiteRules(), None, LINK),
    ],
)
def test_what_no_rule_means_passes(rules, facts, changes):
    assert held(rules, facts, **changes) == ()


def test_an_allow_entry_stands_above_rules_but_not_above_those_of_its_post():
    entry = Instruction(
        entry_id="e1", effect=Effect.ALLOW, kind=EntryKind.EMAIL, label=None, reason="Ours"
    )

    assert held(replace(FIRST, max_links=0), RuleFacts(), instruction=entry, **LINK) == ()
    assert held(CLOSED, KNOWN, instruction=entry) == (Rule.CLOSED_POST,)


def test_the_explanation_says_what_held_it_and_what_the_evidence_came_to():
    comment = make_comment(**LINK)
    ham = make_verdict(comment.id, Outcome.HAM)

    said = explain(apply_rules(ham, comment, replace(FIRST, max_links=0), RuleFacts()))

    assert said[0] == (
        "Held by a rule of the site: its author has no approved comment here; it has too many"
        " links."
    )
    assert said[1].startswith("By the evidence alone: ham")
