"""Writes found comments as CSV or as JSON lines, one after another, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from service.domain.case import Case
from service.domain.spreadsheet import as_text_cell

COLUMNS = (
    "id",
    "site_id",
    "received_at",
    "author_name",
    "author_url",
    "text",
    "post_title",
    "post_url",
    "outcome",
    "p_spam",
    "model_version",
    "signals",
    "degraded_by",
    "audit",
    "decision",
    "decided_by",
    "decided_at",
    "reported_as",
)

Cell = str | float | bool | list[str] | None

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
        row = {name: _writable(value) for name, value in _row(case).items()}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _csv_lines(cases: Iterable[Case]) -> Iterator[str]:
    yield _BYTE_ORDER_MARK + _csv_line(COLUMNS)
    for case in cases:
        yield _csv_line(_cell(value) for value in _row(case).values())


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


def _row(case: Case) -> dict[str, Cell]:
    comment, verdict, decision = case.comment, case.verdict, case.decision
    values: tuple[Cell, ...] = (
        comment.id,
        comment.site_id,
        comment.received_at.isoformat(),
        comment.author.name,
        comment.author.url,
        comment.text,
        comment.post.title,
        comment.post.url,
        verdict.outcome.value if verdict else None,
        verdict.p_spam if verdict else None,
        verdict.model_version if verdict else None,
        [weighed.signal.name for weighed in verdict.signals] if verdict else [],
        list(verdict.degraded_by) if verdict else [],
        case.audit,
        decision.ruling.value if decision else None,
        decision.decided_by if decision else None,
        decision.decided_at.isoformat() if decision else None,
        case.reports[-1].label.value if case.reports else None,
    )
    return dict(zip(COLUMNS, values, strict=True))
