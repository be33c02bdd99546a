"""How many comments a site had in a period of time, and how often verdicts were contradicted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of one site's comments by verdict.

    `received` counts those without a verdict too. `missed_spam` were judged ham and called spam
    by a person, `false_positives` the other way round: by a moderator's decision where there is
    one, else by the site's newest report.
    """

    received: int = 0
    spam: int = 0
    ham: int = 0
    unsure: int = 0
    missed_spam: int = 0
    false_positives: int = 0

    @property
    def share_right(self) -> float:
        """Return the share of confident verdicts that nobody contradicted, 1.0 where none is."""
        confident = self.spam + self.ham
        wrong = self.missed_spam + self.false_positives
        return 1.0 - wrong / confident if confident else 1.0
