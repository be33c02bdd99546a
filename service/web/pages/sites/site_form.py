"""Reads the form of a site's settings; everything that is wrong with it is told at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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

    `settings` are the settings it asks for, None while anything is wrong. `ham` and `spam` are
    its cutoffs, None for one that follows the version's. `was` is what stood in it before anything
    was typed, and `changed` names the settings that were typed over.
    """

    typed: Mapping[str, str]
    ham: float | None = None
    spam: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    settings: SiteSettings | None = None
    was: Mapping[str, str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    def change(self, present: SiteSettings) -> SiteSettings:
        """Return settings with what was typed over; what was left alone stays as it is now.

        Raises `ValueError` for cutoffs that do not fit together.
        """
        return replace(present, **{name: getattr(self.settings, name) for name in self.changed})


def form_of(settings: SiteSettings) -> SiteForm:
    """Return the form as it stands before anything is changed."""
    texts = {
        "mode": settings.mode.value,
        "languages": ", ".join(settings.languages),
        "undo_seconds": str(settings.undo_seconds),
        "ham_cutoff": _shown(settings.ham_cutoff),
        "spam_cutoff": _shown(settings.spam_cutoff),
        **{name: "on" if getattr(settings, name) else "" for name in _SWITCHES},
    }
    ham, spam = settings.ham_cutoff, settings.spam_cutoff
    return SiteForm(typed=texts, was=texts, ham=ham, spam=spam, settings=settings)


def read_form(given: Mapping[str, str], present: SiteSettings) -> SiteForm:
    """Return what the form says; what it has no field for stays as it is at present."""
    ham, spam, problems = read_cutoffs(given, present)
    typed = {name: given.get(name, "").strip()[:_MAX_SHOWN_CHARS] for name in _FIELDS}
    tags = [tag for tag in re.split(r"[\s,;]+", given.get("languages", "")) if tag]
    seconds = typed["undo_seconds"]
    read: dict[str, Json] = {"mode": typed["mode"], "languages": [*dict.fromkeys(tags)]}
    read["undo_seconds"] = int(seconds) if re.fullmatch("[0-9]{1,4}", seconds) else seconds
    changes: dict[str, Any] = {name: bool(typed[name]) for name in _SWITCHES}
    try:
        changes |= validate(SettingsRequest, read).model_dump(exclude_unset=True)
    except InvalidInputError as error:
        for name in {one.field.partition(".")[0] for one in error.problems}:
            problems[name] = gettext(_WRONG[name], most=MAX_UNDO_SECONDS)
    # A form that does not say what stood in it asks for all of it.
    was = {name: given[f"was_{name}"] for name in _FIELDS if f"was_{name}" in given}
    form = SiteForm(
        was=was,
        changed=frozenset(name for name in _FIELDS if given.get(name, "").strip() != was.get(name)),
        typed=typed,
        ham=ham,
        spam=spam,
        problems=problems,
    )
    if problems:
        return form
    changes |= {"languages": tuple(changes["languages"]), "ham_cutoff": ham, "spam_cutoff": spam}
    return replace(form, settings=replace(present, **changes))


def read_cutoffs(
    given: Mapping[str, str], present: SiteSettings
) -> tuple[float | None, float | None, dict[str, str]]:
    """Return the cutoffs of a form or a query, given in percent, and what is wrong with them."""
    problems: dict[str, str] = {}
    read: list[float | None] = []
    for name in _CUTOFFS:
        typed = given.get(name, "").strip()
        before: float | None = getattr(present, name)
        value = before if typed == _shown(before) else _probability(typed)
        if typed and value is None:
            problems[name] = gettext("Give a percentage from 0 to 100, or leave it empty.")
        read.append(value)
    ham, spam = read
    if not problems and find_cutoff_problems(ham, spam):
        problems = crossed_cutoffs()
    return ham, spam, problems


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
