"""The search page: results, their bulk decision, and export as CSV or JSON lines."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from http import HTTPStatus
from itertools import chain, islice
from typing import Any

from flask import Response, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.errors import ConflictError, InvalidInputError, Problem
from service.domain.search import FIELD_NAMES, MAX_QUERY_CHARS, MAX_TERMS, VALUES, Field, line_of
from service.domain.text import csv_line, storable
from service.domain.user import Permission
from service.moderation import queue
from service.web.edge.current import services
from service.web.pages import forms
from service.web.pages.blueprint import moderator, pages
from service.web.pages.bulk_decisions import just_done_bulk_decision, remember_bulk_decision
from service.web.pages.template_filters import seen_sites

Cell = str | float | bool | list[str] | None

_COLUMNS: Mapping[str, Callable[[Case], Cell]] = {
    "id": lambda case: case.comment.id,
    "site_id": lambda case: case.comment.site_id,
    "received_at": lambda case: case.comment.received_at.isoformat(),
    "author_name": lambda case: case.comment.author.name,
    "author_url": lambda case: case.comment.author.url,
    "text": lambda case: case.comment.text,
    "post_title": lambda case: case.comment.post.title,
    "post_url": lambda case: case.comment.post.url,
    "outcome": lambda case: case.verdict.outcome.value if case.verdict else None,
    "p_spam": lambda case: case.verdict.p_spam if case.verdict else None,
    "model_version": lambda case: case.verdict.model_version if case.verdict else None,
    "signals": lambda case: (
        [one.signal.name for one in case.verdict.signals] if case.verdict else []
    ),
    "degraded_by": lambda case: list(case.verdict.degraded_by) if case.verdict else [],
    "audit": lambda case: case.audit,
    "decision": lambda case: case.decision.ruling.value if case.decision else None,
    "decided_by": lambda case: case.decision.decided_by if case.decision else None,
    "decided_at": lambda case: case.decision.decided_at.isoformat() if case.decision else None,
    "reported_as": lambda case: case.reports[-1].label.value if case.reports else None,
}
# Makes spreadsheets read the file as UTF-8.
_BYTE_ORDER_MARK = "\ufeff"
_LINES_AT_ONCE = 50
PAGE_SIZE = 25


class ExportForm(StrEnum):
    """Export formats, by file extension."""

    CSV = "csv"
    JSON_LINES = "jsonl"


def write_export(cases: Iterable[Case], form: ExportForm) -> Iterator[str]:
    """Yield the cases in this format, several lines at a time."""
    rows = ({name: _writable(value(case)) for name, value in _COLUMNS.items()} for case in cases)
    lines: Iterator[str]
    if form is ExportForm.CSV:
        cells = chain([_COLUMNS], (map(_cell, row.values()) for row in rows))
        lines = chain([_BYTE_ORDER_MARK], (csv_line(row, quotes_all=True) for row in cells))
    else:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    while several := "".join(islice(lines, _LINES_AT_ONCE)):
        yield several


def _writable(value: Cell) -> Cell:
    return storable(value) if isinstance(value, str) else value


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(value) if isinstance(value, list) else str(value)


@pages.get("/review/search")
def search() -> ResponseReturnValue:
    typed = {name: request.args.get(name, "") for name in FIELD_NAMES}
    if any(typed.values()):
        # Redirect to the same search as one line of text, which can be shared and edited.
        line = line_of(typed | {Field.TEXT: _line()})
        return redirect(_url(line[: MAX_QUERY_CHARS + 1]), HTTPStatus.SEE_OTHER)
    return _show(_line())


@pages.get("/review/search/export")
def search_export() -> ResponseReturnValue:
    form = request.values.get("as", type=ExportForm) or abort(HTTPStatus.BAD_REQUEST)
    try:
        cases = queue.export_found(_line(), form.value, services, user=moderator())
    except InvalidInputError as error:
        return _show(_line(), problems=error.problems)
    media_type = "text/csv" if form is ExportForm.CSV else "application/jsonl"
    return Response(
        write_export(cases, form),
        content_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="comments.{form.value}"'},
    )


@pages.post("/review/search/decision", needs=Permission.DECIDE)
def decide_search() -> ResponseReturnValue:
    counted = request.form.get("counted", type=int)
    decided = request.form.get("decided", type=int)
    if counted is None or decided is None:
        abort(HTTPStatus.BAD_REQUEST)
    try:
        bulk_decision = queue.decide_found(
            _line(),
            forms.read_ruling(),
            services,
            user=moderator(),
            counted=counted,
            decided=decided,
            until=forms.read_until(),
            bulk_decision_id=forms.read_id("stroke"),
        )
    except InvalidInputError as error:
        return _show(_line(), problems=error.problems)
    except ConflictError:
        return _show(_line(), changed=True)
    remember_bulk_decision(bulk_decision)
    return redirect(_url(_line()), HTTPStatus.SEE_OTHER)


def _show(
    line: str, *, problems: Sequence[Problem] = (), changed: bool = False
) -> ResponseReturnValue:
    results: dict[str, Any] = {}
    cursor = forms.read_token("cursor")
    if not problems:
        try:
            found = forms.read_from(
                cursor,
                lambda begin: queue.find_comments(
                    line, services, user=moderator(), cursor=begin, limit=PAGE_SIZE
                ),
            )
        except InvalidInputError as error:
            problems = error.problems
        else:
            further = found.page.next_cursor
            results = {
                "found": found,
                # An empty search cannot decide all comments.
                "may_ask": bool(line.strip()) and moderator().may(Permission.DECIDE),
                "further": _url(line, cursor=further) if further else None,
                "first": _url(line) if cursor else None,
            }
    status = HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK
    page = render_template(
        "search.html",
        line=line[: MAX_QUERY_CHARS + 1],
        here=_url(line[:MAX_QUERY_CHARS]),
        problems=problems,
        changed=changed,
        sites=seen_sites(),
        values={field.value: values for field, values in VALUES.items()},
        fields=FIELD_NAMES,
        done=just_done_bulk_decision(),
        max_counted=queue.MAX_COUNTED,
        max_decided=queue.MAX_DECIDED,
        bulk_decision_id=services.new_id("str"),
        max_line=MAX_QUERY_CHARS,
        max_terms=MAX_TERMS,
        **results,
    )
    return page, HTTPStatus.CONFLICT if changed else status


def _line() -> str:
    """Return the search line of the query or the form; the parser refuses one too long."""
    return request.values.get("q", "")[: MAX_QUERY_CHARS + 1]


def _url(line: str, *, cursor: str | None = None) -> str:
    # A URL cannot contain a lone surrogate.
    whole = line.encode("utf-8", "replace").decode()
    return url_for("pages.search", q=whole or None, cursor=cursor)
