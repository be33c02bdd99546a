"""A site's rules hold what would be published, and nothing else."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Edit, Post
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.rules import Rule, RuleFacts, SiteRules
from service.domain.verdict import Outcome
from service.scoring.rules import apply_rules
from tests.factories import NOW, make_comment, make_verdict

DAY = timedelta(days=1)
KNOWN = RuleFacts(approved=3, first_approved=NOW - 30 * DAY)
SEEN = replace(KNOWN, post_seen=NOW - 10 * DAY)
NEW = RuleFacts()
URL = "https://blog.example/p/1"
LINK = {"text": "See https://boilers.example/a for the part."}
QUOTED = {"text": "> https://boilers.example/a\n\nYes."}
DATED = {"post": Post(url=URL, published_at=NOW - 10 * DAY)}
STAFF = {"edit": Edit.BY_STAFF}
FIRST = SiteRules(hold_first_comment=True)
OLD = SiteRules(max_post_days=9)
CLOSED = SiteRules(closed_posts=("http://www.Blog.example/p/1/#comments",))


@pytest.mark.parametrize(
    ("rules", "facts", "changes", "held_by"),
    [
        (FIRST, KNOWN, {}, None),
        (FIRST, NEW, {"edit": Edit.APPROVED}, None),
        (FIRST, NEW, STAFF, None),
        (SiteRules(link_min_approved=4), KNOWN, LINK, Rule.NEWCOMER_LINKS),
        (SiteRules(link_min_days=31), KNOWN, LINK, Rule.NEWCOMER_LINKS),
        (SiteRules(link_min_days=31), NEW, LINK, Rule.NEWCOMER_LINKS),
        (SiteRules(link_min_approved=3, link_min_days=30), KNOWN, LINK, None),
        (SiteRules(link_min_approved=4), NEW, {}, None),
        (SiteRules(max_links=0), NEW, QUOTED, Rule.MANY_LINKS),
        (SiteRules(max_links=1), KNOWN, LINK, None),
        (OLD, replace(KNOWN, post_seen=NOW), DATED, Rule.OLD_POST),
        (OLD, SEEN, {}, Rule.OLD_POST),
        (OLD, SEEN, {"post": Post(url=URL, published_at=NOW)}, None),
        (OLD, KNOWN, {"post": Post()}, None),
        (SiteRules(max_post_days=10), KNOWN, DATED, None),
        (CLOSED, NEW, STAFF, Rule.CLOSED_POST),
        (CLOSED, KNOWN, {"post": Post()}, None),
        (SiteRules(closed_posts=(f"{URL}2", "https://blog.example")), KNOWN, {}, None),
    ],
)
def test_a_rule_makes_unsure_what_would_be_ham_alone(rules, facts, changes, held_by):
    comment = make_comment(**changes)
    for outcome in Outcome:
        verdict = make_verdict(comment.id, outcome)
        holds = held_by and outcome is Outcome.HAM
        held = replace(verdict, outcome=Outcome.UNSURE, held_by=(held_by,)) if holds else verdict
        assert apply_rules(verdict, comment, rules, facts) == held


def test_an_allow_entry_stands_above_rules_but_not_above_those_of_its_post():
    allow = {"effect": Effect.ALLOW, "kind": EntryKind.EMAIL, "label": None, "reason": "Ours"}
    comment = make_comment()
    ham = make_verdict(comment.id, Outcome.HAM, instruction=Instruction(entry_id="e1", **allow))

    assert apply_rules(ham, comment, FIRST, NEW) == ham
    assert apply_rules(ham, comment, CLOSED, NEW).held_by == (Rule.CLOSED_POST,)
