"""Says in words how an advertisement and the remark beside it are written."""

from __future__ import annotations

from collections.abc import Sequence

from service.signals.advert import what_it_does
from service.signals.lexicon import Cue
from service.signals.segments import Segment


def tell_sides(remark: Sequence[Segment], advert: Sequence[Segment]) -> tuple[str, str]:
    """Return a few words on each side; grammar is mentioned where the sides differ in it."""
    said = [_what_was_said(remark), _person(remark)]
    if any(s.overlap > 0 for s in remark):
        said.append("about the post")
    slips, remark_slips = _slips(advert), _slips(remark)
    if slips and not remark_slips:
        said.insert(0, "no slips seen")
    sells = [what_it_does(advert), _person(advert)]
    if slips and not remark_slips:
        sells.insert(0, slips)
    return ", ".join(filter(None, said)), ", ".join(filter(None, sells))


def tell_link(before: Sequence[Segment], advert: Sequence[Segment]) -> str:
    """Return how links lie about the place where the advertisement begins, "" without any."""
    if any(s.links for s in before):
        return "links on both sides" if any(s.links for s in advert) else ""
    return "the link comes after the seam" if any(s.links for s in advert) else ""


def _what_was_said(remark: Sequence[Segment]) -> str:
    return "praise" if any(s.count(Cue.PRAISE) for s in remark) else ""


def _person(side: Sequence[Segment]) -> str:
    if any(s.count(Cue.ME) for s in side):
        return "first person"
    return "second person" if any(s.count(Cue.YOU) for s in side) else "impersonal"


def _slips(side: Sequence[Segment]) -> str:
    """Return the errors of a side, "" for none that was seen."""
    if any(s.count(Cue.SLIP) for s in side):
        return "slips in grammar"
    careless = sum(s.starts_lower or s.ends_open for s in side)
    return "careless with marks and capitals" if 2 * careless > len(side) else ""
