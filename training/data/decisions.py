"""Reads the decisions that `slopsieve decisions export` wrote, and refuses wrong lines by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.domain.verdict import Outcome
from training.data.dataset import (
    Example,
    example_of_row,
    problems_of_row,
    read_rows,
)

# After so many problems a file is plainly the wrong file; listing more helps nobody.
_MAX_PROBLEMS = 50
# A comment that is ruled on more often is fought over by two programs; no person reads on.
_MAX_RULINGS = 1_000
_RULING_OF = {"spam": Ruling.REJECT, "ham": Ruling.APPROVE}


class Via(StrEnum):
    """How a ruling was made."""

    REVIEW = "review"
    BULK_DECISION = "stroke"
    CAMPAIGN = "campaign"
    API = "api"
    REPORT = "report"
    IMPORT = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingMade:
    """One ruling on a comment. `reviewer` is a keyed pseudonym, the same for the same person.

    `is_owner` says that an owner of the installation made it. `undone` rulings are not in force.
    """

    reviewer: str
    ruling: Ruling
    made_at: datetime
    via: Via
    undone: bool = False
    is_owner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PastVerdict:
    """What the machine had concluded; `followed` a list entry, where that settled the outcome."""

    outcome: Outcome
    p_spam: float
    model_version: str
    degraded: bool
    judged_at: datetime
    followed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One comment with its label from the ruling in force, and how it came to be decided.

    `rulings` are all there were, oldest first, the one in force last. `weight` says by how many
    comments like it this one was drawn; it is for estimates, not for teaching. Raises `ValueError`
    unless the newest ruling is in force and is the label.
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
        """Return the comment's id."""
        return self.example.comment.id

    @property
    def in_force(self) -> RulingMade:
        """Return the ruling that gives the label."""
        return self.rulings[-1]

    @property
    def is_drawn(self) -> bool:
        """Return True if the comment reached a moderator by itself: unsure or an audit sample.

        All others a person went and looked for, most often because the verdict was wrong: they
        say nothing about how often it is.
        """
        unsure = self.verdict is not None and self.verdict.outcome is Outcome.UNSURE
        return self.audit or unsure


def read_decisions(path: Path) -> tuple[Decided, ...]:
    """Return the decided comments of a file of JSON Lines, gzipped if its name ends in .gz.

    They come in the order of the file, which is that of the decisions. An empty file holds none.
    Raise `InvalidInputError` that names line, field, problem and remedy of everything wrong at
    once, 50 of them at most; values are never quoted.
    """
    if not path.is_file():
        raise InvalidInputError(
            [_problem(str(path), "is no file", "name what `slopsieve decisions export` wrote")]
        )
    problems: list[Problem] = []
    decided: list[Decided] = []
    first_at: dict[str, str] = {}
    for where, row in read_rows(path, problems):
        wrong = [*problems_of_row(where, row), *_problems(where, row)]
        first = first_at.setdefault(str(row.get("id")), where)
        if first != where:
            wrong.append(_problem(f"{where} id", f"occurred at {first}", "give each row its own"))
        problems += wrong
        if len(problems) >= _MAX_PROBLEMS:
            break
        if not wrong:
            decided.append(_decided(row, path))
    if problems:
        raise InvalidInputError(problems[:_MAX_PROBLEMS])
    return tuple(decided)


def _problem(where: str, problem: str, remedy: str) -> Problem:
    return Problem(field=where, problem=problem, remedy=remedy)


def _problems(where: str, row: Mapping[str, object]) -> list[Problem]:
    """Return what is wrong with the fields that a data file of the card does not have."""
    wrong = [
        _problem(f"{where} {key}", "is missing or of another kind", remedy)
        for key, fits, remedy in (
            (
                "label",
                row.get("label") in (*_RULING_OF,),
                "use spam or ham: what is decided has one",
            ),
            ("source", _is_text(row.get("source")), "write site: and the site's id"),
            ("audit", isinstance(row.get("audit"), bool), "use true or false"),
            ("weight", _is_number(row.get("weight"), least=1.0), "give a number of 1 or more"),
        )
        if not fits
    ]
    wrong += _problems_of_verdict(f"{where} verdict", row.get("verdict"))
    rulings = row.get("rulings")
    if not isinstance(rulings, list) or not 0 < len(rulings) <= _MAX_RULINGS:
        remedy = f"list 1 to {_MAX_RULINGS:,} rulings, oldest first"
        return [*wrong, _problem(f"{where} rulings", "is no such list", remedy)]
    of_rulings = [
        problem
        for number, ruling in enumerate(rulings)
        for problem in _problems_of_ruling(f"{where} rulings[{number}]", ruling)
    ]
    if not of_rulings and (
        rulings[-1]["undone"] or _RULING_OF.get(str(row.get("label"))) != rulings[-1]["ruling"]
    ):
        of_rulings.append(
            _problem(
                f"{where} rulings",
                "do not end with one in force that is the label",
                "put the ruling in force last; reject is spam, approve is ham",
            )
        )
    return wrong + of_rulings


def _problems_of_ruling(where: str, ruling: object) -> list[Problem]:
    if not isinstance(ruling, dict):
        return [_problem(where, "is no object", "write reviewer, ruling, made_at, via, undone")]
    checks = (
        ("reviewer", _is_text(ruling.get("reviewer")), "give the reviewer's pseudonym"),
        ("ruling", _is_one_of(ruling.get("ruling"), Ruling), "use approve or reject"),
        ("made_at", _moment(ruling.get("made_at")) is not None, "give a date with a time zone"),
        ("via", _is_one_of(ruling.get("via"), Via), f"use one of {', '.join(Via)}"),
        ("undone", isinstance(ruling.get("undone"), bool), "use true or false"),
        ("is_owner", isinstance(ruling.get("is_owner", False), bool), "use true or false"),
    )
    return [
        _problem(f"{where}.{key}", "is missing or of another kind", remedy)
        for key, fits, remedy in checks
        if not fits
    ]


def _problems_of_verdict(where: str, verdict: object) -> list[Problem]:
    if verdict is None:
        return []
    if not isinstance(verdict, dict):
        return [_problem(where, "is no object", "write the verdict's fields, or null")]
    checks = (
        ("outcome", _is_one_of(verdict.get("outcome"), Outcome), "use ham, unsure or spam"),
        ("p_spam", _is_number(verdict.get("p_spam"), least=0.0, most=1.0), "give a probability"),
        ("model_version", _is_text(verdict.get("model_version")), "name the version"),
        ("degraded", isinstance(verdict.get("degraded"), bool), "use true or false"),
        ("judged_at", _moment(verdict.get("judged_at")) is not None, "give a date with a zone"),
        ("followed", isinstance(verdict.get("followed", False), bool), "use true or false"),
    )
    return [
        _problem(f"{where}.{key}", "is missing or of another kind", remedy)
        for key, fits, remedy in checks
        if not fits
    ]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_one_of(value: object, kinds: type[StrEnum]) -> bool:
    return isinstance(value, str) and value in set(kinds)


def _is_number(value: object, *, least: float, most: float = 1e9) -> bool:
    # Chained, so that what is not a number is refused as well.
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _moment(value: object) -> datetime | None:
    """Return a moment with a time zone, None for anything else and for one that UTC lacks."""
    if not isinstance(value, str) or len(value) > 40:  # no moment is longer
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _decided(row: Mapping[str, object], path: Path) -> Decided:
    """Return what a row says that nothing is wrong with."""
    rulings, verdict, weight = row["rulings"], row.get("verdict"), row["weight"]
    assert isinstance(rulings, Sequence)  # noqa: S101  # checked with everything else
    assert isinstance(weight, int | float)  # noqa: S101
    return Decided(
        example=example_of_row(row, path),
        rulings=tuple(_ruling(one) for one in rulings),
        verdict=_verdict(verdict) if isinstance(verdict, dict) else None,
        audit=row["audit"] is True,
        weight=float(weight),
    )


def _ruling(row: Mapping[str, object]) -> RulingMade:
    return RulingMade(
        reviewer=str(row["reviewer"]),
        ruling=Ruling(str(row["ruling"])),
        made_at=datetime.fromisoformat(str(row["made_at"])),
        via=Via(str(row["via"])),
        undone=row["undone"] is True,
        is_owner=row.get("is_owner") is True,
    )


def _verdict(row: Mapping[str, object]) -> PastVerdict:
    return PastVerdict(
        outcome=Outcome(str(row["outcome"])),
        p_spam=float(str(row["p_spam"])),
        model_version=str(row["model_version"]),
        degraded=row["degraded"] is True,
        judged_at=datetime.fromisoformat(str(row["judged_at"])),
        followed=row.get("followed") is True,
    )
