"""Reads what a data file says about a comment that no site could send: its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.errors import Problem
from service.domain.verdict import Span
from service.scoring.report.spans import Marks
from service.scoring.report.table import NOT_STATED, Facts, SliceBy, length_bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The label of a comment, what it is sliced by, and where its promotion is."""

    label: str | None
    source: str
    facts: Facts
    marks: Marks


def read_labels(row: Mapping[str, object], *, file_stem: str, problems: list[Problem]) -> Labels:
    """Return the labels of a line in the data card's keys; `file_stem` names a missing source.

    What is wrong is added to `problems` and counts as absent. What is absent is not wrong.
    """
    text, label = str(row["text"]), row.get("label")
    if label not in ("spam", "ham", None):
        label = None
        problems.append(Problem("label", "is none of the labels", 'use "spam", "ham" or null'))
    is_spam = None if label is None else label == "spam"
    promo_spans = _promo_spans(row.get("promo_spans"), len(text), problems)
    boundary = _boundary(row.get("boundary"), len(text), problems)
    source = _name(row.get("source"), file_stem)
    slices = {
        SliceBy.SOURCE: source,
        SliceBy.KIND: _name(row.get("kind"), NOT_STATED),
        SliceBy.LANGUAGE: _name(row.get("lang"), NOT_STATED),
        SliceBy.HARDNESS: _name(row.get("hardness"), NOT_STATED),
        SliceBy.LENGTH: length_bucket(text),
    }
    return Labels(
        label=None if label is None else str(label),
        source=source,
        facts=Facts(is_spam=is_spam, slices=slices),
        # A boundary in ham or in unlabelled text parts two writers, not a remark from an advert.
        marks=Marks(promo_spans=promo_spans, boundary=boundary if is_spam else None),
    )


def _name(value: object, absent: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return absent
    return str(value)[:1_000].strip() or absent


def _promo_spans(value: object, n_chars: int, problems: list[Problem]) -> tuple[Span, ...] | None:
    if value is None:
        return None
    if isinstance(value, list) and all(_is_span(pair, n_chars) for pair in value):
        return tuple(Span(start=start, end=end) for start, end in value)
    remedy = "give a list of [start, end) pairs of character offsets"
    problems.append(Problem("promo_spans", "does not fit the text", remedy))
    return None


def _is_span(pair: object, n_chars: int) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    start, end = pair
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= n_chars


def _boundary(value: object, n_chars: int, problems: list[Problem]) -> int | None:
    if value is None or (isinstance(value, int) and 0 <= value <= n_chars):
        return value
    remedy = "give one character offset, or null"
    problems.append(Problem("boundary", "does not fit the text", remedy))
    return None
