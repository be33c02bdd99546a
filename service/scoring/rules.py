"""Holds what a site's rules hold: a step after the verdict, of which the score knows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from urllib.parse import unquote

from service.domain.comment import Comment, Edit
from service.domain.decision import Ruling
from service.domain.form import page_key
from service.domain.normal_form import bare_address
from service.domain.phrase import Phrase, noted
from service.domain.rules import NO_RULES, Rule, RuleFacts, RuleHit, SiteRules
from service.domain.rules_preview import PastComment, RulesPreview
from service.domain.verdict import Outcome, Verdict
from service.signals.view import view_of

# Earlier versions of these were published, so that their authors are known here.
_OF_KNOWN = frozenset({Edit.APPROVED, Edit.ADDED_LINK, Edit.ADDED_OFFER})
_REASONS = {
    Rule.CLOSED_POST: noted("comments on this post are closed"),
    Rule.PREMODERATED_POST: noted("all comments on this post are moderated first"),
    Rule.FIRST_COMMENT: noted("its author has no approved comment here"),
    Rule.NEWCOMER_LINKS: noted(
        "it has a link and its author too few approved comments here (fewer than %(n)s)"
    ),
    Rule.RECENT_LINKS: noted(
        "it has a link and its author's first approved comment is too new (days asked for: %(n)s)"
    ),
    Rule.OLD_POST: noted("the post is too old (days allowed: %(n)s)"),
    Rule.MANY_LINKS: noted("it has too many links (more than %(n)s)"),
    Rule.UNKNOWN: noted("a rule needs its author's or its post's past, which could not be read"),
}


def reason_of(hit: RuleHit) -> Phrase:
    """Return why the rule held the comment, as a clause."""
    template = _REASONS[hit.rule]
    return Phrase(template) if hit.number is None else Phrase(template, n=hit.number)


def apply_rules(
    verdict: Verdict, comment: Comment, rules: SiteRules, facts: RuleFacts | None
) -> Verdict:
    """Return the verdict, unsure instead of ham where a rule holds the comment.

    An allow entry of the moderators and an edit by staff stand above all but the rules of a post.
    """
    if rules == NO_RULES or verdict.outcome is not Outcome.HAM:
        return verdict
    hits = find_hits(
        rules, comment, facts, at=verdict.judged_at, is_allowed=verdict.followed is not None
    )
    return replace(verdict, outcome=Outcome.UNSURE, held_by=hits) if hits else verdict


def find_hits(
    rules: SiteRules, comment: Comment, facts: RuleFacts | None, *, at: datetime, is_allowed: bool
) -> tuple[RuleHit, ...]:
    """Return which rules hold a comment; `facts` None are those that could not be read."""
    page = _page(comment.post.url)
    if page and page in map(_page, rules.closed_posts):
        return (RuleHit(rule=Rule.CLOSED_POST),)
    if page and page in map(_page, rules.premoderated_posts):
        return (RuleHit(rule=Rule.PREMODERATED_POST),)
    is_trusted = is_allowed or comment.edit is Edit.BY_STAFF
    return () if is_trusted else tuple(_hits(rules, comment, facts, at))


def _hits(
    rules: SiteRules, comment: Comment, facts: RuleFacts | None, at: datetime
) -> Iterator[RuleHit]:
    asks_links = rules.link_min_approved or rules.link_min_days or rules.max_links is not None
    links = len(view_of(comment).links) if asks_links else 0
    if rules.max_links is not None and links > rules.max_links:
        yield RuleHit(rule=Rule.MANY_LINKS, number=rules.max_links)
    if facts is None:
        yield RuleHit(rule=Rule.UNKNOWN)
        return
    since = comment.post.published_at or facts.post_seen
    if rules.max_post_days and since and at - since > timedelta(days=rules.max_post_days):
        yield RuleHit(rule=Rule.OLD_POST, number=rules.max_post_days)
    if rules.hold_first_comment and not facts.approved and comment.edit not in _OF_KNOWN:
        yield RuleHit(rule=Rule.FIRST_COMMENT)
    if links and rules.link_min_approved and facts.approved < rules.link_min_approved:
        yield RuleHit(rule=Rule.NEWCOMER_LINKS, number=rules.link_min_approved)
    known_for = at - facts.first_approved if facts.first_approved else timedelta()
    if links and rules.link_min_days and known_for < timedelta(days=rules.link_min_days):
        yield RuleHit(rule=Rule.RECENT_LINKS, number=rules.link_min_days)


def preview_rules(
    rules: SiteRules, past: Sequence[PastComment], *, since: datetime
) -> RulesPreview:
    """Return what rules would have held of these comments, which come in order of time.

    Each is looked at with what was known when it came.
    """
    preview = RulesPreview(since=since)
    authors: dict[str, RuleFacts] = {}
    for one in past:
        at, account = one.comment.received_at, one.comment.sender.account_key
        facts = one.facts
        if account in authors:
            known = authors[account]
            facts = replace(
                facts,
                approved=facts.approved + known.approved,
                first_approved=facts.first_approved or known.first_approved,
            )
        if account and one.is_published:
            known = authors.get(account, RuleFacts(first_approved=at))
            authors[account] = replace(known, approved=known.approved + 1)
        if not one.was_ham:
            continue
        hits = find_hits(rules, one.comment, facts, at=at, is_allowed=one.is_allowed)
        preview.seen += 1
        if hits:
            preview.held += 1
            preview.approved += one.ruling is Ruling.APPROVE
            preview.rejected += one.ruling is Ruling.REJECT
            preview.by_rule.update(hit.rule for hit in hits)
    return preview


@lru_cache(maxsize=1_024)
def _page(address: str | None) -> str:
    """Return what two addresses of one post have in common, nothing for none."""
    plain = unquote(address or "")
    return page_key(plain) or bare_address(plain)
