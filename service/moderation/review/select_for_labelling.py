"""Lists the waiting comments whose decisions would teach a retraining most."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from service.domain.case import Case, CaseFilter, CasePage, Order
from service.domain.comment import Comment, SiteId
from service.domain.search_words import words_of
from service.domain.verdict import Outcome
from service.ports.services import CommonPorts, ReviewPorts, Services
from service.scoring.select_for_labelling import (
    MAX_CANDIDATES,
    MAX_CHOSEN,
    Candidate,
    select_for_labelling,
)
from service.scoring.sighting import domains_of, leads_to_new

log = logging.getLogger(__name__)

# What comes later in a long text makes it no likelier another one.
_WORDS = 200
_CHARS = 2_000


def list_for_labelling(services: Services, *, site_ids: tuple[SiteId, ...] | None) -> CasePage:
    """Return the unsure comments that teach most, the best first; at most `MAX_CHOSEN`.

    They are chosen among the newest `MAX_CANDIDATES` that wait, degraded ones left out: of those
    the machine's doubt says nothing. There is no further page. Raises `StoreUnavailableError`.
    """
    page = services.review.cases.page(
        _waiting_unsure(site_ids, services.common),
        order=Order.NEWEST,
        cursor=None,
        limit=MAX_CANDIDATES,
    )
    domains = {case.comment.id: _domains(case.comment) for case in page.cases}
    known = sorted({domain for some in domains.values() for domain in some})
    first_seen = services.insight.traffic.first_seen(known)
    candidates = [
        candidate
        for case in page.cases
        for candidate in _candidate(case, domains[case.comment.id], first_seen)
    ]
    by_id = {case.comment.id: case for case in page.cases}
    chosen = select_for_labelling(candidates, most=MAX_CHOSEN)
    return CasePage(cases=tuple(by_id[comment_id] for comment_id in chosen))


def count_for_labelling(
    review: ReviewPorts, common: CommonPorts, *, site_ids: tuple[SiteId, ...] | None
) -> int:
    """Return how many `list_for_labelling` lists at most, without choosing them."""
    return min(MAX_CHOSEN, review.cases.count(_waiting_unsure(site_ids, common)))


def _waiting_unsure(site_ids: tuple[SiteId, ...] | None, common: CommonPorts) -> CaseFilter:
    return CaseFilter(
        site_ids=site_ids,
        needs_review=True,
        outcome=Outcome.UNSURE,
        degraded=False,
        awake_at=common.clock(),
    )


def _domains(comment: Comment) -> tuple[str, ...]:
    try:
        return domains_of(comment)
    except Exception as error:  # noqa: BLE001  # one odd comment must not keep the others from the list
        log.error(  # noqa: TRY400  # a traceback could carry the comment's text
            "a comment's links cannot be read",
            extra={"comment_id": comment.id, "error": type(error).__name__},
        )
        return ()


def _candidate(
    case: Case, domains: Sequence[str], first_seen: Mapping[str, datetime]
) -> Iterator[Candidate]:
    comment, verdict = case.comment, case.verdict
    if verdict is None:
        return
    yield Candidate(
        comment_id=comment.id,
        site_id=comment.site_id,
        p_spam=verdict.p_spam,
        ham_cutoff=verdict.ham_cutoff,
        spam_cutoff=verdict.spam_cutoff,
        kinds=frozenset(_kinds(case, domains)),
        words=frozenset(words_of(comment.text[:_CHARS])[:_WORDS]),
        signals=frozenset(weighed.signal.name for weighed in verdict.signals),
        is_new=leads_to_new(tuple(domains), first_seen, at=comment.received_at),
    )


def _kinds(case: Case, domains: Sequence[str]) -> Iterator[str]:
    """Yield what a comment has in common with those of its campaign and of its sender."""
    if case.campaign_id is not None:
        yield f"campaign:{case.campaign_id}"
    yield from (f"domain:{domain}" for domain in domains)
    sender = case.comment.sender
    for name, key in (
        ("address", sender.address_key),
        ("e-mail", sender.email_key),
        ("name", sender.name_key),
    ):
        if key is not None:
            yield f"{name}:{key}"
