"""The page of a site's rules, with a preview of what they would have held."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.errors import InvalidInputError
from service.domain.rules import MAX_RULED_POSTS, RulesPreview, SiteRules
from service.domain.site import Site
from service.domain.user import Permission
from service.moderation.admin.sites import change_site_settings
from service.moderation.review.preview_rules import MAX_PREVIEWED, preview_rules
from service.ports.services import Services
from service.scoring.rules import REASONS
from service.web.api.schemas import Rules
from service.web.edge.language import day_in_words, gettext, noted, said
from service.web.edge.reading import validate
from service.web.edge.strict_json import Json
from service.web.pages.common.marking import part_text
from service.web.pages.common.pages import moderator, needs
from service.web.pages.sites.sites_page import managed_site

_SAVED = "rules_saved"
# By field: the least and the greatest number, as the API's model has them.
_LIMITS = {
    name: (schema["anyOf"][0]["minimum"], schema["anyOf"][0]["maximum"])
    for name, schema in Rules.model_json_schema()["properties"].items()
    if "anyOf" in schema
}
_DAY = noted("d MMMM y")
_POSTS = ("premoderated_posts", "closed_posts")
_SWITCH = "hold_first_comment"
_FIELDS = (_SWITCH, *_LIMITS, *_POSTS)


def add_rules(pages: Blueprint, services: Services) -> None:
    """Add the page of a site's rules."""
    common = services.common

    @pages.get("/sites/<site_id>/rules", endpoint="site_rules")
    def show(site_id: str) -> ResponseReturnValue:
        site = managed_site(site_id, common)
        return _show(site, _texts(site.settings.rules), {})

    # Which site it is decides whether they may, so that is asked inside.
    @pages.post("/sites/<site_id>/rules", endpoint="change_site_rules")
    @needs(Permission.LOOK)
    def change(site_id: str) -> ResponseReturnValue:
        site = managed_site(site_id, common)
        typed = {name: "\n".join(_lines(request.form.get(name, ""))) for name in _FIELDS}
        try:
            rules = validate(Rules, {name: _read(name, typed[name]) for name in typed}).as_value()
        except InvalidInputError as error:
            wrong = {problem.field.partition(".")[0] for problem in error.problems}
            return _show(site, typed, {name: _problem(name) for name in wrong})
        if request.form.get("act") == "preview":
            return _show(site, typed, {}, preview=preview_rules(site.id, rules, services))
        # What was left alone stays as somebody else may have set it meanwhile.
        asked = {
            name: getattr(rules, name)
            for name, now in typed.items()
            if _digest(now) != request.form.get(f"was_{name}")
        }
        change_site_settings(
            site.id,
            lambda present: replace(present, rules=replace(present.rules, **asked)),
            services.intake,
            common,
            actor=moderator().name,
        )
        session[_SAVED] = site.id
        return redirect(url_for("pages.site_rules", site_id=site.id), HTTPStatus.SEE_OTHER)


def _show(
    site: Site,
    typed: Mapping[str, str],
    problems: Mapping[str, str],
    *,
    preview: RulesPreview | None = None,
) -> ResponseReturnValue:
    html = render_template(
        "site_rules.html",
        site=site,
        site_name=part_text(site.name),
        typed=typed,
        was={
            name: request.form.get(f"was_{name}", _digest(text))
            for name, text in _texts(site.settings.rules).items()
        },
        problems=problems,
        limits=_LIMITS,
        preview=preview,
        since=preview and day_in_words(preview.since.date(), _DAY),
        by_rule=preview
        and [(said(REASONS[rule]), count) for rule, count in preview.by_rule.most_common()],
        most_seen=MAX_PREVIEWED,
        saved=request.method == "GET" and session.pop(_SAVED, None) == site.id,
    )
    return html, HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK


def _texts(rules: SiteRules) -> dict[str, str]:
    """Return what stands in the form's fields of these rules."""
    return {
        _SWITCH: "on" if rules.hold_first_comment else "",
        **{name: str(getattr(rules, name) or "") for name in _LIMITS},
        "max_links": "" if rules.max_links is None else str(rules.max_links),
        **{name: "\n".join(getattr(rules, name)) for name in _POSTS},
    }


def _lines(given: str) -> list[str]:
    return [line.strip() for line in given.splitlines() if line.strip()]


def _digest(typed: str) -> str:
    """Return what tells whether a field was typed over; its text twice would be a large form."""
    return hashlib.sha256(typed.encode()).hexdigest()[:16]


def _read(name: str, typed: str) -> Json:
    """Return a field as JSON would have it; what is no number stays for the model to refuse."""
    if name == _SWITCH:
        return bool(typed)
    if name in _POSTS:
        return [*_lines(typed)]
    is_number = typed.isascii() and typed.isdecimal() and len(typed) < 10
    return int(typed) if is_number else typed or None


def _problem(name: str) -> str:
    if name in _POSTS:
        return gettext(
            "Give at most %(most)s addresses, one a line, of at most 500 characters each.",
            most=MAX_RULED_POSTS,
        )
    least, most = _LIMITS[name]
    return gettext(
        "Give a whole number from %(least)s to %(most)s, or leave it empty.", least=least, most=most
    )
