"""The pages of campaigns: the list, and one campaign with its bulk decision."""

import contextlib
from dataclasses import replace
from http import HTTPStatus

from flask import render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.campaign import LOW_P_SPAM, Campaign, is_low
from service.domain.case import Case
from service.domain.errors import NotFoundError
from service.domain.user import Permission
from service.domain.verdict import Span
from service.moderation.campaigns import decide_campaign, put_back
from service.moderation.decisions import BULK_DECISION_ASKS_BEYOND
from service.web.edge.current import services
from service.web.edge.language import gettext, probability
from service.web.pages import forms
from service.web.pages.blueprint import error_page, go_to, moderator, pages
from service.web.pages.bulk_decisions import just_done_bulk_decision, remember_bulk_decision
from service.web.pages.marking import Layer, Piece, part_text

CAMPAIGNS_SHOWN = 20
# A form with so many fields fits into 64 KiB.
MEMBERS_SHOWN = 60
_WAITING, _ALL = "waiting", "all"
_EXCERPT_CHARS = 220
# How much text is shown before a late advertisement.
_BEFORE_PROMOTION = 70

pages.add_app_template_test(is_low, "low")


@pages.get("/review/campaigns")
def campaigns() -> ResponseReturnValue:
    waiting_only = _shown(default=_WAITING) == _WAITING
    page = forms.read_from(
        forms.read_token("cursor"),
        lambda cursor: services.campaigns.page(
            site_ids=moderator().site_ids,
            waiting_only=waiting_only,
            cursor=cursor,
            limit=CAMPAIGNS_SHOWN,
        ),
    )
    show = None if waiting_only else _ALL
    return render_template(
        "campaigns.html",
        campaigns=page.items,
        waiting_only=waiting_only,
        first=not forms.read_token("cursor"),
        further=page.next_cursor and url_for("pages.campaigns", show=show, cursor=page.next_cursor),
    )


@pages.get("/review/campaigns/<id:campaign_id>")
def campaign(campaign_id: str) -> ResponseReturnValue:
    campaign = _find(campaign_id)
    waiting_only = _shown(default=_WAITING if campaign.waiting else _ALL) == _WAITING
    page = forms.read_from(
        forms.read_token("cursor"),
        lambda cursor: services.campaigns.members(
            campaign.id,
            site_ids=moderator().site_ids,
            waiting_only=waiting_only,
            cursor=cursor,
            limit=MEMBERS_SHOWN,
        ),
    )
    sure_here = sum(case.needs_review and not is_low(case) for case in page.items)
    return render_template(
        "campaign.html",
        campaign=campaign,
        members=page.items,
        waiting_only=waiting_only,
        may_decide=moderator().may(Permission.DECIDE),
        others=max(0, campaign.waiting - campaign.low - sure_here),
        low_p_spam=probability(LOW_P_SPAM),
        asks_beyond=BULK_DECISION_ASKS_BEYOND,
        until=campaign.last_seen_at.isoformat(),
        bulk_decision_id=services.new_id("str"),
        done=just_done_bulk_decision(),
        put_back=session.pop("just_put_back", None),
        first=not forms.read_token("cursor"),
        next_cursor=page.next_cursor,
    )


@pages.post(
    "/review/campaigns/<id:campaign_id>/decision",
    endpoint="decide_campaign",
    needs=Permission.DECIDE,
)
def decide(campaign_id: str) -> ResponseReturnValue:
    campaign = _find(campaign_id)
    ticked = forms.read_ids("id")
    unticked = [one for one in forms.read_ids("shown") if one not in set(ticked)]
    until = forms.read_until() if request.form.get("others") else None
    if not ticked and until is None:
        advice = gettext("Tick at least one comment.")
        return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was decided"), advice)
    user, bulk_decision_id = moderator(), forms.read_id("stroke")
    bulk_decision = decide_campaign(
        campaign.id,
        forms.read_ruling(),
        services,
        ticked=ticked,
        unticked=unticked,
        others_until=until,
        exceptions_leave=bool(request.form.get("leave")),
        decided_by=user.name,
        site_ids=user.site_ids,
        note=forms.read_note(),
        bulk_decision_id=bulk_decision_id,
    )
    if bulk_decision is None and bulk_decision_id:
        # A double click sends the same form again.
        with contextlib.suppress(NotFoundError):
            made = services.bulk_decisions.get(bulk_decision_id)
            bulk_decision = made if made.decided_by == user.name else None
    if bulk_decision is None:
        told = gettext("Somebody else has decided these comments in the meantime.")
        return error_page(HTTPStatus.CONFLICT, gettext("Nothing was decided"), told)
    remember_bulk_decision(bulk_decision)
    return go_to("pages.campaign", campaign_id=campaign.id)


@pages.post("/review/campaigns/<id:campaign_id>/put-back", needs=Permission.DECIDE)
def put_back_into_campaign(campaign_id: str) -> ResponseReturnValue:
    found, user = _find(campaign_id), moderator()
    session["just_put_back"] = put_back(found.id, services, by=user.name, site_ids=user.site_ids)
    return go_to("pages.campaign", campaign_id=found.id)


def _find(campaign_id: str) -> Campaign:
    return services.campaigns.get(campaign_id, site_ids=moderator().site_ids)


def _shown(*, default: str) -> str:
    asked = request.args.get("show", "")
    return asked if asked in {_WAITING, _ALL} else default


@pages.app_template_filter()
def promotion_of(case: Case) -> tuple[Piece, ...]:
    """Return an excerpt of the text with the promotion marked, if there is one."""
    text, verdict = case.comment.text, case.verdict
    spans = verdict.promo_spans if verdict else ()
    first = min((span.start for span in spans), default=0)
    late = first > _EXCERPT_CHARS - _BEFORE_PROMOTION
    start = len(text) - len(text.lstrip())
    if late:
        # At the start of a word, if one is near.
        start = first - _BEFORE_PROMOTION
        space = text.rfind(" ", max(start - 20, 0), start)
        start = space + 1 if space >= 0 else start
    end = start + _EXCERPT_CHARS
    shown = [
        Span(start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    ]
    layers = (Layer(number=1, spans=tuple(shown), promo=True),) if shown else ()
    # This page has no list of evidence, so the marks need no numbers.
    pieces = [replace(one, ends=()) for one in part_text(text[start:end], layers=layers)]
    if late:
        pieces.insert(0, Piece(text="… "))
    if end < len(text):
        pieces.append(Piece(text="…"))
    return tuple(pieces)
