"""Coral: an external moderation phase, while the comment's author waits."""

import hashlib
import logging

from flask import g
from flask.typing import ResponseReturnValue

from service.domain.comment import Author, Label, Post
from service.domain.decision import Mode
from service.domain.delivery import Platform
from service.domain.verdict import Outcome
from service.moderation.delivering import plain_answer
from service.web.api.intake import keep_until, unjudged
from service.web.edge.overload import keep_in_line
from service.web.edge.strict_json import Json
from service.web.webhooks.adapter import Adapter, Received, signed_in
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import as_comment, own_id, read_json

log = logging.getLogger(__name__)

# From the request's arrival.
WAIT_BUDGET_SECONDS = 0.4
# Coral's own moderators are not moderated.
_TRUSTED = frozenset({"STAFF", "MODERATOR", "ADMIN"})

NO_OPINION: dict[str, Json] = {}
HOLD: dict[str, Json] = {"status": "PREMOD"}
WITHHOLD: dict[str, Json] = {
    "status": "SYSTEM_WITHHELD",
    "actions": [{"actionType": "FLAG", "reason": "COMMENT_DETECTED_SPAM"}],
}


def serve(received: Received) -> ResponseReturnValue:
    """Return the response to a comment that is being posted or edited.

    Spam is withheld with a flag. An unsure comment waits for Coral's moderators if the site holds
    unsure comments. A comment that is not judged in time is treated as unsure, because Coral
    publishes a comment without a response.
    """
    payload = read_json(received.body)
    comment, author = payload.of("comment"), payload.of("author")
    text, parent = html_to_text(comment.text("body") or ""), comment.id("parentID")
    if not text or author.text("role") in _TRUSTED:
        return NO_OPINION
    # Coral sends no id. The same body is the same comment.
    key = own_id(Platform.CORAL, hashlib.sha256(received.body).hexdigest())
    new = as_comment(
        received.site,
        text,
        post=Post(url=payload.of("story").text("url")),
        author=Author(account_id=author.id("id")),
        reply_to=own_id(Platform.CORAL, parent) if parent else None,
        key=key,
    )
    if received.site.settings.mode is Mode.OBSERVE:
        added, _ = keep_in_line(new)
        case = unjudged(new, received.site, added)
    else:
        case = keep_until(new, received.site, g.started + WAIT_BUDGET_SECONDS)
    log.info(
        "Coral was answered", extra={"comment_id": case.comment.id, "late": case.verdict is None}
    )
    label = plain_answer(case, received.site.settings)
    if label is None:
        return HOLD if received.site.settings.holds_unsure else NO_OPINION
    if label is Label.HAM:
        return NO_OPINION
    outcome = case.verdict.outcome if case.verdict and not case.decision else None
    return HOLD if outcome is Outcome.UNSURE else WITHHOLD


ADAPTER = Adapter(verify=signed_in("X-Coral-Signature"), serve=serve)
