"""The review pages' routes: the lists, one comment, a ruling, its undoing."""

from __future__ import annotations

import re
from http import HTTPStatus

from flask import Blueprint, Flask, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.user import Permission
from service.moderation.anew import AnewBook
from service.moderation.asked import AskedBook
from service.moderation.claims import end_claim, seconds_since_opening
from service.moderation.review import Tab, decide_as_seen, undo_as_seen
from service.ports import Services
from service.web.accounts_page import add_accounts
from service.web.anew_page import add_anew
from service.web.callbacks_page import add_callbacks
from service.web.campaigns_page import add_campaigns
from service.web.claiming import skip as put_off
from service.web.config import WebConfig
from service.web.distrust import add_distrust
from service.web.figures_page import add_figures
from service.web.language import register_language
from service.web.live import Live
from service.web.live_pages import add_live
from service.web.log_page import add_log
from service.web.login import add_login
from service.web.me import add_me
from service.web.models_page import add_models
from service.web.pages import limiter_of, make_pages, moderator, needs, register_pages, require
from service.web.personal_data_page import add_personal_data
from service.web.review_page import (
    ANEW,
    ASKED,
    COUNTS,
    Place,
    remember_done,
    remember_skipped,
    show_page,
)
from service.web.search_page import add_search
from service.web.second_factor_page import add_second_factor
from service.web.shadow_view import add_shadow
from service.web.shell import shell_of
from service.web.site_lists_page import add_site_lists
from service.web.sites_page import add_sites
from service.web.strokes import add_strokes, note_given
from service.web.tab_counts import TabCounts

# No id and no cursor of ours has other characters or is longer.
_TOKEN = re.compile(r"[A-Za-z0-9_.:=-]{1,400}")
LIVE = "slopsieve_live"
"""Under which extension of an app its live updates are found, to be closed before it stops."""


def register_review(app: Flask, services: Services, config: WebConfig) -> None:
    """Add the pages for moderators to an app: signing in, the lists, decisions."""
    pages = make_pages()
    live = Live(services, max_streams=config.max_streams, every_seconds=config.live_every_seconds)
    app.extensions[LIVE] = live
    app.extensions[COUNTS] = TabCounts(services)
    app.extensions[ASKED] = AskedBook(services)
    anew = app.extensions[ANEW] = AnewBook(services)
    add_login(pages, services, limiter_of(app))
    _add_lists(pages, services)
    _add_rulings(pages, services)
    add_live(pages, services, live, _place)
    add_callbacks(pages, services)
    add_search(pages, services)
    add_figures(pages, services)
    add_strokes(pages, services)
    add_sites(pages, services)
    add_campaigns(pages, services)
    add_anew(pages, services, anew)
    add_site_lists(pages, services)
    add_distrust(pages, services)
    add_me(pages, services)
    add_second_factor(pages, services, config, limiter_of(app))
    add_accounts(pages, services)
    add_log(pages, services)
    add_models(pages, services, config)
    add_personal_data(pages, services)
    add_shadow(pages, services)
    pages.context_processor(lambda: shell_of(services))
    register_language(app)
    register_pages(app, pages, services, config)


def _add_lists(pages: Blueprint, services: Services) -> None:
    @pages.get("/")
    def home() -> ResponseReturnValue:
        return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)

    @pages.get("/review")
    def queue() -> ResponseReturnValue:
        return show_page(_place(), services)

    @pages.get("/review/comments/<comment_id>")
    def comment(comment_id: str) -> ResponseReturnValue:
        return show_page(_place(), services, chosen=_case(comment_id, services))


def _add_rulings(pages: Blueprint, services: Services) -> None:
    @pages.post("/review/comments/<comment_id>/decision")
    @needs(Permission.DECIDE)
    def decide(comment_id: str) -> ResponseReturnValue:
        case, ruling = _case(comment_id, services), _ruling()
        require(Permission.DECIDE, case.comment.site_id)
        try:
            decided = decide_as_seen(
                case.comment.id,
                ruling,
                services,
                decided_by=moderator().name,
                seen_decision_id=_token("seen"),
                note=note_given(),
                seconds=seconds_since_opening(case.comment.id, moderator(), services),
            )
        except ConflictError:
            return _show_conflict(case.comment.id, ruling, services)
        end_claim(case.comment.id, services)
        remember_done(decided)
        return _go_on(_token("then"))

    @pages.post("/review/comments/<comment_id>/undo")
    @needs(Permission.DECIDE)
    def undo(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, services)
        require(Permission.DECIDE, case.comment.site_id)
        try:
            undo_as_seen(
                case.comment.id,
                services,
                undone_by=moderator().name,
                seen_decision_id=_token("seen"),
            )
        except ConflictError:
            return _show_conflict(case.comment.id, None, services)
        remember_done(case, undone=True)
        return _go_on(case.comment.id)

    @pages.post("/review/comments/<comment_id>/skip")
    @needs(Permission.DECIDE)
    def skip(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, services)
        end_claim(case.comment.id, services, user=moderator())
        put_off(case.comment.id)
        remember_skipped(case.comment.id)
        return _go_on(_token("then"))


def _go_on(comment_id: str | None) -> ResponseReturnValue:
    """Return to the list where it was left: at the given comment, or at its first."""
    place = _place()
    return redirect(place.url_of(comment_id) if comment_id else place.url, HTTPStatus.SEE_OTHER)


def _show_conflict(
    comment_id: CommentId, ruling: Ruling | None, services: Services
) -> ResponseReturnValue:
    chosen = services.cases.get(comment_id)
    html = show_page(_place(), services, chosen=chosen, refused=ruling or "undo")
    return html, HTTPStatus.CONFLICT


def _place() -> Place:
    """Return the place that the query or the form names; nonsense in it means the default."""
    tabs = {tab.value: tab for tab in Tab}
    site_id = _token("site")
    return Place(
        tab=tabs.get(request.values.get("show", ""), Tab.NEEDS_REVIEW),
        site_id=SiteId(site_id) if site_id else None,
        cursor=_token("cursor"),
    )


def _case(comment_id: str, services: Services) -> Case:
    if not _TOKEN.fullmatch(comment_id):
        abort(HTTPStatus.NOT_FOUND)
    case = services.cases.get(CommentId(comment_id))
    require(Permission.LOOK, case.comment.site_id)
    return case


def _ruling() -> Ruling:
    rulings = {ruling.value: ruling for ruling in Ruling}
    ruling = rulings.get(request.form.get("ruling", ""))
    return ruling or abort(HTTPStatus.BAD_REQUEST)


def _token(field: str) -> str | None:
    value = request.values.get(field, "")
    return value if _TOKEN.fullmatch(value) else None
