"""Reads corrections of labels from a file of their own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from service.domain.errors import InvalidInputError, Problem

_DATA = Path(__file__).parents[2] / "data"
LABEL_CORRECTIONS = _DATA / "label-corrections.jsonl"

_MAX_PROBLEMS = 50


class CorrectLabel(StrEnum):
    """A comment's correct label; `DROP` if it is unclear or no comment."""

    SPAM = "spam"
    HAM = "ham"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One comment's label in the data, its correct label, and the reason in our own words."""

    id: str
    was: str
    correct: CorrectLabel
    reason: str
    where: str


def read_corrections(path: Path) -> Mapping[str, Correction]:
    """Return the corrections of a file by the id of the comment.

    Each line is a JSON object of the strings `id`, `was` (spam or ham), `is` (spam, ham or drop,
    different from `was`) and `reason`. Raises `InvalidInputError` with every wrong line and every
    repeated id, or with the file if it cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({type(error).__name__})"
        remedy = "name a file of corrections"
        raise InvalidInputError(
            [Problem(field=path.name, problem=problem, remedy=remedy)]
        ) from error
    corrections: dict[str, Correction] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        correction = _correction(line, where)
        if correction is None:
            remedy = 'write {"id", "was": spam or ham, "is": another or drop, "reason"}'
            problems.append(Problem(field=where, problem="is no correction", remedy=remedy))
        elif correction.id in corrections:
            first = corrections[correction.id].where
            problems.append(
                Problem(field=f"{where} id", problem=f"occurred at {first}", remedy="keep one")
            )
        else:
            corrections[correction.id] = correction
    if problems:
        raise InvalidInputError(problems[:_MAX_PROBLEMS])
    return corrections


def _correction(line: str, where: str) -> Correction | None:
    """Return a line's correction, or None if it is not one."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    fields = [row.get(key) for key in ("id", "was", "is", "reason")]
    values = [value for value in fields if isinstance(value, str) and value]
    if len(values) < 4:
        return None
    comment_id, was, correct, reason = values
    if was not in ("spam", "ham") or correct not in list(CorrectLabel) or was == correct:
        return None
    return Correction(
        id=comment_id, was=was, correct=CorrectLabel(correct), reason=reason, where=where
    )
