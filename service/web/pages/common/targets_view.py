"""Spells out what campaigns advertise, for pages: words, never links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.campaigns.targets import HANDLE, MAIL, NAME, PHONE, SITE
from service.web.edge.language import gettext, noted
from service.web.pages.common.marking import Piece, part_text

_KINDS = {
    # A host says by itself that it is a site.
    SITE: "",
    MAIL: noted("E-mail"),
    PHONE: noted("Telephone"),
    HANDLE: noted("Messenger"),
    # What is sold, as far as its name could be made out.
    NAME: noted("Name"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """What a campaign advertises, spelled out, never a link; `kind` is empty for a site."""

    kind: str
    spelled: tuple[Piece, ...]


def present_targets(targets: Sequence[str]) -> tuple[TargetView, ...]:
    """Return targets as a page spells them."""
    return tuple(_target(target) for target in targets)


def _target(target: str) -> TargetView:
    kind, _, spelled = target.partition(":")
    if kind not in _KINDS:
        return TargetView(kind="", spelled=part_text(target))
    name = _KINDS[kind]
    return TargetView(kind=gettext(name) if name else "", spelled=part_text(spelled))
