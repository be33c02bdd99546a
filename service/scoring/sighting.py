"""Says what of a judged comment is counted, so that drift can be told from counts alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from service.domain.comment import Comment
from service.domain.traffic import Fact, Kind, Name, Sighting
from service.domain.verdict import Outcome, Verdict
from service.reputation.linked_domains import linked_domains
from service.scoring.drift import score_step
from service.scoring.scripts import language_of

# A campaign's second comment leads to a domain that its first one made known.
NEW_FOR = timedelta(days=7)
# A comment with more is counted by its first ones.
MAX_DOMAINS = 50


def domains_of(comment: Comment) -> tuple[str, ...]:
    """Return digests of the registered domains that a comment offers, at most `MAX_DOMAINS`."""
    return tuple(
        hashlib.sha256(domain.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for domain in linked_domains(comment)[:MAX_DOMAINS]
    )


def leads_to_new(
    domains: tuple[str, ...], first_seen: Mapping[str, datetime], *, at: datetime
) -> bool:
    """Say whether one of these domains was first seen within `NEW_FOR` before this moment."""
    return any(first_seen.get(domain, at) > at - NEW_FOR for domain in domains)


def sighting_of(
    comment: Comment, verdict: Verdict, *, words_are_kept: bool, links: bool, new_domain: bool
) -> Sighting:
    """Return a judged comment as it is counted, on the UTC day of its verdict.

    Of a degraded verdict neither score nor signals count, as they lack some evidence. Without
    `words_are_kept` the comment was withdrawn: then it has no language.
    """
    facts = {
        Fact.VERDICTS: True,
        Fact.UNSURE: verdict.outcome is Outcome.UNSURE,
        Fact.DEGRADED: verdict.degraded,
        Fact.LINKING: links,
        Fact.NEW_DOMAIN: new_domain,
    }
    names: set[Name] = {(Kind.FACT, fact.value) for fact, true in facts.items() if true}
    if not verdict.degraded:
        names.add((Kind.SCORE, str(score_step(verdict.score))))
        names |= {(Kind.SIGNAL, weighed.signal.name) for weighed in verdict.signals}
    if words_are_kept:
        names.add((Kind.LANGUAGE, language_of(comment)))
    return Sighting(
        comment_id=comment.id,
        site_id=comment.site_id,
        day=verdict.judged_at.astimezone(UTC).date(),
        model_version=verdict.model_version,
        names=frozenset(names),
    )
