"""Says in the reader's words what is wrong with a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.domain.errors import Problem
from service.domain.search import FIELD_NAMES, MAX_QUERY_CHARS, MAX_TERMS, VALUES
from service.moderation.review.search import MAX_DECIDED
from service.web.edge.language import gettext, noted, number

# By the problem's words, as the domain names them; each goes on after the field's name.
_SENTENCES: Mapping[str, str] = {
    "is no field to search in": noted(
        "is no field to search in: use one of %(fields)s; put the words in quotes to look for "
        "them as they stand."
    ),
    "has no value": noted(
        "has no value: write what to look for right after the colon, in quotes if there is a "
        "space in it."
    ),
    "has no such value": noted("has no such value: use one of %(values)s."),
    "is not a day": noted("is not a day: write it as year-month-day, for example 2026-11-20."),
    "cannot be negated": noted("cannot be negated: leave the minus out, or use the other one."),
    "has a part without a letter or digit": noted(
        "has a part without a letter or digit: leave it out, only letters and digits can be found."
    ),
    "is none that you see": noted(
        "is none that you see: write the name of a site as it is listed, in quotes if there is a "
        "space in it."
    ),
    "is after the last day": noted("is after the last day: write the earlier day after from:."),
    "asks for nothing": noted("asks for nothing: say which comments are to be decided."),
    f"has more than {MAX_QUERY_CHARS:,} characters": noted(
        "has more than %(query_chars)s characters: look for a few words of it."
    ),
    f"asks for more than {MAX_TERMS} things": noted(
        "asks for more than %(terms)s things: look for a few of them."
    ),
    f"finds more than {MAX_DECIDED:,} comments": noted(
        "finds more than %(decided)s comments: narrow the search before you decide all of them."
    ),
}


def problems_in_words(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """Return the fields with what is wrong and what to do about it, in the reader's language."""
    return [(one.field, _says(one)) for one in problems]


def _says(problem: Problem) -> str:
    known = _SENTENCES.get(problem.problem)
    if known is None:
        return f"{problem.problem}: {problem.remedy}."
    values = {field.value: values for field, values in VALUES.items()}
    return gettext(
        known,
        fields=", ".join(FIELD_NAMES),
        values=", ".join(values.get(problem.field, ())),
        query_chars=number(MAX_QUERY_CHARS),
        terms=number(MAX_TERMS),
        decided=number(MAX_DECIDED),
    )
