"""Replays a labelled archive in order of time, with and without learning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from service.domain.comment import Comment
from service.domain.decision import Decision, Ruling
from service.domain.sender import History
from service.domain.verdict import Outcome, Verdict
from service.learning.features import DecisionSource
from service.learning.judging import apply_residual, make_example
from service.learning.learned_state import LearnedState
from service.moderation.judging import is_audited, judge_comments
from service.ports.models import JudgingModel

TOTAL = "all"
_BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A comment of an archive with its label; its `site_id` and `written_at` must be right."""

    comment: Comment
    is_spam: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The verdicts without and with learning, and whether the owner was `asked` in the latter."""

    archived: Archived
    asked: bool
    frozen: Verdict
    learning: Verdict


def replay(
    archive: Sequence[Archived],
    model: JudgingModel,
    *,
    decides_all: bool,
    audit_share: float,
    salt: int,
) -> Iterator[Played]:
    """Yield every comment in order of time, judged as by the service at that time.

    The owner decides unsure comments and the audit sample, or with `decides_all` all, by the
    labels, before the next comment comes. `salt` keys the features. Raises `ModelUnavailableError`.
    """
    ordered = sorted(archive, key=lambda one: (moment_of(one), one.comment.id))
    learned, number = LearnedState(salt=salt), 0
    for start in range(0, len(ordered), _BATCH):
        some = ordered[start : start + _BATCH]
        unknown, now = [History()] * len(some), moment_of(some[-1])
        verdicts = judge_comments([one.comment for one in some], model, histories=unknown, now=now)
        for archived, frozen in zip(some, verdicts, strict=True):
            comment = archived.comment
            learning = apply_residual(
                frozen, comment, learned, word_hashes=None, promised=model.cutoffs
            )
            audited = is_audited(comment.id, audit_share)
            asked = decides_all or audited or learning.outcome is Outcome.UNSURE
            if asked and not learning.degraded:
                number += 1
                decision = Decision(
                    id=comment.id,
                    comment_id=comment.id,
                    ruling=Ruling.REJECT if archived.is_spam else Ruling.APPROVE,
                    decided_by="owner",
                    decided_at=moment_of(archived),
                )
                example = make_example(
                    number,
                    comment,
                    learning,
                    decision,
                    source=DecisionSource.OWNER,
                    teacher=f"owner of {comment.site_id}",
                    audited=audited,
                    audit_share=audit_share,
                    salt=salt,
                )
                learned = learned.after([example])
            yield Played(archived=archived, asked=asked, frozen=frozen, learning=learning)


def moment_of(archived: Archived) -> datetime:
    return archived.comment.written_at or archived.comment.received_at


@dataclass(slots=True, kw_only=True)
class Tally:
    left_to_a_person: int = 0
    spam_published: int = 0
    ham_held: int = 0
    ham_lost: int = 0

    def add(self, outcome: Outcome, *, is_spam: bool) -> None:
        """Count one comment: ham that waits is held, ham called spam is lost."""
        self.left_to_a_person += outcome is Outcome.UNSURE
        self.spam_published += is_spam and outcome is Outcome.HAM
        self.ham_held += not is_spam and outcome is Outcome.UNSURE
        self.ham_lost += not is_spam and outcome is Outcome.SPAM


@dataclass(slots=True, kw_only=True)
class Week:
    """One ISO week, or the sum of all."""

    week: str
    comments: int = 0
    spam: int = 0
    asked: int = 0
    frozen: Tally = field(default_factory=Tally)
    learning: Tally = field(default_factory=Tally)


class Weeks:
    def __init__(self) -> None:
        self._weeks: dict[str, Week] = {}

    def add(self, played: Played) -> None:
        is_spam = played.archived.is_spam
        year, number, _ = moment_of(played.archived).astimezone(UTC).isocalendar()
        for name in (f"{year}-W{number:02d}", TOTAL):
            week = self._weeks.setdefault(name, Week(week=name))
            week.comments += 1
            week.spam += is_spam
            week.asked += played.asked
            week.frozen.add(played.frozen.outcome, is_spam=is_spam)
            week.learning.add(played.learning.outcome, is_spam=is_spam)

    def rows(self) -> list[Week]:
        """Return a row per week, in order, with the sum as the last."""
        return sorted(self._weeks.values(), key=lambda one: (one.week == TOTAL, one.week))
