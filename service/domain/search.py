"""Parses moderators' search lines, and splits texts into the same words."""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import cache

from service.domain.errors import InvalidInputError, Problem, invalid_input

MAX_WORD_CHARS = 60
# A comment has at most 64 KiB; of a text that is longer when folded, the beginning is indexed.
_MAX_CHARS = 120_000

# Scripts without spaces between words: Thai, Lao, Khmer, Myanmar, kana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(r"[^\W_]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_RUN = re.compile(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)")
# Equivalent letters without a decomposition.
_WRITTEN_FOR = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae",
                              "œ": "oe", "ı": "i", "ħ": "h"})  # fmt: skip


def words_of(text: str) -> list[str]:
    """Return the words of a text in order: letters and digits, without case and diacritics.

    In scripts without spaces each pair of neighbours is a word. Hidden characters are removed.
    """
    return [word for whole in _WORD.findall(_fold(text)) for word in _cut(whole)]


def phrase_of(text: str) -> list[str]:
    """Return the words to search for as a phrase; none if there is no letter or digit.

    A single character of a script without spaces matches every pair that begins with it.
    """
    words = words_of(text)
    # A run's last character adds nothing to the pair before it, and the run may continue.
    if len(words) > 1 and stands_alone(words[-1]) and words[-2].endswith(words[-1]):
        return words[:-1]
    return words


def stands_alone(word: str) -> bool:
    """Return True if a word of `phrase_of` is one character of a script without spaces."""
    return len(word) == 1 and _HAS_UNSPACED.match(word) is not None


def _cut(whole: str) -> Iterator[str]:
    if whole.isascii() or not _HAS_UNSPACED.search(whole):
        yield whole[:MAX_WORD_CHARS]
        return
    for run, other in _RUN.findall(whole):
        if other:
            yield other[:MAX_WORD_CHARS]
            continue
        for start in range(len(run)):
            yield run[start : start + 2]


def _fold(text: str) -> str:
    text = text[:_MAX_CHARS]
    if text.isascii():
        return text.lower()
    # Marks are removed first: normalising sorts a long run of them in quadratic time.
    bare = text.translate(_unprinted())
    apart = unicodedata.normalize("NFKD", bare)[:_MAX_CHARS].translate(_unprinted())
    folded = unicodedata.normalize("NFC", apart).casefold()
    return folded.translate(_WRITTEN_FOR).translate(_unprinted())[:_MAX_CHARS]


@cache
def _unprinted() -> dict[int, None]:
    """Return the characters to remove: marks on letters, and invisible characters."""
    return {
        code: None
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Mn", "Me", "Cf"}
    }


MAX_QUERY_CHARS = 1_000
MAX_TERMS = 30


class Field(StrEnum):
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

# A comment has one value of each of these, so several terms match any; of others all must match.
SINGLE = frozenset({Field.SITE, Field.OUTCOME, Field.DECISION, Field.BY, Field.MODEL})

VALUES: Mapping[Field, tuple[str, ...]] = {
    Field.OUTCOME: ("ham", "unsure", "spam", "waiting"),
    Field.DECISION: ("approve", "reject", "none"),
    Field.DEGRADED: ("yes", "no"),
    Field.AUDIT: ("yes", "no"),
    Field.REPORTED: ("yes", "no", "spam", "ham"),
}

# Linear: each part is read once, whatever the line contains.
_QUOTED = r'"([^"]*)(?:"|\Z)'
_PART = re.compile(rf"(-?)(?:([A-Za-z]{{1,20}}):(?!//)(?:{_QUOTED}|(\S*))|{_QUOTED}|(\S+))")
_QUOTES = str.maketrans("“”„«»", '"""""')
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One search term. `exact` is True for quoted text, which matches no longer words."""

    field: Field
    value: str
    negated: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """The conditions on comments. Terms of a field in `SINGLE` match any, others must all match.

    A negated term excludes comments. `received_from` is inclusive, `received_before` exclusive.
    """

    terms: tuple[Term, ...] = ()
    received_from: datetime | None = None
    received_before: datetime | None = None

    def of(self, *fields: Field) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.field in fields)

    def until(self, moment: datetime) -> "SearchQuery":
        earlier = self.received_before
        return replace(self, received_before=min(earlier, moment) if earlier else moment)


def parse_search(line: str, *, sites: Collection[str] | None = None) -> SearchQuery:
    """Return the query of a line; an empty line matches everything.

    Words match words that begin with them, quoted text whole words in this order; `-` excludes.
    Days are whole days in UTC. With `sites`, ids and folded names, no other site may be named.
    Raises one `InvalidInputError` with every problem.
    """
    if len(line) > MAX_QUERY_CHARS:
        problem = f"has more than {MAX_QUERY_CHARS:,} characters"
        raise invalid_input("q", problem, "look for a few words of it")
    parts = list(_PART.finditer(line.translate(_QUOTES)))
    if len(parts) > MAX_TERMS:
        problem = f"asks for more than {MAX_TERMS} things"
        raise invalid_input("q", problem, "look for a few of them")
    terms: list[Term] = []
    days: dict[str, date] = {}
    problems: list[Problem] = []
    for minus, given, of_field, bare_of_field, quoted, bare in (part.groups() for part in parts):
        exact = of_field if given else quoted
        name = (given or Field.TEXT.value).lower()
        value = (exact or (bare_of_field if given else bare) or "").strip()
        is_exact, negated = exact is not None, bool(minus)
        try:
            if name in (FROM, TO):
                days[name] = _read_day(name, value, negated=negated)
            else:
                terms.append(_read_term(name, value, negated=negated, exact=is_exact, sites=sites))
        except InvalidInputError as error:
            problems += error.problems
    first, last = days.get(FROM), days.get(TO)
    if first and last and first > last:
        problems.append(Problem(FROM, "is after the last day", "write the earlier day after from:"))
    if problems:
        raise InvalidInputError(list(dict.fromkeys(problems)))
    return SearchQuery(
        terms=tuple(terms),
        received_from=_midnight(first) if first else None,
        received_before=_midnight(last + timedelta(days=1)) if last else None,
    )


def line_of(fields: Mapping[str, str]) -> str:
    """Return the search line of a form's fields, with `text` as it is."""
    parts = [fields.get(Field.TEXT, "").strip()]
    for name in FIELD_NAMES:
        value = " ".join(fields.get(name, "").replace('"', " ").split())
        if value and name != Field.TEXT:
            parts.append(f'{name}:"{value}"' if " " in value else f"{name}:{value}")
    return " ".join(part for part in parts if part)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " or " + names[-1]


def _read_day(name: str, value: str, *, negated: bool) -> date:
    if negated:
        raise invalid_input(name, "cannot be negated", "leave the minus out, or use the other one")
    try:
        # `fromisoformat` accepts other forms too, such as weeks.
        day = date.fromisoformat(value) if _DAY.fullmatch(value) else None
    except ValueError:
        day = None
    if day is None or not date(1970, 1, 1) <= day <= date(2100, 1, 1):
        remedy = "write the day as year-month-day, for example 2026-11-20"
        raise invalid_input(name, "is not a day", remedy)
    return day


def _read_term(
    name: str, value: str, *, negated: bool, exact: bool, sites: Collection[str] | None
) -> Term:
    if name not in FIELD_NAMES:
        remedy = (
            f"use {_listed(FIELD_NAMES)}; put the words in quotes to look for them as they stand"
        )
        raise invalid_input(name, "is no field to search in", remedy)
    if not value:
        remedy = "write what to look for right after the colon, in quotes if there is a space in it"
        raise invalid_input(name, "has no value", remedy)
    field = Field(name)
    allowed = VALUES.get(field)
    if allowed:
        value = value.lower()
        if value not in allowed:
            raise invalid_input(name, "has no such value", f"use {_listed(allowed)}")
    if field in (Field.TEXT, Field.AUTHOR) and not phrase_of(value):
        remedy = "leave it out: only letters and digits can be found"
        raise invalid_input("text", "has a part without a letter or digit", remedy)
    known = {value, value.casefold()} if sites is None else sites
    if field is Field.SITE and value not in known and value.casefold() not in known:
        remedy = "write the name of a site as it is listed, in quotes if there is a space in it"
        raise invalid_input("site", "is none that you see", remedy)
    return Term(field=field, value=value, negated=negated, exact=exact)
