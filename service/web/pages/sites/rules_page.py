"""The page of a site's rules, with a preview of what they would have held."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from http import HTTPStatus

from flask import render_template, request
from flask.typing import ResponseReturnValue

from service.domain.errors import InvalidInputError
from service.domain.rules import MAX_RULED_POSTS
from service.domain.site import Site
from service.domain.user import Permission
from service.moderation.admin.sites import change_site_settings
from service.moderation.review.previews import RulesPreview, preview_rules
from service.web.api.schemas import Rules
from service.web.edge.current import services
from service.web.edge.language import gettext
from service.web.edge.reading import validate
from service.web.edge.strict_json import Json
from service.web.pages.common.pages import go_to, moderator, needs, pages
from service.web.pages.sites.sites_page import managed_site

# By field: the least and the greatest number, as the API's model has them.
_LIMITS = {
    name: (schema["anyOf"][0]["minimum"], schema["anyOf"][0]["maximum"])
    for name, schema in Rules.model_json_schema()["properties"].items()
    if "anyOf" in schema
}


@pages.get("/sites/<id:site_id>/rules", endpoint="site_rules")
def show(site_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    return _show(site, Rules.from_value(site.settings.rules).model_dump())


# Which site it is decides whether they may, so that is asked inside.
@pages.post("/sites/<id:site_id>/rules", endpoint="change_site_rules")
@needs(Permission.LOOK)
def change(site_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    typed = {name: _read(name) for name in Rules.model_fields}
    try:
        rules = validate(Rules, typed).as_value()
    except InvalidInputError as error:
        return _show(site, typed, {one.field.partition(".")[0] for one in error.problems})
    if request.form.get("act") == "preview":
        return _show(site, typed, preview=preview_rules(site.id, rules, services))
    change_site_settings(
        site.id, lambda present: replace(present, rules=rules), services, actor=moderator().name
    )
    told = gettext("The rules are saved; they count for comments judged from now on.")
    return go_to("pages.site_rules", told, site_id=site.id)


def _read(name: str) -> Json:
    """Return a field as JSON would have it; what is no number stays for the model to refuse."""
    typed = request.form.get(name, "").strip()
    if name == "hold_first_comment":
        return bool(typed)
    if name not in _LIMITS:
        return [line.strip() for line in typed.splitlines() if line.strip()]
    return int(typed) if typed.isdecimal() and len(typed) < 10 else typed or None


def _show(
    site: Site,
    typed: Mapping[str, Json],
    wrong: Container[str] = (),
    *,
    preview: RulesPreview | None = None,
) -> ResponseReturnValue:
    html = render_template(
        "site_rules.html",
        site=site,
        typed=typed,
        wrong=wrong,
        limits=_LIMITS,
        most_posts=MAX_RULED_POSTS,
        preview=preview,
    )
    return html, HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK
