"""Standard Webhooks, for programs without an adapter of their own."""

from dataclasses import replace

from pydantic import Field

from service.domain.comment import Lane
from service.web.api.intake import new_comment
from service.web.api.schemas import KeptRequest, OwnId, SiteIdQuery
from service.web.edge.current import services
from service.web.edge.errors import UnreadableRequestError
from service.web.edge.fields import known_date, read_any_moment
from service.web.edge.operation import validate
from service.web.edge.strict_json import parse
from service.web.webhooks.adapter import (
    Adapter,
    Deleted,
    Event,
    Received,
    Shown,
    require_standard_signature,
    serve_events,
)

_CREATED, _UPDATED, _DELETED = "comment.created", "comment.updated", "comment.deleted"


class ShownComment(KeptRequest):
    """A comment as in `POST /v1/comments`, with a required id, which identifies edits."""

    site_comment_id: OwnId
    edited_by_staff: bool = Field(
        default=False, strict=True, description="Whether a moderator edited it, not its author."
    )


def read(received: Received) -> Event | None:
    """Return the event of a message; see `Read`."""
    message = parse(received.body)
    if not isinstance(message, dict):
        raise UnreadableRequestError("The body is not a JSON object.")
    kind, data = message.get("type"), message.get("data")
    happened_at = known_date(read_any_moment(message.get("timestamp")))
    if kind == _DELETED:
        gone = validate(SiteIdQuery, data)
        return Deleted(site_comment_id=gone.site_comment_id, at=happened_at)
    if kind not in (_CREATED, _UPDATED):
        return None
    given = validate(ShownComment, data)
    new = new_comment(given, received.site, services, lane=Lane.INTERACTIVE, key=None)
    # Edits are ordered by the event's time. A new comment is no newer than its event.
    times = [at for at in (happened_at, given.written_at) if at][: 2 if kind == _CREATED else 1]
    comment = replace(new.comment, written_at=min(times, default=None))
    by_staff = kind == _UPDATED and given.edited_by_staff
    return Shown(new=replace(new, comment=comment), by_staff=by_staff)


ADAPTER = Adapter(
    verify=require_standard_signature, serve=serve_events(read, id_header="webhook-id")
)
