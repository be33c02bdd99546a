"""Reads decisions from `slopsieve decisions export`, and reports every wrong line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.domain.verdict import Outcome
from training.data.corrections import MAX_PROBLEMS
from training.data.dataset import Example, example_of_row, problems_of_row, read_rows, repeats_of

# More rulings on one comment come from programs, not people.
_MAX_RULINGS = 1_000

_Text = Annotated[str, Field(min_length=1)]


class Via(StrEnum):
    REVIEW = "review"
    BULK_DECISION = "stroke"
    CAMPAIGN = "campaign"
    API = "api"
    REPORT = "report"
    IMPORT = "import"


class RulingMade(BaseModel):
    """One ruling on a comment. `reviewer` is a keyed pseudonym, the same for the same person.

    `is_owner` is True for an owner of the installation. `undone` rulings are not in force.
    """

    model_config = ConfigDict(frozen=True)

    reviewer: _Text
    ruling: Ruling
    made_at: AwareDatetime
    via: Via
    undone: bool = False
    is_owner: bool = False


class PastVerdict(BaseModel):
    """The earlier verdict of the machine."""

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    p_spam: Annotated[float, Field(ge=0, le=1)]


class _Row(BaseModel):
    """The fields of a decision in addition to those of a data file."""

    label: Literal["spam", "ham"]
    source: _Text
    audit: bool
    weight: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    rulings: Annotated[tuple[RulingMade, ...], Field(min_length=1, max_length=_MAX_RULINGS)]
    verdict: PastVerdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One comment with its label from the ruling in force, and the history of its decision.

    `rulings` are ordered from the oldest to the one in force. `weight` is the number of similar
    comments that this one was drawn from; it is for estimates, not for training. Raises
    `ValueError` unless the newest ruling is in force and equals the label.
    """

    example: Example
    rulings: tuple[RulingMade, ...]
    verdict: PastVerdict | None = None
    audit: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        wanted = Ruling.REJECT if self.example.is_spam else Ruling.APPROVE
        if not self.rulings or self.rulings[-1].undone or self.rulings[-1].ruling is not wanted:
            msg = f"the newest of the rulings must be in force and be the label, got {self.rulings}"
            raise ValueError(msg)

    @property
    def id(self) -> str:
        return self.example.comment.id

    @property
    def in_force(self) -> RulingMade:
        """Return the ruling that gives the label."""
        return self.rulings[-1]

    @property
    def is_drawn(self) -> bool:
        """Return True if moderators were shown the comment: unsure or an audit sample.

        People looked for the others themselves, mostly because the verdict was wrong, so they give
        no estimate of the error rate.
        """
        unsure = self.verdict is not None and self.verdict.outcome is Outcome.UNSURE
        return self.audit or unsure


def read_decisions(path: Path) -> tuple[Decided, ...]:
    """Return the decided comments of a file of JSON Lines, gzipped if its name ends in .gz.

    They are in the file's order, which is that of the decisions. An empty file has none. Raises one
    `InvalidInputError` with line, field, problem and remedy of up to 50 problems; values are never
    quoted.
    """
    if not path.is_file():
        raise InvalidInputError(
            [Problem(str(path), "is no file", "name what `slopsieve decisions export` wrote")]
        )
    problems: list[Problem] = []
    decided: list[Decided] = []
    first_at: dict[str, str] = {}
    for where, row in read_rows(path, problems):
        wrong = problems_of_row(where, row) + repeats_of(where, row, first_at)
        more = _read(where, row)
        wrong += more if isinstance(more, list) else []
        if isinstance(more, _Row) and not wrong:
            try:
                decided.append(
                    Decided(
                        example=example_of_row(row, path),
                        rulings=more.rulings,
                        verdict=more.verdict,
                        audit=more.audit,
                        weight=more.weight,
                    )
                )
            except ValueError:
                what = "do not end with one in force that is the label"
                remedy = "put the ruling in force last; reject is spam, approve is ham"
                wrong.append(Problem(f"{where} rulings", what, remedy))
        problems += wrong
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        raise InvalidInputError(problems[:MAX_PROBLEMS])
    return tuple(decided)


def _read(where: str, row: Mapping[str, object]) -> _Row | list[Problem]:
    """Return a row's additional fields, or their problems."""
    own = {name: row[name] for name in _Row.model_fields if name in row}
    try:
        # As JSON, in which moments are text, and numbers are not booleans.
        return _Row.model_validate_json(json.dumps(own), strict=True)
    except ValidationError as error:
        return [
            Problem(f"{where} {_name(one['loc'])}", "is missing or of another kind", one["msg"])
            for one in error.errors(include_input=False, include_url=False, include_context=False)
        ]


def _name(places: Sequence[int | str]) -> str:
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in places)[1:]
