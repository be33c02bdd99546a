"""Mastodon: judges the public posts of its people, and what is reported to its moderators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.applying import REPORT_COMMENT
from service.domain.report import Label
from service.ports.services import CommonPorts, ReputationPorts, Services
from service.web.webhooks.events import is_late, serve_events
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import Draft, Members, as_comment, own_id, read_json, require
from service.web.webhooks.received import Adapter, Event, Flagged, Received, Shown
from service.web.webhooks.signatures import require_hex_signature

_HEADER = "X-Hub-Signature"
_NAME = "mastodon"
# What is addressed to single people is nobody else's to read, moderators of spam included.
_PUBLIC = frozenset({"public", "unlisted"})


def verify(received: Received) -> None:
    """See `Adapter.verify`."""
    require_hex_signature(
        received.headers.get(_HEADER), received.body, received.hook.secret, header=_HEADER
    )


def read(received: Received, services: Services) -> Sequence[Event]:
    """See `Read`: posts that were written or edited, and reports with the posts they name."""
    payload = read_json(received.body)
    happened_at = payload.moment("created_at")
    event, given = payload.text("event"), payload.of("object")
    if event in ("status.created", "status.updated"):
        if given.text("visibility") not in _PUBLIC or given.of("reblog").value:
            return ()
        draft = _draft(given)
        comment = as_comment(draft, received.site, services.reputation, services.common)
        # When the event happened is signed; a template may have left it out.
        told = replace(comment.comment, written_at=happened_at or comment.comment.written_at)
        return [Shown(new=comment)] if draft.text and not is_late(told, received) else ()
    if event == "report.created":
        return _read_report(given, received, services.reputation, services.common)
    return ()


def _read_report(
    given: Members, received: Received, reputation: ReputationPorts, common: CommonPorts
) -> list[Event]:
    """Return the reported posts; a report for another reason than spam only has them judged."""
    if given.text("comment") == REPORT_COMMENT:
        # Our own, of a rejection: counted as a person's word it would confirm itself.
        return []
    author = given.of("target_account")
    drafts = [
        replace(_draft(status), email=author.text("email"), address=_last_address(author))
        for status in given.objects("statuses")
    ]
    new = [as_comment(draft, received.site, reputation, common) for draft in drafts if draft.text]
    if given.text("category") != "spam":
        return [Shown(new=one) for one in new]
    reporter = given.of("account").id("id")
    by = own_id(_NAME, reporter) if reporter else None
    return [Flagged(label=Label.SPAM, comment=one, reported_by=by) for one in new]


def _draft(status: Members) -> Draft:
    account = status.of("account")
    parent = status.id("in_reply_to_id")
    return Draft(
        text=_text(status),
        site_comment_id=own_id(_NAME, require(status.id("id"), "object.id")),
        author_name=account.text("display_name") or account.text("acct"),
        author_id=account.id("id"),
        author_since=account.moment("created_at"),
        written_at=status.moment("edited_at") or status.moment("created_at"),
        language=status.text("language"),
        reply_to=own_id(_NAME, parent) if parent else None,
    )


def _text(status: Members) -> str:
    """Return all that can be read in a post: its warning, its words, the choices of its poll."""
    parts = [status.text("spoiler_text"), html_to_text(status.text("content") or "")]
    parts += [option.text("title") for option in status.of("poll").objects("options")]
    parts += [media.text("description") for media in status.objects("media_attachments")]
    return "\n\n".join(part for part in parts if part)


def _last_address(account: Members) -> str | None:
    """Return the address last used; older versions give a string, newer ones an object."""
    return account.text("ip") or account.of("ip").text("ip")


ADAPTER = Adapter(verify=verify, serve=serve_events(read, lambda _: None))
