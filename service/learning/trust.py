"""Decides how much each decision may teach at once, since anybody who decides can mislead.

None of these rules proves that a decision is right; each bounds what one person or site can do.
Retraining uses the same rules (`training/retraining/clean.py`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.learning.features import DecisionSource, TrainingExample

# The site's owner is responsible for these. The others could be anybody: they move no other site,
# however many decisions they have made.
TRUSTED = frozenset({DecisionSource.OWNER, DecisionSource.IMPORT})
# A person's day by hand is 100 to 200 decisions; a machine that decides more teaches no more.
_MOST_A_DAY: Mapping[DecisionSource, int] = {
    DecisionSource.ACCOUNT: 150,
    DecisionSource.SITE: 60,
    DecisionSource.REPORT: 30,
}
# Of a campaign so many teach all there is to learn. No campaign is approved, so near-copies that
# are approved by somebody else than the owner are a key to pass by.
_MOST_COPIES = 20
_MOST_COPIES_APPROVED = 3
# Who contradicts what the version was sure of in a fifth of the decisions, and five times at least,
# judges otherwise than everybody, or means to.
_OUTLIER_TIMES, _OUTLIER_SHARE = 5, 0.2
# So many decisions make an account no newcomer.
NEWCOMER = 30
# What a newcomer teaches against a confident verdict, until it is none any more.
_AGAINST_CONFIDENT = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherRecord:
    n: int = 0
    contradictions: int = 0

    @property
    def is_outlier(self) -> bool:
        """Return True if it contradicts confident verdicts far too often."""
        return (
            self.contradictions >= _OUTLIER_TIMES and self.contradictions >= _OUTLIER_SHARE * self.n
        )


def record_teachers(
    examples: Iterable[TrainingExample], before: Mapping[str, TeacherRecord] | None = None
) -> Mapping[str, TeacherRecord]:
    """Return the records of all untrusted teachers: `before`, plus these training examples."""
    records = dict(before or {})
    for example in examples:
        if example.source not in TRUSTED:
            so_far = records.get(example.teacher, TeacherRecord())
            records[example.teacher] = TeacherRecord(
                n=so_far.n + 1, contradictions=so_far.contradictions + example.contradicts
            )
    return records


def outlier_teachers(records: Mapping[str, TeacherRecord]) -> frozenset[str]:
    """Return the teachers who teach nothing."""
    return frozenset(teacher for teacher, record in records.items() if record.is_outlier)


class Ledger:
    """Counts the training examples so far, and weighs the next one."""

    def __init__(self) -> None:
        self._taught: Counter[str] = Counter()
        self._days: Counter[tuple[str, int]] = Counter()
        self._copies: Counter[tuple[str, bool, int]] = Counter()

    def copy(self) -> "Ledger":
        """Return a copy that counts independently."""
        other = Ledger()
        other._taught = self._taught.copy()
        other._days = self._days.copy()
        other._copies = self._copies.copy()
        return other

    def weigh(self, example: TrainingExample) -> float:
        """Return how much a training example teaches, in [0, 1], and count it."""
        is_trusted, is_account = example.source in TRUSTED, example.source is DecisionSource.ACCOUNT
        is_known = is_trusted or (is_account and self._taught[example.teacher] >= NEWCOMER)
        keys = [(example.site_id, example.is_spam, key) for key in example.features.copies]
        copies = max((self._copies[key] for key in keys), default=0)
        today = self._days[example.teacher, example.day]
        self._copies.update(keys)
        self._days[example.teacher, example.day] += 1
        self._taught[example.teacher] += 1
        if today >= _MOST_A_DAY.get(example.source, today + 1):
            return 0.0
        lenient = example.is_spam or is_trusted
        if copies >= (_MOST_COPIES if lenient else _MOST_COPIES_APPROVED):
            return 0.0
        if example.contradicts and not is_known:
            return _AGAINST_CONFIDENT if is_account else 0.0
        return 1.0
