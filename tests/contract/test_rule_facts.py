"""Holds the store to what rules need to know of a comment's author and post."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.comment import Post, Sender
from service.domain.decision import Ruling
from service.domain.rules import Rule, RuleFacts, SiteRules
from service.domain.verdict import Outcome
from tests.factories import NOW, keep_all, make_comment, make_decision, make_verdict

DAY = timedelta(days=1)
PERSON = SiteRules(hold_first_comment=True)
OLD = SiteRules(max_post_days=30)
OTHER_POST = Post(url="https://blog.example/p/2")


def keep(stores, outcome=Outcome.HAM, ruling=None, *, account="mara", days=0, **changes):
    sender = Sender(account_key=account)
    comment = make_comment(sender=sender, received_at=NOW - days * DAY, **changes)
    keep_all(stores.comments, comment)
    held_by = (Rule.MANY_LINKS,) if outcome is None else ()
    verdict = make_verdict(comment.id, outcome or Outcome.UNSURE, held_by=held_by)
    stores.verdicts.add([verdict], audit=frozenset())
    if ruling:
        stores.decisions.add(make_decision(f"d-{comment.id}", comment.id, ruling))
    return comment


def test_an_authors_published_comments_count_and_the_first_comment_under_a_post(stores):
    first = keep(stores, days=9)
    keep(stores, Outcome.UNSURE, Ruling.APPROVE, days=8)
    keep(stores, Outcome.SPAM, Ruling.APPROVE, days=7, account="an older key")
    for outcome, ruling in ((Outcome.HAM, Ruling.REJECT), (Outcome.UNSURE, None)):
        keep(stores, outcome, ruling, days=20, post=OTHER_POST)
    held = keep(stores, None)
    gone = keep(stores, days=50, post=OTHER_POST)
    stores.comments.withdraw(gone.id, at=NOW)
    sender = Sender(account_key="mara", before_rotation=Sender(account_key="an older key"))
    comments = [
        make_comment(sender=sender, post=OTHER_POST),
        make_comment(sender=Sender(account_key="nobody")),
        make_comment(post=Post(published_at=NOW)),
    ]

    assert stores.cases.get(held.id).verdict.held_by == (Rule.MANY_LINKS,)
    both = SiteRules(hold_first_comment=True, max_post_days=1)
    found = stores.rule_facts.find([(one, both) for one in comments])

    assert found == [
        RuleFacts(approved=3, first_approved=first.received_at, post_seen=gone.received_at),
        RuleFacts(post_seen=first.received_at),
        RuleFacts(),
    ]
    [earlier] = stores.rule_facts.find([(comments[0], PERSON)], before=NOW - 8 * DAY)
    assert earlier == RuleFacts(approved=1, first_approved=first.received_at)


@pytest.mark.parametrize(
    ("rules", "statements"),
    [((SiteRules(max_links=1), SiteRules()), 0), ((PERSON,), 1), ((PERSON, OLD), 2)],
)
def test_only_rules_that_ask_cost_a_statement_and_that_once_a_batch(stores, rules, statements):
    said = []
    engine = stores.rule_facts._engine
    sa.event.listen(engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    sender = Sender(account_key="mara")

    stores.rule_facts.find([(make_comment(sender=sender), one) for one in rules for _ in range(9)])

    assert len([one for one in said if one.startswith("SELECT")]) == statements
