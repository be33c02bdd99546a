"""Reads the form of a site's settings; everything that is wrong with it is told at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.domain.errors import InvalidInputError
from service.domain.site import MAX_UNDO_SECONDS, SiteSettings
from service.moderation.review.previews import find_cutoff_problems
from service.web.api.schemas import SettingsRequest
from service.web.edge.language import gettext, noted
from service.web.edge.reading import validate
from service.web.edge.strict_json import Json

_WRONG = {
    "mode": noted("Choose one of the three."),
    "languages": noted(
        "Give at most 50 language tags such as en or pt-BR, with commas between them."
    ),
    "undo_seconds": noted("Give a whole number of seconds from 0 to %(most)s."),
}
# A percentage as people write it, with a comma too; bounded, as it comes from outside.
_PERCENT = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{0,12})?", re.ASCII)
_MAX_SHOWN_CHARS = 400
_CUTOFFS = ("ham_cutoff", "spam_cutoff")
_SWITCHES = (
    "holds_unsure",
    "reports_decide",
    "rejects_campaigns",
    "learns",
    "public_feed",
    "explains_spam",
)
_FIELDS = ("mode", "languages", "undo_seconds", *_CUTOFFS, *_SWITCHES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteForm:
    """What stands in the form, as it was typed, and what is wrong with it, by field.

    `was` is what stood in it before anything was typed, `chosen` the settings that were typed over.
    `cutoffs` are both of its cutoffs, None for one that follows the version's.
    """

    typed: Mapping[str, str]
    was: Mapping[str, str]
    cutoffs: Mapping[str, float | None]
    problems: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)


def form_of(settings: SiteSettings) -> SiteForm:
    """Return the form as it stands before anything is changed."""
    cutoffs: dict[str, float | None] = {name: getattr(settings, name) for name in _CUTOFFS}
    texts = {
        "mode": settings.mode.value,
        "languages": ", ".join(settings.languages),
        "undo_seconds": str(settings.undo_seconds),
        **{name: _shown(cutoff) for name, cutoff in cutoffs.items()},
        **{name: "on" if getattr(settings, name) else "" for name in _SWITCHES},
    }
    return SiteForm(typed=texts, was=texts, cutoffs=cutoffs)


def read_form(given: Mapping[str, str], present: SiteSettings) -> SiteForm:
    """Return what the form says; what was left alone is in none of its changes."""
    cutoffs, problems = read_cutoffs(given, present)
    typed = {name: given.get(name, "").strip()[:_MAX_SHOWN_CHARS] for name in _FIELDS}
    tags = [tag for tag in re.split(r"[\s,;]+", given.get("languages", "")) if tag]
    seconds = typed["undo_seconds"]
    read: dict[str, Json] = {"mode": typed["mode"], "languages": [*dict.fromkeys(tags)]}
    read["undo_seconds"] = int(seconds) if re.fullmatch("[0-9]{1,4}", seconds) else seconds
    asked: dict[str, Any] = cutoffs | {name: bool(typed[name]) for name in _SWITCHES}
    try:
        asked |= validate(SettingsRequest, read).model_dump(exclude_unset=True)
    except InvalidInputError as error:
        for name in {one.field.partition(".")[0] for one in error.problems}:
            problems[name] = gettext(_WRONG[name], most=MAX_UNDO_SECONDS)
    else:
        asked["languages"] = tuple(asked["languages"])
    # A form that does not say what stood in it asks for all of it.
    was = {name: given[f"was_{name}"] for name in _FIELDS if f"was_{name}" in given}
    chosen = {
        name: value for name, value in asked.items() if given.get(name, "").strip() != was.get(name)
    }
    return SiteForm(typed=typed, was=was, cutoffs=cutoffs, problems=problems, chosen=chosen)


def read_cutoffs(
    given: Mapping[str, str], present: SiteSettings
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the cutoffs of a form or a query, given in percent, and what is wrong with them."""
    problems: dict[str, str] = {}
    cutoffs: dict[str, float | None] = {}
    for name in _CUTOFFS:
        typed = given.get(name, "").strip()
        before: float | None = getattr(present, name)
        cutoffs[name] = before if typed == _shown(before) else _probability(typed)
        if typed and cutoffs[name] is None:
            problems[name] = gettext("Give a percentage from 0 to 100, or leave it empty.")
    if not problems and find_cutoff_problems(**cutoffs):
        problems = crossed_cutoffs()
    return cutoffs, problems


def crossed_cutoffs() -> dict[str, str]:
    """Return what is wrong with cutoffs that do not fit together."""
    return {"ham_cutoff": gettext("Give one that is not above the spam cutoff.")}


def _shown(cutoff: float | None) -> str:
    return "" if cutoff is None else format(cutoff * 100, ".10g")


def _probability(typed: str) -> float | None:
    if not _PERCENT.fullmatch(typed):
        return None
    percent = float(typed.replace(",", "."))
    return percent / 100 if percent <= 100.0 else None
