"""The pages of sites: which there are, and one site's settings and keys.

A new key is shown in the answer to the form itself: to show it after a redirect it would have to
lie in the cookie meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus

from flask import abort, flash, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.case import CaseFilter
from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.errors import ConflictError, InvalidInputError
from service.domain.site import MAX_UNDO_SECONDS, Site
from service.domain.user import Permission
from service.domain.verdict import Outcome
from service.moderation.admin.sites import (
    IssuedKey,
    add_site,
    change_site_settings,
    forget_taught,
    issue_akismet_key,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.moderation.review.previews import preview_cutoffs
from service.web.edge.current import services
from service.web.edge.language import gettext, up_to_four_digits
from service.web.pages.common.filters import all_sites
from service.web.pages.common.pages import go_to, moderator, needs, pages, require
from service.web.pages.sites.site_form import (
    SiteForm,
    crossed_cutoffs,
    form_of,
    read_cutoffs,
    read_form,
)

_ISSUING: Mapping[str, Callable[..., IssuedKey]] = {
    "api": issue_key,
    "rotate": rotate_keys,
    "akismet": issue_akismet_key,
}


@pages.get("/sites")
def sites() -> ResponseReturnValue:
    return _show_list()


@pages.post("/sites", endpoint="add_site")
@needs(Permission.MANAGE_SITES)
def add() -> ResponseReturnValue:
    name = request.form.get("name", "")
    try:
        site, issued = add_site(name, services, actor=moderator().name)
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
    count, list_keys = services.cases.count, services.sites.list_keys
    html = render_template(
        "sites.html",
        sites=shown,
        valid_keys={one.id: sum(key.is_valid(now) for key in list_keys(one.id)) for one in shown},
        waiting={one.id: count(CaseFilter(site_id=one.id, needs_review=True)) for one in shown},
        may_add=user.may(Permission.MANAGE_SITES),
        name=name,
        problem=problem,
    )
    return html, HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK


@pages.get("/sites/<id:site_id>")
def site(site_id: str) -> ResponseReturnValue:
    return _show_site(managed_site(site_id))


# Which site it is decides whether they may, so that is asked inside.
@pages.post("/sites/<id:site_id>/settings", endpoint="site_settings")
@needs(Permission.LOOK)
def change(site_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    form = read_form(request.form, site.settings)
    if form.problems or request.form.get("act") == "preview":
        return _show_site(site, form=form)
    try:
        change_site_settings(
            site.id,
            lambda present: replace(present, **form.chosen),
            services,
            actor=moderator().name,
        )
    except ValueError:
        # The other cutoff was changed since the page was shown.
        present = services.sites.get(site.id).settings
        return _show_site(site, form=replace(form_of(present), problems=crossed_cutoffs()))
    told = gettext("The settings are saved; they count for comments judged from now on.")
    return go_to("pages.site", told, site_id=site.id)


@pages.post("/sites/<id:site_id>/forget-taught", endpoint="forget_taught")
@needs(Permission.LOOK)
def forget(site_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    forget_taught(site.id, services, actor=moderator().name)
    flash(gettext("What its decisions taught is forgotten; the decisions stay."), "forgotten")
    return go_to("pages.site", site_id=site.id, _anchor="forget")


@pages.get("/sites/<id:site_id>/cutoffs", endpoint="cutoff_preview")
def preview(site_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    cutoffs, problems = read_cutoffs(request.args, site.settings)
    if problems:
        refusal = " ".join(problems[key] for key in sorted(problems))
        return render_template(
            "cutoff_preview.html", preview=None, refusal=refusal
        ), HTTPStatus.BAD_REQUEST
    found = preview_cutoffs(site.id, services, **cutoffs)
    return render_template("cutoff_preview.html", preview=found, outcomes=Outcome)


@pages.app_template_filter()
def exact_percent(share: float) -> str:
    """Return a cutoff or a rate as people read it; the cutoffs of a version need two decimals."""
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


@pages.post("/sites/<id:site_id>/keys", endpoint="issue_site_key")
@needs(Permission.LOOK)
def issue(site_id: str) -> ResponseReturnValue:
    site, issue_kind = managed_site(site_id), _ISSUING.get(request.form.get("kind", ""))
    if issue_kind is None:
        abort(HTTPStatus.BAD_REQUEST)
    return _show_site(site, issued=issue_kind(site.id, services, actor=moderator().name))


@pages.post("/sites/<id:site_id>/keys/<id:key_id>/revoke", endpoint="revoke_site_key")
@needs(Permission.LOOK)
def revoke(site_id: str, key_id: str) -> ResponseReturnValue:
    site = managed_site(site_id)
    key = next((k for k in services.sites.list_keys(site.id) if k.id == key_id), None)
    if key is None:
        abort(HTTPStatus.NOT_FOUND)
    if key.revoked_at is None:
        # The last one too: whoever is signed in can issue another.
        revoke_key(key.id, services, actor=moderator().name)
    return go_to("pages.site", site_id=site.id, _anchor="keys")


def managed_site(site_id: str) -> Site:
    """Return the site, for whoever may manage it; end the request for others."""
    site = services.sites.get(SiteId(site_id))
    require(Permission.MANAGE_SITES, site.id)
    return site
