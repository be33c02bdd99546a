"""Caches what decisions taught, and learns new decisions as they are made."""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.comment import CommentId, SiteId
from service.domain.site import SiteSettings
from service.domain.user import Role
from service.learning.features import TrainingExample
from service.learning.judging import example_of
from service.learning.learned_state import LearnedState, learn_all
from service.learning.numbers import EXAMPLE_BLOCK, MOST_EXAMPLES
from service.stores.sql.cases import CaseStore
from service.stores.sql.decisions import DecisionStore
from service.stores.sql.people import UserStore
from service.stores.sql.sites import SiteStore

# Maximum time until every process has learnt a decision.
RECHECK_SECONDS = 0.5
# For changes that no number shows: a verdict after the decision, and on PostgreSQL a decision that
# commits after one with a higher number.
READ_ALL_SECONDS = 10.0
_PORTION = 500

# A training example, and when its decision was made.
_Read = tuple[TrainingExample, datetime]


@dataclass(eq=False)
class LearningCache:
    """Caches what all decisions in force teach, and updates it when they change.

    The state depends on the database only, so it is the same in every process. At most the `most`
    newest decisions are read; older ones are dropped in blocks of `block` numbers, so that a new
    decision rarely forces a full relearning. It checks the database every half second. A new
    decision is learnt incrementally; an undo relearns all, which takes a second or two for 10,000.
    """

    decisions: DecisionStore
    cases: CaseStore
    sites: SiteStore
    users: UserStore
    audit_share: float
    salt: int = field(repr=False)
    recheck_seconds: float = RECHECK_SECONDS
    most: int = MOST_EXAMPLES
    block: int = EXAMPLE_BLOCK
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._learned = LearnedState(salt=self.salt)
        self._read: dict[int, _Read] = {}
        self._owners: frozenset[str] = frozenset()
        self._version: tuple[int, int] | None = None
        self._checked_at = self._read_at = float("-inf")

    def current(self) -> LearnedState:
        """Return the state, at most `recheck_seconds` old. Raise `StoreUnavailableError`."""
        with self._lock:
            now = self.monotonic()
            if now - self._checked_at >= self.recheck_seconds:
                # Read first, so that a change during the read is noticed next time.
                version = self.decisions.last_change()
                if version != self._version or now - self._read_at >= READ_ALL_SECONDS:
                    self._learn()
                    self._version, self._read_at = version, now
                self._checked_at = now
            return self._learned

    def _learn(self) -> None:
        owners = frozenset(user.name for user in self.users.all() if user.role is Role.OWNER)
        if owners != self._owners:
            self._read, self._owners = {}, owners
        training_decisions = self._find_training_decisions()
        self._read = self._read_examples(training_decisions)
        settings = {site.id: site.settings for site in self.sites.all()}
        examples = [
            self._read[number][0]
            for number, _ in training_decisions
            if number in self._read and _counts(*self._read[number], settings)
        ]
        known = [one.example for one in self._learned.examples]
        # By identity, because an example is read once and never changes.
        grows = len(known) <= len(examples) and all(
            a is b for a, b in zip(known, examples, strict=False)
        )
        if not grows:
            self._learned = learn_all(examples, salt=self.salt)
        elif len(examples) > len(known):
            self._learned = self._learned.after(examples[len(known) :])

    def _find_training_decisions(self) -> Sequence[tuple[int, CommentId]]:
        """Return the newest training decisions: all, or those since the start of a block."""
        found = self.decisions.find_training_decisions(limit=self.most + 1)
        if len(found) <= self.most:
            return found
        # Every process begins at the same number until the block is full.
        oldest, _ = found[1]
        begin = -(-oldest // self.block) * self.block
        return found[bisect_left(found, begin, key=lambda one: one[0]) :]

    def _read_examples(
        self, training_decisions: Sequence[tuple[int, CommentId]]
    ) -> dict[int, _Read]:
        """Return the examples of these decisions; known ones are not read again."""
        read = {
            number: self._read[number] for number, _ in training_decisions if number in self._read
        }
        missing = [(number, key) for number, key in training_decisions if number not in read]
        for start in range(0, len(missing), _PORTION):
            some = {key: number for number, key in missing[start : start + _PORTION]}
            for case in self.cases.find(list(some)):
                example = example_of(
                    some[case.comment.id],
                    case,
                    owners=self._owners,
                    audit_share=self.audit_share,
                    salt=self.salt,
                )
                if example is not None and case.decision is not None:
                    read[example.number] = (example, case.decision.decided_at)
        return read


def _counts(
    example: TrainingExample, decided_at: datetime, settings: Mapping[SiteId, SiteSettings]
) -> bool:
    """Return True if the site learns, and has not forgotten this example."""
    site = settings.get(example.site_id)
    if site is None or not site.learns:
        return False
    return site.learns_since is None or decided_at >= site.learns_since
