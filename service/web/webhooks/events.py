"""Carries out what a platform tells of its comments, each telling once, none lost."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from flask import request
from flask.typing import ResponseReturnValue

from service.domain.comment import Comment
from service.moderation.intake.revise import find_state, submit_version, withdraw_versions
from service.web.edge.current import services
from service.web.webhooks.received import Event, Read, Received, Shown

log = logging.getLogger(__name__)

# GitHub lets people send a delivery again for three days.
REMEMBERED = timedelta(days=7)


def serve_events(read: Read, *, id_header: str) -> Callable[[Received], ResponseReturnValue]:
    """Return what answers a platform that tells and does not ask; `id_header` names a delivery.

    2xx for all that was understood, also where nothing follows from it: platforms switch hooks
    off that answer otherwise.
    """

    def serve(received: Received) -> ResponseReturnValue:
        # The ids of most platforms come in headers that nobody signs: the signed body counts too.
        body = f"body:{hashlib.sha256(received.body).hexdigest()}"
        delivery_id = request.headers.get(id_header)
        names = [body, f"id:{delivery_id}"] if delivery_id else [body]
        now = services.clock()
        since = now - REMEMBERED
        has_seen = partial(services.inbound.has_seen, received.hook.id, since=since)
        if delivery_id and has_seen(names[1]):
            return {"status": "duplicate"}
        events = read(received)
        # A comment that was brought back, or edited back, is told in the words it first had.
        led_to = _states(events, received, body)
        if has_seen(body) and all(map(has_seen, led_to)):
            return {"status": "duplicate"}
        for event in events:
            _carry_out(event, received)
        # Only now: a delivery that was cut short is sent again, and carrying out twice is harmless.
        for name in (*names, *_states(events, received, body)):
            services.inbound.remember(received.hook.id, name, at=now, forget=since)
        kinds = ",".join(type(event).__name__.lower() for event in events[:20])
        platform = received.hook.platform.value
        extra = {"hook": received.hook.id, "platform": platform, "events": kinds or "none"}
        log.info("webhook received", extra=extra)
        return ({"status": "accepted"}, 202) if events else {"status": "ignored"}

    return serve


def is_late(comment: Comment) -> bool:
    """Return True if a delivery is older than the memory of deliveries that were processed."""
    return comment.written_at is not None and comment.written_at < services.clock() - REMEMBERED


def _states(events: Sequence[Event], received: Received, body: str) -> list[str]:
    """Return a name of this body having led to where each comment stands; unknown ones left out."""
    own_ids = [
        event.new.comment.site_comment_id if isinstance(event, Shown) else event.site_comment_id
        for event in events
    ]
    states = [find_state(received.site.id, one, services) for one in own_ids if one]
    return [f"{body}:{state}" for state in states if state]


def _carry_out(event: Event, received: Received) -> None:
    by = received.by
    if isinstance(event, Shown):
        submit_version(event.new, services, by=by, recovers=event.recovers, by_staff=event.by_staff)
    else:
        withdraw_versions(
            received.site.id, event.site_comment_id, services, by=by, deleted_at=event.at
        )
