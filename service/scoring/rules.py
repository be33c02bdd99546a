"""Holds comments by a site's rules, after the verdict; the score stays unchanged."""

from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

from service.domain.comment import Comment, Edit
from service.domain.form import page_key
from service.domain.list_entry import Effect
from service.domain.rules import Rule, RuleFacts, SiteRules
from service.domain.text import Phrase, bare_address
from service.domain.verdict import Outcome, Verdict
from service.signals.view import view_of

# Earlier versions of these were published, so that their authors are known here.
_OF_KNOWN = frozenset({Edit.APPROVED, Edit.ADDED_LINK, Edit.ADDED_OFFER})
REASONS = {
    Rule.FIRST_COMMENT: Phrase("its author has no approved comment here"),
    Rule.NEWCOMER_LINKS: Phrase("it has a link and its author is new here"),
    Rule.MANY_LINKS: Phrase("it has too many links"),
    Rule.OLD_POST: Phrase("the post is too old"),
    Rule.PREMODERATED_POST: Phrase("all comments on this post are moderated first"),
    Rule.CLOSED_POST: Phrase("comments on this post are closed"),
}


def apply_rules(verdict: Verdict, comment: Comment, rules: SiteRules, facts: RuleFacts) -> Verdict:
    """Return the verdict, unsure instead of ham where a rule holds the comment.

    An allow entry of the moderators and an edit by staff stand above all but the rules of a post.
    """
    held_by = _find_rules(verdict, comment, rules, facts) if verdict.outcome is Outcome.HAM else ()
    return replace(verdict, outcome=Outcome.UNSURE, held_by=held_by) if held_by else verdict


def _find_rules(
    verdict: Verdict, comment: Comment, rules: SiteRules, facts: RuleFacts
) -> tuple[Rule, ...]:
    page = _page(comment.post.url)
    if page and page in map(_page, rules.closed_posts):
        return (Rule.CLOSED_POST,)
    if page and page in map(_page, rules.premoderated_posts):
        return (Rule.PREMODERATED_POST,)
    entry, now = verdict.instruction, verdict.judged_at
    if comment.edit is Edit.BY_STAFF or (entry and entry.effect is Effect.ALLOW):
        return ()
    asks_links = rules.link_min_approved or rules.link_min_days or rules.max_links is not None
    links = len(view_of(comment).links) if asks_links else 0
    is_new = facts.approved < (rules.link_min_approved or 0) or now - (
        facts.first_approved or now
    ) < timedelta(days=rules.link_min_days or 0)
    post_age = now - (comment.post.published_at or facts.post_seen or now)
    holds = {
        Rule.FIRST_COMMENT: rules.hold_first_comment
        and not facts.approved
        and comment.edit not in _OF_KNOWN,
        Rule.NEWCOMER_LINKS: links and is_new,
        Rule.MANY_LINKS: rules.max_links is not None and links > rules.max_links,
        Rule.OLD_POST: rules.max_post_days and post_age > timedelta(days=rules.max_post_days),
    }
    return tuple(rule for rule, is_so in holds.items() if is_so)


@lru_cache(maxsize=1_024)
def _page(address: str | None) -> str:
    """Return the part that all addresses of one post share; empty without an address."""
    return page_key(address) or bare_address(address)
