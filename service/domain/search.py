"""Reads what a moderator looks for out of one line of words and fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from service.domain.errors import InvalidInputError, Problem
from service.domain.search_words import phrase_of

MAX_QUERY_CHARS = 1_000
MAX_TERMS = 30


class Field(StrEnum):
    """What a term speaks of; the values are what a moderator types before the colon."""

    TEXT = "text"
    AUTHOR = "author"
    DOMAIN = "domain"
    SITE = "site"
    SIGNAL = "signal"
    OUTCOME = "outcome"
    DECISION = "decision"
    BY = "by"
    MODEL = "model"
    DEGRADED = "degraded"
    AUDIT = "audit"
    REPORTED = "reported"


FROM, TO = "from", "to"
FIELD_NAMES = (*(field.value for field in Field), FROM, TO)

# A comment has one of these, so that several ask for any of them; of the others it has many, and
# several ask for all.
SINGLE = frozenset({Field.SITE, Field.OUTCOME, Field.DECISION, Field.BY, Field.MODEL})

VALUES: Mapping[Field, tuple[str, ...]] = {
    Field.OUTCOME: ("ham", "unsure", "spam", "waiting"),
    Field.DECISION: ("approve", "reject", "none"),
    Field.DEGRADED: ("yes", "no"),
    Field.AUDIT: ("yes", "no"),
    Field.REPORTED: ("yes", "no", "spam", "ham"),
}

# Linear: each part is taken once, whatever stands in the line.
_QUOTED = r'"([^"]*)(?:"|\Z)'
_PART = re.compile(rf"(-?)(?:([A-Za-z]{{1,20}}):(?!//)(?:{_QUOTED}|(\S*))|{_QUOTED}|(\S+))")
_QUOTES = str.maketrans("“”„«»", '"""""')
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing to look for. `exact` is set for what was quoted: no longer words are found."""

    field: Field
    value: str
    negated: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What comments must have. Terms of a field in `SINGLE` ask for any of them, others for all.

    A negated term asks for comments without it. `received_from` is the first moment, and
    `received_before` the first one too late.
    """

    terms: tuple[Term, ...] = ()
    received_from: datetime | None = None
    received_before: datetime | None = None

    def of(self, *fields: Field) -> tuple[Term, ...]:
        """Return the terms of these fields."""
        return tuple(term for term in self.terms if term.field in fields)

    def without(self, *fields: Field) -> SearchQuery:
        """Return the query without the terms of these fields."""
        kept = tuple(term for term in self.terms if term.field not in fields)
        return replace(self, terms=kept)

    def also(self, *terms: Term) -> SearchQuery:
        """Return the query with these terms besides."""
        return replace(self, terms=(*self.terms, *terms))

    def until(self, moment: datetime) -> SearchQuery:
        """Return the query that finds nothing received at this moment or later."""
        earlier = self.received_before
        return replace(self, received_before=min(earlier, moment) if earlier else moment)


def parse_search(line: str, *, sites: Collection[str] | None = None) -> SearchQuery:
    """Return what a line asks for; an empty one asks for everything.

    Words find words that begin like them, in quotes only themselves and in this order; `-` before a
    word or field asks for what is without it. Fields are `FIELD_NAMES`; days are in UTC and count
    as a whole. With `sites`, ids and folded names, no other site may be asked for. Raise
    `InvalidInputError` with every problem.
    """
    if len(line) > MAX_QUERY_CHARS:
        raise InvalidInputError([_TOO_LONG])
    reading = _Reading(sites)
    parts = list(_PART.finditer(line.translate(_QUOTES)))
    if len(parts) > MAX_TERMS:
        raise InvalidInputError([_TOO_MANY])
    for minus, name, of_field, bare_of_field, quoted, bare in (part.groups() for part in parts):
        exact = of_field if name else quoted
        value = bare_of_field if name else bare
        reading.take(
            name=name, value=exact or value or "", negated=bool(minus), exact=exact is not None
        )
    return reading.query()


def line_of(fields: Mapping[str, str]) -> str:
    """Return the line that asks for what the fields of a form say; empty ones ask for nothing.

    `FIELD_NAMES` that are not given are left out; `text` is taken as a line already.
    """
    parts = [fields.get(Field.TEXT, "").strip()]
    for name in FIELD_NAMES:
        value = " ".join(fields.get(name, "").replace('"', " ").split())
        if value and name != Field.TEXT:
            parts.append(f'{name}:"{value}"' if " " in value else f"{name}:{value}")
    return " ".join(part for part in parts if part)


class _Reading:
    """Collects terms and problems while a line is read."""

    def __init__(self, sites: Collection[str] | None) -> None:
        self._sites = sites
        self.terms: list[Term] = []
        self.problems: list[Problem] = []
        self.days: dict[str, date] = {}

    def take(self, *, name: str | None, value: str, negated: bool, exact: bool) -> None:
        """Read one part of the line."""
        wanted = (name or Field.TEXT.value).lower()
        value = value.strip()
        if wanted in (FROM, TO):
            self._take_day(wanted, value, negated=negated)
        elif wanted not in FIELD_NAMES:
            self._complain(_unknown(wanted))
        elif not value:
            self._complain(_empty(wanted))
        else:
            self._take_term(Field(wanted), value, negated=negated, exact=exact)

    def _take_term(self, field: Field, value: str, *, negated: bool, exact: bool) -> None:
        allowed = VALUES.get(field)
        if allowed:
            value = value.lower()
            if value not in allowed:
                self._complain(_not_one_of(field.value, allowed))
                return
        if field in (Field.TEXT, Field.AUTHOR) and not phrase_of(value):
            self._complain(_WORDLESS)
            return
        if field is Field.SITE and not self._is_known(value):
            self._complain(_NO_SITE)
            return
        self.terms.append(Term(field=field, value=value, negated=negated, exact=exact))

    def _is_known(self, site: str) -> bool:
        return self._sites is None or site in self._sites or site.casefold() in self._sites

    def _take_day(self, name: str, value: str, *, negated: bool) -> None:
        if negated:
            self._complain(_negated_day(name))
            return
        try:
            # `fromisoformat` takes other forms too, such as weeks.
            day = date.fromisoformat(value) if _DAY.fullmatch(value) else None
        except ValueError:
            day = None
        if day is None or not date(1970, 1, 1) <= day <= date(2100, 1, 1):
            self._complain(_no_day(name))
            return
        self.days[name] = day

    def _complain(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def query(self) -> SearchQuery:
        """Return what was read. Raise `InvalidInputError` if anything was wrong."""
        first, last = self.days.get(FROM), self.days.get(TO)
        if first and last and first > last:
            self._complain(_BACKWARDS)
        if self.problems:
            raise InvalidInputError(self.problems)
        return SearchQuery(
            terms=tuple(self.terms),
            received_from=_midnight(first) if first else None,
            received_before=_midnight(last + timedelta(days=1)) if last else None,
        )


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " or " + names[-1]


def _unknown(name: str) -> Problem:
    remedy = f"use {_listed(FIELD_NAMES)}; put the words in quotes to look for them as they stand"
    return Problem(name, "is no field to search in", remedy)


def _empty(name: str) -> Problem:
    remedy = "write what to look for right after the colon, in quotes if there is a space in it"
    return Problem(name, "has no value", remedy)


def _not_one_of(name: str, allowed: Sequence[str]) -> Problem:
    return Problem(name, "has no such value", f"use {_listed(allowed)}")


def _no_day(name: str) -> Problem:
    remedy = "write the day as year-month-day, for example 2026-11-20"
    return Problem(name, "is not a day", remedy)


def _negated_day(name: str) -> Problem:
    return Problem(name, "cannot be negated", "leave the minus out, or use the other one")


_TOO_LONG = Problem(
    "q", f"has more than {MAX_QUERY_CHARS:,} characters", "look for a few words of it"
)
_TOO_MANY = Problem("q", f"asks for more than {MAX_TERMS} things", "look for a few of them")
_WORDLESS = Problem(
    "text",
    "has a part without a letter or digit",
    "leave it out: only letters and digits can be found",
)
_NO_SITE = Problem(
    "site",
    "is none that you see",
    "write the name of a site as it is listed, in quotes if there is a space in it",
)
_BACKWARDS = Problem(FROM, "is after the last day", "write the earlier day after from:")
