"""Writes found comments as CSV or as JSON lines, one after another, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from service.domain.case import Case
from service.domain.spreadsheet import as_text_cell

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
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
# So that spreadsheets read UTF-8 as what it is.
_BYTE_ORDER_MARK = "\ufeff"
_LINES_AT_ONCE = 50


class ExportForm(StrEnum):
    """The forms that comments are exported in; the values are the endings of files."""

    CSV = "csv"
    JSON_LINES = "jsonl"


MEDIA_TYPES = {
    ExportForm.CSV: "text/csv; charset=utf-8",
    ExportForm.JSON_LINES: "application/jsonl; charset=utf-8",
}


def write_export(cases: Iterable[Case], form: ExportForm) -> Iterator[str]:
    """Yield the cases in this form, some lines at a time; nothing is held back in memory."""
    write = _csv_lines if form is ExportForm.CSV else _json_lines
    lines: list[str] = []
    for line in write(cases):
        lines.append(line)
        if len(lines) >= _LINES_AT_ONCE:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _json_lines(cases: Iterable[Case]) -> Iterator[str]:
    for case in cases:
        row = {name: _writable(value(case)) for name, value in _COLUMNS.items()}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _csv_lines(cases: Iterable[Case]) -> Iterator[str]:
    yield _BYTE_ORDER_MARK + _csv_line(_COLUMNS)
    for case in cases:
        yield _csv_line(_cell(value(case)) for value in _COLUMNS.values())


def _csv_line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(list(cells))
    return line.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(value)
    return as_text_cell(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def _writable(value: Cell) -> Cell:
    if isinstance(value, str):
        return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    return value
