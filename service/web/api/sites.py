"""Routes for a site's own settings, rules and keys."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from service.domain.errors import invalid_input
from service.domain.site import Site, SiteSettings
from service.moderation import figures as previewing
from service.moderation import sites
from service.moderation.hooks import keep_form_hook
from service.web.api.answers import (
    FormAnswer,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyList,
    RulesPreviewAnswer,
    SiteAnswer,
)
from service.web.api.blueprint import api, site_as_actor
from service.web.api.schemas import KeyRequest, Rules, SettingsRequest
from service.web.edge.auth import current_site
from service.web.edge.current import services
from service.web.edge.operation import operation


@api.get("/site")
@operation(tag="Site")
def get_site() -> SiteAnswer:
    """Read the site and its settings."""
    return SiteAnswer.from_value(current_site())


@api.patch("/site/settings")
@operation(tag="Site")
def change_settings(body: SettingsRequest) -> SiteAnswer:
    """Change settings.

    Fields that are left out do not change.
    """
    return SiteAnswer.from_value(_change(lambda present: _merged(present, body)))


@api.get("/site/rules")
@operation(tag="Site")
def get_rules() -> Rules:
    """Read the rules that hold comments.

    Without rules, only the verdict holds a comment.
    """
    return Rules.from_value(current_site().settings.rules)


@api.put("/site/rules")
@operation(tag="Site")
def set_rules(body: Rules) -> Rules:
    """Replace the rules that hold comments.

    A rule turns a ham verdict into unsure, never into spam. A rule that is left out is off. Rules
    apply to comments judged from now on.
    """
    site = _change(lambda present: replace(present, rules=body.as_value()))
    return Rules.from_value(site.settings.rules)


@api.post("/site/rules/preview")
@operation(tag="Site")
def preview_rules(body: Rules) -> RulesPreviewAnswer:
    """Preview rules on the last 90 days.

    Nothing is changed. At most the newest 5,000 comments are checked.
    """
    return RulesPreviewAnswer.from_value(
        previewing.preview_rules(current_site().id, body.as_value(), services)
    )


@api.put("/site/form")
@operation(tag="Site")
def set_form() -> FormAnswer:
    """Enable the script for comment forms.

    The script gives each comment a token and records how the form was filled in. The site's server
    sends the script's field on as `form.token`. A repeat returns the same script.
    """
    hook = keep_form_hook(current_site().id, services, actor=site_as_actor())
    return FormAnswer(hook_id=hook.id, script=f"/public/{hook.id}/form.js")


@api.get("/site/keys")
@operation(tag="Keys")
def list_keys() -> KeyList:
    """List the site's keys."""
    return KeyList(keys=services.sites.list_keys(current_site().id))


@api.post("/site/keys")
@operation(tag="Keys", statuses=(201,), problems=(409,))
def issue_key(body: KeyRequest) -> IssuedKeyAnswer:
    """Issue a key, or rotate.

    With `rotate` the site's other keys expire after the overlap, which leaves time to replace them
    everywhere. A site can have up to 50 valid keys.
    """
    site_id, actor = current_site().id, site_as_actor()
    if body.rotate:
        overlap = timedelta(seconds=body.overlap_seconds)
        issued = sites.rotate_keys(site_id, services, actor=actor, overlap=overlap)
    else:
        issued = sites.issue_key(site_id, services, actor=actor)
    return IssuedKeyAnswer.from_value(issued)


@api.delete("/site/keys/<id:key_id>")
@operation(tag="Keys", problems=(409,))
def revoke_key(key_id: str) -> KeyAnswer:
    """Revoke a key.

    The key is invalid at once. The last valid key cannot be revoked.
    """
    key = sites.revoke_key(key_id, services, actor=site_as_actor(), site_id=current_site().id)
    return KeyAnswer.from_value(key)


def _change(how: Callable[[SiteSettings], SiteSettings]) -> Site:
    return sites.change_site_settings(current_site().id, how, services, actor=site_as_actor())


def _merged(present: SiteSettings, given: SettingsRequest) -> SiteSettings:
    """Return the changed settings; only for cutoffs null is a value."""
    chosen: dict[str, Any] = {
        name: value
        for name, value in given.model_dump(exclude_unset=True).items()
        if value is not None or name in ("ham_cutoff", "spam_cutoff")
    }
    try:
        return replace(present, **chosen)
    except ValueError as crossed:
        remedy = "send a ham_cutoff that is not above the spam_cutoff"
        raise invalid_input("ham_cutoff", str(crossed), remedy) from None
