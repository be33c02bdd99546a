"""The page of what sites could not be told, where moderators have it tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from flask import abort, redirect, render_template, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.domain.site import Site
from service.domain.user import Permission
from service.moderation.telling.callbacks import (
    get_delivery,
    newest_deliveries,
    replay_deliveries,
    resume_applier,
)
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, noted
from service.web.pages.common.call_problems import PROBLEMS_IN_WORDS
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, pages, require, services
from service.web.pages.common.presenting import Moment, tell_time

# Of each kind the newest are shown; trying all again takes the others along.
MESSAGES_SHOWN = 25
# What was replayed again and again has a long log; how it went lately is what matters.
ATTEMPTS_SHOWN = 20
_HOST_CHARS = 253
_REPLAYED = "replayed"
_PLATFORM_NAMES = {
    DeliveryForm.AKISMET: "Akismet",
    DeliveryForm.GITHUB: "GitHub",
    DeliveryForm.DISCOURSE: "Discourse",
    DeliveryForm.BUILD_HOOK: noted("Build hook"),
}
_EVENT_IN_WORDS = {
    EventKind.VERDICT: noted("Verdict"),
    EventKind.REVIEW: noted("Needs review"),
    EventKind.DECISION: noted("Decision"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """One try: when, how long, what came of it."""

    when: Moment
    milliseconds: int
    came_of_it: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """One message to a site: of what, where to, and how far it has come.

    `next_try` is None for one that was given up, `ended` for one that waits.
    """

    id: str
    comment_id: str
    event: str
    chip: str
    site_name: tuple[Piece, ...]
    host: tuple[Piece, ...]
    wanted: bool
    attempts: int
    problem: str
    created: Moment
    next_try: Moment | None
    ended: Moment | None
    log: tuple[AttemptView, ...]
    log_is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformView:
    """Where a site's decisions are applied, or it `is_built` from what it shows.

    `refused` and `rests` say why nothing goes there now.

    `may_resume` is for whoever may have a refused token tried again.
    """

    site_id: str
    site_name: tuple[Piece, ...]
    platform: str
    is_built: bool
    host: tuple[Piece, ...]
    refused: Moment | None
    rests: Moment | None
    may_resume: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageList:
    """The newest messages of a kind, and whether there are older ones."""

    messages: tuple[MessageView, ...]
    more: bool


@pages.get("/callbacks")
def callbacks() -> ResponseReturnValue:
    return render_template(
        "callbacks.html",
        given_up=_list(DeliveryState.DEAD),
        waiting=_list(DeliveryState.WAITING),
        any_endpoint=any(_endpoints().values()),
        platforms=_platforms(),
        replayed=session.pop(_REPLAYED, None),
        shown=MESSAGES_SHOWN,
    )


@pages.post("/callbacks/replay")
@needs(Permission.DECIDE)
def replay_all() -> ResponseReturnValue:
    user = moderator()
    if user.site_ids is None:
        return _go_on(replay_deliveries(services.telling, services.common, actor=user.name))
    replayed = [
        replay_deliveries(services.telling, services.common, actor=user.name, site_id=site_id)
        for site_id in user.site_ids
    ]
    return _go_on(sum(replayed))


@pages.post("/callbacks/<delivery_id>/replay")
@needs(Permission.DECIDE)
def replay_one(delivery_id: str) -> ResponseReturnValue:
    if not is_id(delivery_id):
        abort(HTTPStatus.NOT_FOUND)
    delivery = get_delivery(delivery_id, services.telling)
    require(Permission.DECIDE, delivery.site_id)
    return _go_on(
        replay_deliveries(
            services.telling, services.common, actor=moderator().name, ids=[delivery.id]
        )
    )


# Which site it is decides whether they may, so that is asked inside.
@pages.post("/callbacks/platforms/<site_id>/resume")
@needs(Permission.LOOK)
def resume_platform(site_id: str) -> ResponseReturnValue:
    if not is_id(site_id):
        abort(HTTPStatus.NOT_FOUND)
    site = services.common.sites.get(SiteId(site_id))
    require(Permission.MANAGE_SITES, site.id)
    resume_applier(site.id, services.telling, services.common, actor=moderator().name)
    return redirect(url_for("pages.callbacks"), HTTPStatus.SEE_OTHER)


def _go_on(replayed: int) -> ResponseReturnValue:
    session[_REPLAYED] = replayed
    return redirect(url_for("pages.callbacks"), HTTPStatus.SEE_OTHER)


def _endpoints() -> dict[SiteId, Endpoint | None]:
    user = moderator()
    return {
        site.id: services.telling.endpoints.get(site.id)
        for site in services.common.sites.all()
        if user.sees(site.id)
    }


def _platforms() -> list[PlatformView]:
    user, now = moderator(), services.common.clock()
    views = []
    for site in services.common.sites.all():
        endpoint = services.telling.endpoints.get(site.id) if user.sees(site.id) else None
        if endpoint is None or not endpoint.form.is_call:
            continue
        refused, rests = endpoint.refused_at, endpoint.rests_until
        views.append(
            PlatformView(
                site_id=site.id,
                site_name=part_text(site.name),
                platform=gettext(_PLATFORM_NAMES[endpoint.form]),
                is_built=endpoint.form is DeliveryForm.BUILD_HOOK,
                host=part_text(_host_of(endpoint.url)),
                refused=tell_time(refused, now) if refused else None,
                rests=_moment_ahead(rests, now) if rests and rests > now else None,
                may_resume=user.may(Permission.MANAGE_SITES, site.id),
            )
        )
    return views


def _list(
    state: DeliveryState,
) -> MessageList:
    found = newest_deliveries(
        state, services.telling, site_ids=moderator().site_ids, limit=MESSAGES_SHOWN + 1
    )
    sites = {site.id: site for site in services.common.sites.all()}
    endpoints = _endpoints()
    now = services.common.clock()
    messages = tuple(
        _present(
            one,
            services.telling.deliveries.attempts(one.id),
            site=sites.get(one.site_id),
            endpoints=endpoints,
            now=now,
        )
        for one in found[:MESSAGES_SHOWN]
    )
    return MessageList(messages=messages, more=len(found) > MESSAGES_SHOWN)


def _present(
    delivery: Delivery,
    log: list[DeliveryAttempt],
    *,
    site: Site | None,
    endpoints: Mapping[SiteId, Endpoint | None],
    now: datetime,
) -> MessageView:
    akismet = delivery.form is DeliveryForm.AKISMET
    # What is no Akismet callback goes where the site wants it today, whatever was so before.
    endpoint = None if akismet else endpoints.get(delivery.site_id)
    if endpoint is not None and endpoint.form is not delivery.form:
        endpoint = None
    return MessageView(
        id=delivery.id,
        comment_id=delivery.comment_id,
        event=gettext(_EVENT_IN_WORDS[delivery.event]),
        chip=gettext(_PLATFORM_NAMES[delivery.form]) if delivery.form in _PLATFORM_NAMES else "",
        site_name=part_text(site.name if site else delivery.site_id),
        host=part_text(_host_of(endpoint.url if endpoint else delivery.url)),
        wanted=akismet or endpoint is not None,
        attempts=delivery.attempts,
        problem=_outcome(log[-1]) if log else "",
        created=tell_time(delivery.created_at, now),
        next_try=_next_try(delivery, now),
        ended=tell_time(delivery.ended_at, now) if delivery.ended_at else None,
        log=tuple(_attempt(one, now) for one in log[-ATTEMPTS_SHOWN:]),
        log_is_cut=len(log) > ATTEMPTS_SHOWN,
    )


def _attempt(attempt: DeliveryAttempt, now: datetime) -> AttemptView:
    return AttemptView(
        when=tell_time(attempt.at, now),
        milliseconds=attempt.milliseconds,
        came_of_it=_outcome(attempt),
    )


def _outcome(attempt: DeliveryAttempt) -> str:
    """Return what came of a try, in fixed words and with the status that was answered."""
    status = f" ({attempt.status})" if attempt.status is not None else ""
    if attempt.problem is None:
        return gettext("Accepted by the site") + status
    known = PROBLEMS_IN_WORDS.get(attempt.problem)
    if known:
        return gettext(known) + status
    # What else is refused concerns the address: words for whoever set it, in English.
    return gettext("Refused: %(why)s", why=attempt.problem) + status


def _next_try(delivery: Delivery, now: datetime) -> Moment | None:
    if delivery.state is not DeliveryState.WAITING:
        return None
    return _moment_ahead(delivery.next_try_at or delivery.created_at, now)


def _moment_ahead(at: datetime, now: datetime) -> Moment:
    told = tell_time(at, now)
    return Moment(short=_ahead(at - now), exact=told.exact, iso=told.iso, day=told.day)


def _ahead(wait: timedelta) -> str:
    if wait <= timedelta(0):
        return gettext("now")
    if wait < timedelta(minutes=1):
        return gettext("within a minute")
    if wait < timedelta(hours=1):
        return gettext("in %(n)s min", n=wait // timedelta(minutes=1))
    return gettext("in %(n)s h", n=wait // timedelta(hours=1))


def _host_of(url: str) -> str:
    """Return the host alone: paths and queries of callbacks may hold secrets."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return host[:_HOST_CHARS] if host else gettext("an unreadable address")
