"""Adds counted rows up to a preview of cutoffs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from service.domain.cutoff_preview import CutoffPreview, Moved
from service.domain.decision import Ruling
from service.domain.verdict import Outcome


def preview_of(
    counted: Iterable[tuple[Outcome, Outcome, int]],
    ruled: Iterable[tuple[Outcome, Outcome, Ruling, int]],
) -> CutoffPreview:
    """Return the preview of rows of what was and would be concluded, and how many those are.

    `ruled` has those of them that a moderator has ruled on.
    """
    comments: Counter[tuple[Outcome, Outcome]] = Counter()
    rulings: Counter[tuple[Outcome, Outcome, Ruling]] = Counter()
    for was, becomes, count in counted:
        comments[was, becomes] += count
    for was, becomes, ruling, count in ruled:
        rulings[was, becomes, ruling] += count
    return CutoffPreview(
        moved=tuple(
            Moved(
                was=was,
                becomes=becomes,
                comments=comments[was, becomes],
                approved=rulings[was, becomes, Ruling.APPROVE],
                rejected=rulings[was, becomes, Ruling.REJECT],
            )
            for was in Outcome
            for becomes in Outcome
            if comments[was, becomes]
        )
    )
