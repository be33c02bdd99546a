"""Holds the store to what rules need to know of a comment's author and post."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.comment import Post, Sender
from service.domain.decision import Ruling
from service.domain.verdict import Outcome, Rule, RuleFacts, SiteRules
from tests.factories import NOW, keep_one, make_comment, make_decision

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
    assert stores.rule_facts.find([(one, BOTH) for one in (there, stranger, dated)]) == [
        RuleFacts(approved=3, first_approved=first, post_seen=oldest),
        RuleFacts(post_seen=first),
        RuleFacts(),
    ]
    [earlier] = stores.rule_facts.find([(there, PERSON)], before=NOW - 8 * DAY)
    assert earlier == RuleFacts(approved=1, first_approved=first)


@pytest.mark.parametrize(
    ("rules", "statements"), [((SiteRules(max_links=1),), 0), ((PERSON,), 1), ((PERSON, BOTH), 2)]
)
def test_only_rules_that_ask_cost_a_statement_and_that_once_a_batch(stores, rules, statements):
    said = []
    engine = stores.rule_facts._engine
    sa.event.listen(engine, "before_cursor_execute", lambda *given: said.append(given[2]))

    stores.rule_facts.find([(make_comment(sender=MARA), one) for one in rules for _ in range(9)])

    assert len([one for one in said if one.startswith("SELECT")]) == statements
