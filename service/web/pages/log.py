"""The page of the audit log, and its export."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import islice
from typing import Any

from flask import Response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.page import all_items
from service.domain.user import Permission
from service.ports.audit import AuditFilter
from service.stores.sql.audit_log import AuditLog
from service.web.edge.current import services
from service.web.edge.fields import is_id, write_moment
from service.web.pages.blueprint import pages
from service.web.pages.template_filters import all_sites, seen_ids

PAGE_SIZE = 50
_EXPORTED_AT_ONCE = 1_000
# About 200 MB.
MAX_EXPORTED = 1_000_000
_MAX_TYPED_CHARS = 200
# The largest value of a BIGINT column.
_MAX_SEQ = 2**63 - 1


@pages.get("/log", needs=Permission.SEE_LOG)
def log() -> ResponseReturnValue:
    asked, after = _read_query(), request.args.get("after", type=int)
    after = after if after is not None and 0 <= after <= _MAX_SEQ else None
    page = services.audit_log.page(_filter(asked), after=after, limit=PAGE_SIZE)
    older = page.next_cursor
    subjects = [CommentId(one.subject) for one in page.items if is_id(one.subject)]
    users = {user.id: user.name for user in services.users.all()}
    return render_template(
        "log.html",
        entries=page.items,
        names=users | {site_id: site.name for site_id, site in all_sites().items()},
        comments=seen_ids(services.cases.find_judged(subjects)),
        asked=asked,
        further=url_for("pages.log", **asked, after=older) if older else None,
        newest=url_for("pages.log", **asked) if after else None,
    )


@pages.get("/log.jsonl", needs=Permission.SEE_LOG)
def export_log() -> ResponseReturnValue:
    return Response(
        _lines(services.audit_log, _filter(_read_query())),
        mimetype="application/jsonl",
        headers={"Content-Disposition": 'attachment; filename="slopsieve-log.jsonl"'},
    )


def _read_query() -> dict[str, Any]:
    """Return the log's filters as typed, without empty and invalid ones."""
    fields = ("actor", "act", "subject", "from", "to")
    given = {name: request.args.get(name, "").strip()[:_MAX_TYPED_CHARS] for name in fields}
    for name in ("from", "to"):
        if _midnight(given[name]) is None:
            given[name] = ""
    return {name: value for name, value in given.items() if value}


def _filter(asked: Mapping[str, str]) -> AuditFilter:
    first, last = _midnight(asked.get("from", "")), _midnight(asked.get("to", ""))
    return AuditFilter(
        actor=asked.get("actor"),
        act=asked.get("act"),
        subject=asked.get("subject"),
        since=first,
        before=last and last + timedelta(days=1),
    )


def _midnight(typed: str) -> datetime | None:
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        return None
    # The next day must exist in Python, and the day in every database.
    return datetime.combine(day, time(), UTC) if 1970 <= day.year < 9999 else None


def _lines(audit_log: AuditLog, criteria: AuditFilter) -> Iterator[str]:
    read = partial(audit_log.page, criteria, limit=_EXPORTED_AT_ONCE)
    for entry in islice(all_items(lambda after: read(after=after)), MAX_EXPORTED):
        yield json.dumps(asdict(entry), default=write_moment) + "\n"
