"""Offers what moved over a cutoff since it was judged, to be decided in one go by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, abort, render_template, url_for
from flask.typing import ResponseReturnValue

from service.domain.campaign import LOW_P_SPAM
from service.domain.comment import SiteId
from service.domain.site import Site
from service.domain.user import Permission
from service.domain.verdict import Outcome
from service.moderation.review.anew import AnewBook, Moved
from service.moderation.review.bulk_decisions import BULK_DECISION_ASKS_BEYOND
from service.moderation.review.decide import MAX_NOTE_CHARS
from service.ports.services import CommonPorts
from service.web.edge.ids import is_id
from service.web.edge.language import ngettext, probability
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import needs, require
from service.web.pages.review.campaign_views import MemberView, present_member

_SETTLED = {Outcome.SPAM.value: Outcome.SPAM, Outcome.HAM.value: Outcome.HAM}


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedView:
    """One group of waiting comments, as a line above the queue and as the head of its page."""

    url: str
    says: str
    site: tuple[Piece, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class AnewMember:
    """One comment of a group with the probability of spam it has now; `low` looks sincere."""

    member: MemberView
    now: str
    low: bool


def moved_views(found: Sequence[Moved], sites: Mapping[SiteId, Site]) -> tuple[MovedView, ...]:
    """Return what is said of each group."""
    return tuple(
        MovedView(
            url=url_for("pages.anew", site_id=one.site_id, called=one.outcome.value),
            says=_says(one),
            site=part_text(sites[one.site_id].name),
            outcome=one.outcome,
        )
        for one in found
        if one.site_id in sites
    )


def _says(moved: Moved) -> str:
    p = probability(moved.least_sure)
    if moved.outcome is Outcome.SPAM:
        return ngettext(
            "%(num)s more waiting comment like what was rejected, now %(p)s spam or more:",
            "%(num)s more waiting comments like what was rejected, now %(p)s spam or more:",
            len(moved.cases),
            p=p,
        )
    return ngettext(
        "%(num)s more waiting comment like what was approved, now %(p)s spam or less:",
        "%(num)s more waiting comments like what was approved, now %(p)s spam or less:",
        len(moved.cases),
        p=p,
    )


def add_anew(pages: Blueprint, common: CommonPorts, book: AnewBook) -> None:
    """Add the page of what moved at one site."""

    @pages.get("/review/anew/<site_id>/<called>")
    @needs(Permission.DECIDE)
    def anew(site_id: str, called: str) -> ResponseReturnValue:
        outcome = _SETTLED.get(called)
        if outcome is None or not is_id(site_id):
            abort(HTTPStatus.NOT_FOUND)
        require(Permission.DECIDE, SiteId(site_id))
        sites = {site.id: site for site in common.sites.all()}
        if site_id not in sites:
            abort(HTTPStatus.NOT_FOUND)
        found = book.moved(sites, SiteId(site_id))
        group = next((one for one in found if one.outcome is outcome), None)
        now = common.clock()
        return render_template(
            "anew.html",
            group=moved_views([group], sites)[0] if group else None,
            members=[
                AnewMember(
                    member=present_member(case, sites=sites, now=now),
                    now=probability(group.now[case.comment.id].p_spam),
                    low=group.now[case.comment.id].p_spam < LOW_P_SPAM,
                )
                for case in group.cases
            ]
            if group
            else [],
            queue=url_for("pages.queue", site=site_id),
            bulk_decision_id=common.new_id("str"),
            max_note_chars=MAX_NOTE_CHARS,
            asks_beyond=BULK_DECISION_ASKS_BEYOND,
            low_p_spam=probability(LOW_P_SPAM),
        )
