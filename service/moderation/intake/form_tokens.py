"""Hands tokens to comment forms, and says what became of the one that a comment brought."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from service.domain.comment import Comment
from service.domain.errors import StoreUnavailableError
from service.domain.form import (
    TOKEN_LIFE,
    FormBehaviour,
    FormToken,
    ReadToken,
    page_key,
    read_behaviour,
    read_seconds,
)
from service.domain.site import Site
from service.ports.services import Services

log = logging.getLogger(__name__)

FORM_FIELD = "slopsieve_form"
"""The hidden field that the page's script adds to a form."""
# The script sends some 900; what is longer is not of its making.
MAX_FIELD_CHARS = 4_000


def issue_token(site: Site, page: str | None, services: Services) -> Mapping[str, object]:
    """Return a token for a form on this page, as JSON has it."""
    return services.form_challenges.issue(site.id, page=page_key(page), at=services.clock())


def with_token(comment: Comment, sent: str | None, services: Services) -> Comment:
    """Return the comment with what its form's hidden field tells, `sent` as it came.

    None is a form that is not known to have the field: nothing is said of it. Empty, or of no form
    that the script gives it, the token is missing, provided that the site's forms have tokens. A
    token is used by this, but for the same comment it may come again: whoever got no answer sends
    it twice. Where nothing remembers tokens at the moment, nothing is said of them.
    """
    if sent is None:
        return comment
    told = _decode(sent)
    behaviour = read_behaviour(told.get("behaviour"))
    found = services.form_challenges.read(told, comment.site_id) if "challenge" in told else None
    try:
        token = _judge(comment, services, found, was_sent="challenge" in told)
    except StoreUnavailableError:
        log.warning("a form's token was not looked up", extra={"site_id": comment.site_id})
        token = None
    if found is not None and token is not FormToken.LATE:
        # Our clock at both ends, whatever the visitor's says.
        ours = read_seconds((services.clock() - found.issued_at).total_seconds())
        behaviour = replace(behaviour or FormBehaviour(), seconds=ours)
    form = replace(comment.form, token=token, behaviour=behaviour or comment.form.behaviour)
    return replace(comment, form=form)


def _judge(
    comment: Comment, services: Services, found: ReadToken | None, *, was_sent: bool
) -> FormToken | None:
    """Return what became of a token. Raises `StoreUnavailableError`."""
    if not was_sent:
        is_asked = services.spent_tokens.are_used_by(comment.site_id)
        return FormToken.MISSING if is_asked else None
    if found is None:
        return FormToken.FORGED
    if not timedelta() <= services.clock() - found.issued_at <= TOKEN_LIFE:
        return FormToken.LATE
    # Keyed and of this token alone: nobody can compare it with a comment's words.
    what = f"{found.id}:{comment.fingerprint()}".encode()
    use = hmac.digest(services.sender_secret, what, "sha256").hex()[:32]
    if not services.spent_tokens.spend(found.id, use=use, site_id=comment.site_id):
        return FormToken.REPLAYED
    page = page_key(comment.post.url)
    if page is not None and found.page is not None and page != found.page:
        return FormToken.ELSEWHERE
    return FormToken.VALID if found.solved else FormToken.UNSOLVED


def _decode(sent: str) -> Mapping[str, object]:
    """Return the members of the field's JSON, none for anything else."""
    if not sent or len(sent) > MAX_FIELD_CHARS:
        return {}
    try:
        told = json.loads(base64.b64decode(sent, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {name: value for name, value in told.items() if value is not None}
