"""The page of the audit log: who did what, when; read and taken away, never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from flask import Response, current_app, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.user import Permission
from service.ports.audit import AuditEntry, AuditFilter
from service.stores.sql.audit_log import AuditLog
from service.web.edge.ids import is_id
from service.web.edge.moments import write_moment
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, pages, services
from service.web.pages.common.presenting import Moment, tell_time

PAGE_SIZE = 50
_EXPORTED_AT_ONCE = 1_000
# Some 200 MB; who needs more narrows the dates.
MAX_EXPORTED = 1_000_000
_MAX_TYPED_CHARS = 200
_MAX_SEQ_CHARS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class ActView:
    """One act. `comment` says that its subject is a comment that can be looked at."""

    when: Moment
    actor: tuple[Piece, ...]
    act: str
    subject: tuple[Piece, ...]
    subject_id: str
    comment: bool
    detail: tuple[Piece, ...]


@pages.get("/log")
@needs(Permission.SEE_LOG)
def log() -> ResponseReturnValue:
    page = services.common.audit_log.page(_filter(), after=_after(), limit=PAGE_SIZE)
    asked = _asked()
    bulk_decisions = "pages.bulk_decisions" in current_app.view_functions
    return render_template(
        "log.html",
        acts=_present(page.entries),
        asked=asked,
        further=url_for("pages.log", **asked, after=page.next_after) if page.next_after else None,
        newest=url_for("pages.log", **asked) if _after() else None,
        export=url_for("pages.export_log", **asked),
        bulk_decisions=url_for("pages.bulk_decisions") if bulk_decisions else None,
    )


@pages.get("/log.jsonl")
@needs(Permission.SEE_LOG)
def export_log() -> ResponseReturnValue:
    return Response(
        _lines(services.common.audit_log, _filter()),
        mimetype="application/jsonl",
        headers={"Content-Disposition": 'attachment; filename="slopsieve-log.jsonl"'},
    )


def _asked() -> dict[str, Any]:
    """Return what the log is narrowed to, as it was typed; what says nothing is left out."""
    fields = ("actor", "act", "subject", "from", "to")
    given = {name: request.args.get(name, "").strip()[:_MAX_TYPED_CHARS] for name in fields}
    for name in ("from", "to"):
        if _day(given[name]) is None:
            given[name] = ""
    return {name: value for name, value in given.items() if value}


def _filter() -> AuditFilter:
    asked = _asked()
    first, last = _day(asked.get("from", "")), _day(asked.get("to", ""))
    return AuditFilter(
        actor=asked.get("actor"),
        act=asked.get("act"),
        subject=asked.get("subject"),
        since=_midnight(first) if first else None,
        before=_midnight(last) + timedelta(days=1) if last else None,
    )


def _day(typed: str) -> date | None:
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        return None
    # The last days there are have no next one, and no database knows the first.
    return day if 1970 <= day.year < 9999 else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _after() -> int | None:
    typed = request.args.get("after", "")
    if not (typed.isascii() and typed.isdigit() and len(typed) <= _MAX_SEQ_CHARS):
        return None
    return int(typed)


def _present(entries: Sequence[AuditEntry]) -> list[ActView]:
    now = services.common.clock()
    named: dict[str, str] = {user.id: user.name for user in services.accounts.users.all()}
    named |= {site.id: site.name for site in services.common.sites.all()}
    comments = _comments(entries)
    return [
        ActView(
            when=tell_time(entry.at, now),
            actor=part_text(entry.actor),
            act=entry.act,
            subject=part_text(named.get(entry.subject, entry.subject)),
            subject_id=entry.subject if entry.subject in comments else "",
            comment=entry.subject in comments,
            detail=part_text(entry.detail),
        )
        for entry in entries
    ]


def _comments(entries: Sequence[AuditEntry]) -> set[str]:
    """Return which subjects are comments of sites that the account sees."""
    ids = {CommentId(entry.subject) for entry in entries if is_id(entry.subject)}
    user = moderator()
    return {
        case.comment.id
        for case in services.review.cases.find_judged(sorted(ids))
        if user.sees(case.comment.site_id)
    }


def _lines(audit_log: AuditLog, criteria: AuditFilter) -> Iterator[str]:
    after, left = None, MAX_EXPORTED
    while left > 0:
        page = audit_log.page(criteria, after=after, limit=min(_EXPORTED_AT_ONCE, left))
        for entry in page.entries:
            yield json.dumps(_record(entry)) + "\n"
        left -= len(page.entries)
        after = page.next_after
        if after is None:
            return


def _record(entry: AuditEntry) -> dict[str, str]:
    return {
        "at": write_moment(entry.at),
        "actor": entry.actor,
        "act": entry.act,
        "subject": entry.subject,
        "detail": entry.detail,
    }
