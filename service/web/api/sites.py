"""Lets a site see and change its own settings and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from service.domain.errors import InvalidInputError, Problem
from service.domain.site import Site, SiteSettings
from service.moderation.admin.sites import (
    change_site_settings,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.moderation.review.preview_rules import preview_rules
from service.moderation.telling.hooks import keep_form_hook
from service.ports.services import Services
from service.web.api.answers import (
    FormAnswer,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyList,
    RulesPreviewAnswer,
    SiteAnswer,
)
from service.web.api.route import Call, Reply, Route
from service.web.api.schemas import KeyRequest, Rules, SettingsRequest

_TAG = "Site"
_KEYS = "Keys"


def site_routes(services: Services) -> list[Route]:
    """Return the routes by which a site manages itself."""
    return [
        Route(
            method="GET",
            path="/site",
            name="get_site",
            tag=_TAG,
            summary="Read the site and its settings",
            view=lambda call: Reply(answer=SiteAnswer.from_value(call.site)),
            answer=SiteAnswer,
            answered="The site that the key belongs to.",
        ),
        Route(
            method="PATCH",
            path="/site/settings",
            name="change_settings",
            tag=_TAG,
            summary="Change settings",
            description="Fields that are left out stay as they are.",
            view=lambda call: _change_settings(call, services),
            body=SettingsRequest,
            answer=SiteAnswer,
            answered="The site with its new settings.",
        ),
        Route(
            method="GET",
            path="/site/rules",
            name="get_rules",
            tag=_TAG,
            summary="Read the rules that hold comments",
            view=lambda call: Reply(answer=Rules.from_value(call.site.settings.rules)),
            answer=Rules,
            answered="The rules; without one, comments are held by their verdict alone.",
        ),
        Route(
            method="PUT",
            path="/site/rules",
            name="set_rules",
            tag=_TAG,
            summary="Replace the rules that hold comments",
            description=(
                "Rules make unsure what would be ham, never spam. What is left out is off. They "
                "count for comments judged from now on."
            ),
            view=lambda call: _set_rules(call, services),
            body=Rules,
            answer=Rules,
            answered="The new rules.",
        ),
        Route(
            method="POST",
            path="/site/rules/preview",
            name="preview_rules",
            tag=_TAG,
            summary="Preview rules on the last 90 days",
            description="Nothing is changed. At most the newest 5,000 comments are looked at.",
            view=lambda call: Reply(
                answer=RulesPreviewAnswer.from_value(
                    preview_rules(call.site.id, call.body(Rules).as_value(), services)
                )
            ),
            body=Rules,
            answer=RulesPreviewAnswer,
            answered="What these rules would have held.",
        ),
        Route(
            method="PUT",
            path="/site/form",
            name="set_form",
            tag=_TAG,
            summary="Let the site's pages load the script of comment forms",
            description=(
                "The script hands each comment a token and counts how its form was filled in; the "
                "site's server sends its field on as `form.token`. A repeat answers the same."
            ),
            view=lambda call: _set_form(call, services),
            answer=FormAnswer,
            answered="Where the script is.",
        ),
        Route(
            method="GET",
            path="/site/keys",
            name="list_keys",
            tag=_KEYS,
            summary="List the site's keys",
            view=lambda call: Reply(
                answer=KeyList(keys=services.common.sites.list_keys(call.site.id))
            ),
            answer=KeyList,
            answered="All keys, without their secrets.",
        ),
        Route(
            method="POST",
            path="/site/keys",
            name="issue_key",
            tag=_KEYS,
            summary="Issue a key, or rotate",
            description=(
                "With `rotate` the site's other keys end after the overlap, which leaves time to "
                "change the key everywhere. A site may have up to 50 valid keys."
            ),
            view=lambda call: _issue_key(call, services),
            body=KeyRequest,
            status=201,
            answer=IssuedKeyAnswer,
            answered="The new key, with its secret this once.",
            problems=(409,),
        ),
        Route(
            method="DELETE",
            path="/site/keys/<id:key_id>",
            name="revoke_key",
            tag=_KEYS,
            summary="Revoke a key",
            description="At once. The last valid key cannot be revoked.",
            view=lambda call: _revoke_key(call, services),
            answer=KeyAnswer,
            answered="The key, now ended.",
            problems=(409,),
        ),
    ]


def _change(call: Call, how: Callable[[SiteSettings], SiteSettings], services: Services) -> Site:
    return change_site_settings(call.site.id, how, services, actor=_actor(call.site))


def _change_settings(call: Call, services: Services) -> Reply:
    given = call.body(SettingsRequest)
    site = _change(call, lambda present: _merged(present, given), services)
    return Reply(answer=SiteAnswer.from_value(site))


def _set_rules(call: Call, services: Services) -> Reply:
    rules = call.body(Rules).as_value()
    site = _change(call, lambda present: replace(present, rules=rules), services)
    return Reply(answer=Rules.from_value(site.settings.rules))


def _merged(present: SiteSettings, given: SettingsRequest) -> SiteSettings:
    """Return the settings after the change; a null is a choice for cutoffs only."""
    chosen: dict[str, Any] = {
        name: value
        for name, value in given.model_dump(exclude_unset=True).items()
        if value is not None or name in ("ham_cutoff", "spam_cutoff")
    }
    if "languages" in chosen:
        chosen["languages"] = tuple(dict.fromkeys(chosen["languages"]))
    ham = chosen.get("ham_cutoff", present.ham_cutoff)
    spam = chosen.get("spam_cutoff", present.spam_cutoff)
    if ham is not None and spam is not None and ham > spam:
        problem = Problem(
            field="ham_cutoff",
            problem=f"would be {ham}, above the spam_cutoff of {spam}",
            remedy="send a ham_cutoff that is not above the spam_cutoff",
        )
        raise InvalidInputError([problem])
    return replace(present, **chosen)


def _set_form(call: Call, services: Services) -> Reply:
    hook = keep_form_hook(call.site.id, services, actor=_actor(call.site))
    return Reply(answer=FormAnswer(hook_id=hook.id, script=f"/public/{hook.id}/form.js"))


def _issue_key(call: Call, services: Services) -> Reply:
    given = call.body(KeyRequest)
    actor = _actor(call.site)
    if given.rotate:
        overlap = timedelta(seconds=given.overlap_seconds)
        issued = rotate_keys(call.site.id, services, actor=actor, overlap=overlap)
    else:
        issued = issue_key(call.site.id, services, actor=actor)
    return Reply(answer=IssuedKeyAnswer.from_value(issued), status=201)


def _revoke_key(call: Call, services: Services) -> Reply:
    key = revoke_key(call.path["key_id"], services, actor=_actor(call.site), site_id=call.site.id)
    return Reply(answer=KeyAnswer.from_value(key))


def _actor(site: Site) -> str:
    return f"site: {site.id}"
