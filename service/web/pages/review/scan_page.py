"""A screen of comments that look alike: the exceptions are ticked, one key settles the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.scan import SINCERE_BELOW, SPAM_FROM, Agreement, Band
from service.domain.site import Site
from service.domain.user import Permission
from service.moderation.review.anew import AnewBook
from service.moderation.review.bulk_decisions import BULK_DECISION_ASKS_BEYOND
from service.moderation.review.scan import (
    MAX_SCANNED_CHARS,
    MAX_SCREEN,
    Screen,
    find_screen,
    settle_screen,
)
from service.ports.services import CommonPorts, ReviewPorts, Services
from service.scoring.scan_steps import choose_step
from service.signals.links import find_links
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, ngettext, probability
from service.web.pages.common.last_bulk_decision import (
    just_done_bulk_decision,
    remember_bulk_decision,
)
from service.web.pages.common.link_targets import LinkView, present_links
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import error_page, moderator, needs
from service.web.pages.common.presenting import beginning, title_of
from service.web.pages.review.claiming import skip, skipped

_CHECKS = "scan_checks_left"
_NAME_CHARS = 60
_TITLE_CHARS = 80
# A few are enough to see what the bulk decisions missed.
_MOST_SLIPS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRow:
    """One comment of the screen: all its words, who wrote it, where its links lead."""

    id: str
    url: str
    words: tuple[Piece, ...]
    author: tuple[Piece, ...]
    author_url: tuple[Piece, ...]
    post: tuple[Piece, ...]
    site: tuple[Piece, ...]
    links: tuple[LinkView, ...]
    p_spam: str
    ticked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BandView:
    """One band as a line above the queue and as the head of its page."""

    band: Band
    says: str
    url: str


def band_views(counts: Mapping[Band, int], site_id: SiteId | None) -> tuple[BandView, ...]:
    """Return a line for each band in which more than a bulk decision's ten wait."""
    return tuple(
        BandView(band=band, says=_says(band, n), url=_url(band, site_id))
        for band, n in counts.items()
        if n > BULK_DECISION_ASKS_BEYOND
    )


def add_scan(pages: Blueprint, services: Services, book: AnewBook) -> None:
    """Add the screens and the form on them."""

    @pages.get("/review/scan/<band>")
    @needs(Permission.DECIDE)
    def scan(band: str) -> ResponseReturnValue:
        return _show(_band(band), services.review, services.common, book)

    @pages.post("/review/scan/<band>", endpoint="settle_scan")
    @needs(Permission.DECIDE)
    def settle(band: str) -> ResponseReturnValue:
        return _settle(_band(band), services)


def _band(named: str) -> Band:
    return {one.value: one for one in Band}.get(named) or abort(HTTPStatus.NOT_FOUND)


def _site_id() -> SiteId | None:
    named = request.values.get("site", "")
    return SiteId(named) if is_id(named) else None


def _site_ids() -> tuple[SiteId, ...] | None:
    user, site_id = moderator(), _site_id()
    if site_id is None:
        return user.site_ids
    return (site_id,) if user.sees(site_id) else ()


def _show(band: Band, review: ReviewPorts, common: CommonPorts, book: AnewBook) -> str:
    sites = {site.id: site for site in common.sites.all()}
    agreement = review.scan_checks.agreement(moderator().name)
    screen = find_screen(
        band,
        review,
        common,
        site_ids=_site_ids(),
        size=choose_step(band, agreement),
        leave_out=skipped(),
        tell=lambda cases: book.tell(cases, sites),
    )
    return _render(band, review, common, screen, sites, agreement)


def _render(
    band: Band,
    review: ReviewPorts,
    common: CommonPorts,
    screen: Screen,
    sites: Mapping[SiteId, Site],
    agreement: Agreement,
    *,
    exceptions: Sequence[CommentId] = (),
    asked: bool = False,
) -> str:
    shown = len(screen.cases)
    return render_template(
        "scan.html",
        band=band,
        title=_title(band, shown),
        rows=[
            _row(case, screen, sites, ticked=case.comment.id in exceptions) for case in screen.cases
        ],
        beyond=max(0, screen.in_band - shown),
        agreement=_agreement_in_words(agreement),
        slips=_slips(agreement, review),
        site_id=_site_id(),
        asks_beyond=BULK_DECISION_ASKS_BEYOND,
        asked=asked,
        n_asked=shown - len(exceptions),
        most_chars=MAX_SCANNED_CHARS,
        bulk_decision_id=request.form.get("stroke") if asked else common.new_id("str"),
        done=just_done_bulk_decision(review, common),
        checks=session.pop(_CHECKS, 0),
        here=_url(band, _site_id()),
        urls={one: _url(one, _site_id()) for one in Band},
        names={
            Band.SINCERE: gettext("Look sincere"),
            Band.SPAM: gettext("Look like spam"),
        },
    )


def _settle(band: Band, services: Services) -> ResponseReturnValue:
    shown, exceptions = _ids("shown")[:MAX_SCREEN], _ids("except")
    bulk_decision_id = request.form.get("stroke", "")
    left = [one for one in shown if one not in set(exceptions)]
    if not left or not is_id(bulk_decision_id):
        refusal = gettext("Leave at least one comment unticked.")
        return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was decided"), refusal)
    if len(left) > BULK_DECISION_ASKS_BEYOND and not request.form.get("sure"):
        return _ask(band, shown, exceptions, services.review, services.common)
    user = moderator()
    settled = settle_screen(
        band,
        shown,
        exceptions,
        services,
        bulk_decision_id=bulk_decision_id,
        decided_by=user.name,
        site_ids=user.site_ids,
    )
    for one in exceptions:
        if one in shown:
            # It comes singly, and on no further screen of this session.
            skip(one)
    remember_bulk_decision(settled.bulk_decision)
    session[_CHECKS] = settled.checks
    return redirect(_url(band, _site_id()), HTTPStatus.SEE_OTHER)


def _ask(
    band: Band,
    shown: Sequence[CommentId],
    exceptions: Sequence[CommentId],
    review: ReviewPorts,
    common: CommonPorts,
) -> str:
    """Show the same screen with the question that the page's script asks by itself."""
    cases = [
        case
        for case in review.cases.find(shown)
        if case.needs_review and moderator().sees(case.comment.site_id)
    ]
    screen = Screen(
        cases=tuple(cases),
        p_spam={case.comment.id: case.verdict.p_spam for case in cases if case.verdict},
        in_band=len(cases),
    )
    sites = {site.id: site for site in common.sites.all()}
    ticked = [one for one in exceptions if any(one == case.comment.id for case in cases)]
    agreement = review.scan_checks.agreement(moderator().name)
    return _render(band, review, common, screen, sites, agreement, exceptions=ticked, asked=True)


def _row(case: Case, screen: Screen, sites: Mapping[SiteId, Site], *, ticked: bool) -> ScanRow:
    comment = case.comment
    site = sites.get(comment.site_id)
    return ScanRow(
        id=comment.id,
        url=url_for("pages.comment", comment_id=comment.id),
        words=part_text(beginning(comment.text, MAX_SCANNED_CHARS)),
        author=part_text(beginning(comment.author.name or "", _NAME_CHARS)),
        author_url=part_text(beginning(comment.author.url or "", _TITLE_CHARS)),
        post=part_text(beginning(title_of(comment.post) or comment.post.url or "", _TITLE_CHARS)),
        site=part_text(site.name if site else comment.site_id),
        links=present_links(find_links(comment.text)),
        p_spam=probability(screen.p_spam.get(comment.id, 0.0)),
        ticked=ticked,
    )


def _title(band: Band, n: int) -> str:
    if band is Band.SINCERE:
        return ngettext(
            "%(num)s comment that looks sincere (below %(p)s)",
            "%(num)s comments that look sincere (below %(p)s)",
            n,
            p=probability(SINCERE_BELOW),
        )
    return ngettext(
        "%(num)s comment that looks like spam (from %(p)s up)",
        "%(num)s comments that look like spam (from %(p)s up)",
        n,
        p=probability(SPAM_FROM),
    )


def _says(band: Band, n: int) -> str:
    if band is Band.SINCERE:
        return ngettext(
            "%(num)s waiting comment looks sincere: scan it",
            "%(num)s waiting comments look sincere: scan them",
            n,
        )
    return ngettext(
        "%(num)s waiting comment looks like spam: scan it",
        "%(num)s waiting comments look like spam: scan them",
        n,
    )


def _agreement_in_words(agreement: Agreement) -> str:
    """Return what single looks said of this person's bulk decisions, empty before the first."""
    if not agreement.checked:
        return ""
    return ngettext(
        "Of %(num)s comment that came back from your bulk decisions and was looked at alone, "
        "%(alike)s was ruled alike.",
        "Of %(num)s comments that came back from your bulk decisions and were looked at alone, "
        "%(alike)s were ruled alike.",
        agreement.checked,
        alike=agreement.alike,
    )


def _slips(agreement: Agreement, review: ReviewPorts) -> list[str]:
    cases = review.cases.find(agreement.otherwise[:_MOST_SLIPS_SHOWN])
    return [
        url_for("pages.comment", comment_id=case.comment.id, show="all")
        for case in cases
        if moderator().sees(case.comment.site_id)
    ]


def _ids(field: str) -> list[CommentId]:
    return [CommentId(one) for one in dict.fromkeys(request.form.getlist(field)) if is_id(one)]


def _url(band: Band, site_id: SiteId | None) -> str:
    return url_for("pages.scan", band=band.value, site=site_id)
