"""Reads comments and their labels, which no site could send, in the keys of data/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from service.commands.input_files import Broken, InputFile
from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.domain.dataset_row import comment_from_row
from service.domain.errors import InvalidInputError, Problem
from service.domain.verdict import Span
from service.scoring.report.figures import NOT_STATED, Facts, SliceBy, length_bucket
from service.scoring.report.spans import Marks

MAX_ID_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetLine:
    """A comment with its label, what it is sliced by, and where its promotion is."""

    number: int
    comment: Comment
    label: str | None
    source: str
    facts: Facts
    marks: Marks


def read_dataset(file: InputFile, *, labelled: bool) -> Iterator[DatasetLine | Broken]:
    """Yield every line in order. Only where the file is `labelled`, a wrong label breaks a line."""
    for number, line in file.lines():
        yield line if isinstance(line, Broken) else _read_line(number, line, file.stem, labelled)


def _read_line(
    number: int,
    line: bytes,
    file_stem: str,
    labelled: bool,  # noqa: FBT001  # named by its caller
) -> DatasetLine | Broken:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        return Broken.line(number, "is not UTF-8", "convert the file to UTF-8")
    except json.JSONDecodeError as error:
        problem = f"is not JSON (column {error.colno})"
        return Broken.line(number, problem, "write one JSON object a line")
    except (RecursionError, ValueError):
        return Broken.line(number, "is JSON beyond reason", "nest less and use shorter numbers")
    if not isinstance(row, dict):
        return Broken.line(number, "is not a JSON object", "write one JSON object a line")
    if problems := _problems(row):
        return Broken(number, tuple(problems))
    # What is wrong with a label counts as absent where the file is not labelled.
    text, label = str(row["text"]), row.get("label")
    if label not in ("spam", "ham", None):
        problems.append(Problem("label", "is none of the labels", 'use "spam", "ham" or null'))
        label = None
    is_spam = None if label is None else label == "spam"
    promo_spans = _promo_spans(row.get("promo_spans"), len(text), problems)
    boundary = _boundary(row.get("boundary"), len(text), problems)
    if labelled and problems:
        return Broken(number, tuple(problems))
    source = _name(row.get("source"), file_stem)
    slices = {
        SliceBy.SOURCE: source,
        SliceBy.KIND: _name(row.get("kind"), NOT_STATED),
        SliceBy.LANGUAGE: _name(row.get("lang"), NOT_STATED),
        SliceBy.HARDNESS: _name(row.get("hardness"), NOT_STATED),
        SliceBy.LENGTH: length_bucket(text),
    }
    try:
        return DatasetLine(
            number=number,
            comment=comment_from_row(row),
            label=label,
            source=source,
            facts=Facts(is_spam=is_spam, slices=slices),
            # In ham or in unlabelled text it parts two writers, not a remark from an advert.
            marks=Marks(promo_spans=promo_spans, boundary=boundary if is_spam else None),
        )
    except InvalidInputError as error:
        return Broken(number, error.problems)
    except ValueError:
        return Broken.line(number, "does not describe a comment", "compare it with the data card")


def _problems(row: Mapping[str, object]) -> list[Problem]:
    problems = []
    comment_id, text = row.get("id"), row.get("text")
    if not isinstance(comment_id, str) or not 0 < len(comment_id) <= MAX_ID_CHARS:
        problem = "is missing" if comment_id is None else "is not usable"
        remedy = f"give every comment a string of 1 to {MAX_ID_CHARS} characters"
        problems.append(Problem("id", problem, remedy))
    if not isinstance(text, str):
        problem = "is missing" if text is None else "is not a string"
        problems.append(Problem("text", problem, "give every comment its text"))
    elif len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        problem = f"is longer than {MAX_TEXT_BYTES:,} bytes"
        problems.append(Problem("text", problem, "shorten it; the API refuses it too"))
    return problems


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
