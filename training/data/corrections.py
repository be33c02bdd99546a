"""Reads corrections of labels from a file of their own."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.domain.errors import InvalidInputError, Problem

LABEL_CORRECTIONS = Path(__file__).parents[2] / "data" / "label-corrections.jsonl"

# With so many problems it is the wrong file, and more of them do not help.
MAX_PROBLEMS = 50

_Text = Annotated[str, Field(min_length=1)]


class CorrectLabel(StrEnum):
    """A comment's correct label; `DROP` if it is unclear or no comment."""

    SPAM = "spam"
    HAM = "ham"
    DROP = "drop"


class Correction(BaseModel):
    """One comment's label in the data, its correct label, and the reason in our own words."""

    model_config = ConfigDict(frozen=True)

    id: _Text
    was: Literal["spam", "ham"]
    correct: Annotated[CorrectLabel, Field(alias="is")]
    reason: _Text
    where: str = ""


def read_corrections(path: Path) -> Mapping[str, Correction]:
    """Return the corrections of a file by the id of the comment.

    Each line is a JSON object of the strings `id`, `was` (spam or ham), `is` (spam, ham or drop,
    different from `was`) and `reason`. Raises `InvalidInputError` with every wrong line and every
    repeated id, or with the file if it cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot be read ({type(error).__name__})"
        problem = Problem(path.name, what, "name a file of corrections")
        raise InvalidInputError([problem]) from error
    corrections: dict[str, Correction] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        correction = _correction(line)
        if correction is None:
            remedy = 'write {"id", "was": spam or ham, "is": another or drop, "reason"}'
            problems.append(Problem(where, "is no correction", remedy))
        elif correction.id in corrections:
            first = corrections[correction.id].where
            problems.append(Problem(f"{where} id", f"occurred at {first}", "keep one"))
        else:
            corrections[correction.id] = correction.model_copy(update={"where": where})
    if problems:
        raise InvalidInputError(problems[:MAX_PROBLEMS])
    return corrections


def _correction(line: str) -> Correction | None:
    """Return a line's correction, or None if it is not one."""
    try:
        correction = Correction.model_validate_json(line, strict=True)
    except ValidationError:
        return None
    return None if correction.was == correction.correct else correction
