"""The pages of sites: the list, a site's settings and keys, its rules.

A new key is shown in the response to the form. A redirect would have to store it in the session
cookie.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import abort, flash, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.case import CaseFilter
from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.errors import ConflictError, InvalidInputError
from service.domain.rules import MAX_RULED_POSTS
from service.domain.site import MAX_UNDO_SECONDS, SWITCHES, Site, SiteSettings
from service.domain.user import Permission
from service.domain.verdict import Outcome
from service.moderation.figures import RulesPreview, preview_cutoffs, preview_rules
from service.moderation.sites import (
    IssuedKey,
    add_site,
    change_site_settings,
    forget_taught,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.web.api.schemas import Rules, SettingsRequest
from service.web.edge.current import services
from service.web.edge.language import N_, gettext, up_to_four_digits
from service.web.edge.operation import validate
from service.web.edge.strict_json import Json
from service.web.pages.blueprint import go_to, moderator, pages, require
from service.web.pages.template_filters import all_sites

_WRONG = {
    "mode": N_("Choose one of the three."),
    "undo_seconds": N_("Give a whole number of seconds from 0 to %(most)s."),
}
# A percentage, with a point or a comma.
_PERCENT = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{0,12})?", re.ASCII)
_MAX_SHOWN_CHARS = 400
_CUTOFFS = ("ham_cutoff", "spam_cutoff")
_FIELDS = ("mode", "undo_seconds", *_CUTOFFS, *SWITCHES)
_ISSUING: Mapping[str, Callable[..., IssuedKey]] = {
    "api": issue_key,
    "rotate": rotate_keys,
    "akismet": partial(issue_key, is_akismet=True),
}
# The minimum and maximum by field, from the API's model.
_LIMITS = {
    name: (schema["anyOf"][0]["minimum"], schema["anyOf"][0]["maximum"])
    for name, schema in Rules.model_json_schema()["properties"].items()
    if "anyOf" in schema
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteForm:
    """The form's values and problems, by field.

    `was` has the values before the edit, `chosen` the changed settings. A cutoff of None means the
    model version's.
    """

    typed: Mapping[str, str]
    was: Mapping[str, str]
    cutoffs: Mapping[str, float | None]
    problems: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)


def form_of(settings: SiteSettings) -> SiteForm:
    """Return the unchanged form of these settings."""
    cutoffs: dict[str, float | None] = {name: getattr(settings, name) for name in _CUTOFFS}
    texts = {
        "mode": settings.mode.value,
        "undo_seconds": str(settings.undo_seconds),
        **{name: _shown(cutoff) for name, cutoff in cutoffs.items()},
        **{name: "on" if getattr(settings, name) else "" for name in SWITCHES},
    }
    return SiteForm(typed=texts, was=texts, cutoffs=cutoffs)


def read_form(given: Mapping[str, str], present: SiteSettings) -> SiteForm:
    """Return the submitted form; `chosen` only has fields that were changed."""
    cutoffs, problems = read_cutoffs(given, present)
    typed = {name: given.get(name, "").strip()[:_MAX_SHOWN_CHARS] for name in _FIELDS}
    seconds = typed["undo_seconds"]
    read: dict[str, Json] = {
        "mode": typed["mode"],
        "undo_seconds": int(seconds) if re.fullmatch("[0-9]{1,4}", seconds) else seconds,
    }
    asked: dict[str, Any] = cutoffs | {name: bool(typed[name]) for name in SWITCHES}
    try:
        asked |= validate(SettingsRequest, read).model_dump(exclude_unset=True)
    except InvalidInputError as error:
        for name in {one.field.partition(".")[0] for one in error.problems}:
            problems[name] = gettext(_WRONG[name], most=MAX_UNDO_SECONDS)
    # A field without its previous value counts as changed.
    was = {name: given[f"was_{name}"] for name in _FIELDS if f"was_{name}" in given}
    chosen = {
        name: value for name, value in asked.items() if given.get(name, "").strip() != was.get(name)
    }
    return SiteForm(typed=typed, was=was, cutoffs=cutoffs, problems=problems, chosen=chosen)


def read_cutoffs(
    given: Mapping[str, str], present: SiteSettings
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the cutoffs of a form or a query, which has percentages, and their problems."""
    problems: dict[str, str] = {}
    cutoffs: dict[str, float | None] = {}
    for name in _CUTOFFS:
        typed = given.get(name, "").strip()
        before: float | None = getattr(present, name)
        if typed == _shown(before):
            cutoffs[name] = before
        else:
            percent = float(typed.replace(",", ".")) if _PERCENT.fullmatch(typed) else 101.0
            cutoffs[name] = percent / 100 if percent <= 100.0 else None
        if typed and cutoffs[name] is None:
            problems[name] = gettext("Give a percentage from 0 to 100, or leave it empty.")
    if not problems:
        try:
            SiteSettings(ham_cutoff=cutoffs["ham_cutoff"], spam_cutoff=cutoffs["spam_cutoff"])
        except ValueError:
            problems = _crossed_cutoffs()
    return cutoffs, problems


def _crossed_cutoffs() -> dict[str, str]:
    return {"ham_cutoff": gettext("Give one that is not above the spam cutoff.")}


def _shown(cutoff: float | None) -> str:
    return "" if cutoff is None else format(cutoff * 100, ".10g")


@pages.get("/sites")
def sites() -> ResponseReturnValue:
    return _show_list()


@pages.post("/sites", endpoint="add_site", needs=Permission.MANAGE_SITES)
def add() -> ResponseReturnValue:
    name = request.form.get("name", "")
    try:
        site, [issued] = add_site(name, services, actor=moderator().name)
    except InvalidInputError:
        problem = gettext("Give a name of 1 to 100 characters that can be printed.")
        return _show_list(name=name, problem=problem)
    except ConflictError:
        return _show_list(name=name, problem=gettext("There is a site of this name already."))
    return _show_site(site, issued=issued)


def _show_list(*, name: str = "", problem: str = "") -> ResponseReturnValue:
    user, now = moderator(), services.clock()
    shown = [one for one in all_sites().values() if user.may(Permission.MANAGE_SITES, one.id)]
    if not shown and not user.may(Permission.MANAGE_SITES):
        abort(HTTPStatus.FORBIDDEN)
    list_keys = services.sites.list_keys
    html = render_template(
        "sites.html",
        sites=shown,
        valid_keys={one.id: sum(key.is_valid(now) for key in list_keys(one.id)) for one in shown},
        waiting={
            one.id: services.cases.count(CaseFilter(site_ids=(one.id,), needs_review=True))
            for one in shown
        },
        may_add=user.may(Permission.MANAGE_SITES),
        name=name,
        problem=problem,
    )
    return html, HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK


@pages.get("/sites/<id:site_id>")
def site(site_id: str) -> ResponseReturnValue:
    return _show_site(_managed(site_id))


# `_managed` checks the permission for the site.
@pages.post("/sites/<id:site_id>/settings", endpoint="site_settings", needs=Permission.LOOK)
def change(site_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    form = read_form(request.form, site.settings)
    if form.problems or request.form.get("act") == "preview":
        return _show_site(site, form=form)
    try:
        change_site_settings(
            site.id, lambda now: replace(now, **form.chosen), services, actor=moderator().name
        )
    except ValueError:
        # The other cutoff was changed concurrently.
        present = services.sites.get(site.id).settings
        return _show_site(site, form=replace(form_of(present), problems=_crossed_cutoffs()))
    told = gettext("The settings are saved; they count for comments judged from now on.")
    return go_to("pages.site", told, site_id=site.id)


@pages.post("/sites/<id:site_id>/forget-taught", endpoint="forget_taught", needs=Permission.LOOK)
def forget(site_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    forget_taught(site.id, services, actor=moderator().name)
    flash(gettext("What its decisions taught is forgotten; the decisions stay."), "forgotten")
    return go_to("pages.site", site_id=site.id, _anchor="forget")


@pages.get("/sites/<id:site_id>/cutoffs", endpoint="cutoff_preview")
def preview(site_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    cutoffs, problems = read_cutoffs(request.args, site.settings)
    if problems:
        refusal = " ".join(problems[key] for key in sorted(problems))
        html = render_template("cutoff_preview.html", preview=None, refusal=refusal)
        return html, HTTPStatus.BAD_REQUEST
    found = preview_cutoffs(site.id, services, **cutoffs)
    return render_template("cutoff_preview.html", preview=found, outcomes=Outcome)


@pages.app_template_filter()
def exact_percent(share: float) -> str:
    """Return a cutoff or a rate in percent, with up to four digits."""
    return f"{up_to_four_digits(share * 100)}\u202f%"


def _show_site(
    site: Site, *, form: SiteForm | None = None, issued: IssuedKey | None = None
) -> ResponseReturnValue:
    shown, now = form or form_of(site.settings), services.clock()
    are_cutoffs = not shown.problems.keys() & shown.cutoffs.keys()
    promise = services.current_promise()
    newest_first = services.sites.list_keys(site.id)[::-1]
    html = render_template(
        "site.html",
        site=site,
        form=shown,
        modes=Mode,
        switches=SWITCHES,
        max_undo_seconds=MAX_UNDO_SECONDS,
        preview=preview_cutoffs(site.id, services, **shown.cutoffs) if are_cutoffs else None,
        outcomes=Outcome,
        promised=promise and promise.cutoffs,
        keys=sorted(newest_first, key=lambda key: not key.is_valid(now)),
        valid_keys=[key.id for key in newest_first if key.is_valid(now)],
        new_key=issued and issued.secret,
    )
    if issued is not None:
        return html, HTTPStatus.CREATED
    return html, HTTPStatus.BAD_REQUEST if shown.problems else HTTPStatus.OK


@pages.post("/sites/<id:site_id>/keys", endpoint="issue_site_key", needs=Permission.LOOK)
def issue(site_id: str) -> ResponseReturnValue:
    site, issue_kind = _managed(site_id), _ISSUING.get(request.form.get("kind", ""))
    if issue_kind is None:
        abort(HTTPStatus.BAD_REQUEST)
    return _show_site(site, issued=issue_kind(site.id, services, actor=moderator().name))


@pages.post(
    "/sites/<id:site_id>/keys/<id:key_id>/revoke", endpoint="revoke_site_key", needs=Permission.LOOK
)
def revoke(site_id: str, key_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    key = next((k for k in services.sites.list_keys(site.id) if k.id == key_id), None)
    if key is None:
        abort(HTTPStatus.NOT_FOUND)
    if key.revoked_at is None:
        # The last key too, because the user can issue another.
        revoke_key(key.id, services, actor=moderator().name)
    return go_to("pages.site", site_id=site.id, _anchor="keys")


def _managed(site_id: str) -> Site:
    """Return the site; abort unless the signed-in user may manage it."""
    site = services.sites.get(SiteId(site_id))
    require(Permission.MANAGE_SITES, site.id)
    return site


@pages.get("/sites/<id:site_id>/rules")
def site_rules(site_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    return _show_rules(site, Rules.from_value(site.settings.rules).model_dump())


@pages.post("/sites/<id:site_id>/rules", needs=Permission.LOOK)
def change_site_rules(site_id: str) -> ResponseReturnValue:
    site = _managed(site_id)
    typed = {name: _read_rule(name) for name in Rules.model_fields}
    try:
        rules = validate(Rules, typed).as_value()
    except InvalidInputError as error:
        return _show_rules(site, typed, {one.field.partition(".")[0] for one in error.problems})
    if request.form.get("act") == "preview":
        return _show_rules(site, typed, preview=preview_rules(site.id, rules, services))
    change_site_settings(
        site.id, lambda present: replace(present, rules=rules), services, actor=moderator().name
    )
    told = gettext("The rules are saved; they count for comments judged from now on.")
    return go_to("pages.site_rules", told, site_id=site.id)


def _read_rule(name: str) -> Json:
    """Return a field's JSON value; an invalid number stays text, which the model refuses."""
    typed = request.form.get(name, "").strip()
    if Rules.model_fields[name].annotation is bool:
        return bool(typed)
    if name not in _LIMITS:
        return [line.strip() for line in typed.splitlines() if line.strip()]
    return int(typed) if typed.isdecimal() and len(typed) < 10 else typed or None


def _show_rules(
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
