"""Adds counted rows up to a tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from service.domain.report import Label
from service.domain.tally import Tally
from service.domain.verdict import Outcome


def tally_of(rows: Iterable[tuple[Outcome | None, Label | None, int]]) -> Tally:
    """Return the tally of rows of verdict, what a person called it since, and how many those are.

    An unsure verdict can't be contradicted.
    """
    outcomes: Counter[Outcome | None] = Counter()
    contradicted: Counter[Outcome] = Counter()
    for outcome, label, count in rows:
        outcomes[outcome] += count
        if outcome in (Outcome.SPAM, Outcome.HAM) and label not in (None, Label(outcome.value)):
            contradicted[outcome] += count
    return Tally(
        received=outcomes.total(),
        spam=outcomes[Outcome.SPAM],
        ham=outcomes[Outcome.HAM],
        unsure=outcomes[Outcome.UNSURE],
        missed_spam=contradicted[Outcome.HAM],
        false_positives=contradicted[Outcome.SPAM],
    )
