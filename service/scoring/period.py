"""Figures of a period: outcomes, mistakes, the queue, shifted scores; shares with intervals."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from statistics import NormalDist

from service.domain.decision import Ruling
from service.domain.figures import FigureCounts, QueueFigures, Scope
from service.domain.verdict import Outcome

Interval = tuple[float, float]

CONFIDENCE = 0.95
# Below this a share jumps by ten points or more with each single comment.
MIN_COUNT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `n`; the share and its 95 % interval are None if `n` is too small."""

    count: int
    n: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


def wilson_interval(successes: float, n: float) -> Interval:
    """Return the 95 % score interval for a share, (0.0, 1.0) where `n` is 0.

    Of a weighted sample both may be effective numbers, not whole ones.

    Wilson 1927 (Journal of the American Statistical Association 22:209-212). Its coverage is near
    95 % on average; use `clopper_pearson` where the promise must hold in every case.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"a share needs 0 <= successes <= n, got {successes} of {n}")
    if n == 0:
        return (0.0, 1.0)
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and n the bound is exactly 0 and 1; rounding must not move it.
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == n else (middle + spread) / scale
    return (low, high)


def share_of(
    count: int, n: int, *, interval: Callable[[int, int], Interval] = wilson_interval
) -> Share:
    """Return `count` of `n` with its interval, without share and interval below `MIN_COUNT`."""
    if n < MIN_COUNT:
        return Share(count=count, n=n)
    low, high = interval(count, n)
    return Share(count=count, n=n, share=count / n, low=low, high=high)


# Siddiqi 2006 (Credit Risk Scorecards, chapter 9): below 0.1 no shift, above 0.25 a large one.
SHIFTED = 0.25
# With fewer verdicts on either side the index is mostly noise: it is about bins / n for each.
MIN_VERDICTS = 200


def population_stability(earlier: Sequence[int], recent: Sequence[int]) -> float | None:
    """Return the population stability index of two histograms over the same bins.

    It is the sum over bins of (recent - earlier) * ln(recent / earlier), of shares (Siddiqi 2006).
    Half a comment is added to each bin, so that an empty one has a logarithm. Returns None if
    either side has fewer than `MIN_VERDICTS`.
    """
    n_earlier, n_recent = sum(earlier), sum(recent)
    if min(n_earlier, n_recent) < MIN_VERDICTS:
        return None
    half = 0.5 * len(earlier)
    index = 0.0
    for count, other in zip(earlier, recent, strict=True):
        before = (count + 0.5) / (n_earlier + half)
        now = (other + 0.5) / (n_recent + half)
        index += (now - before) * math.log(now / before)
    return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How many comments had which verdict; `unjudged` have none yet."""

    ham: int = 0
    unsure: int = 0
    spam: int = 0
    unjudged: int = 0

    @property
    def judged(self) -> int:
        return self.ham + self.unsure + self.spam


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """The comments received on one UTC day."""

    day: date
    outcomes: Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """Mistakes found in the audit sample, a random sample of ham and spam verdicts.

    `ham_called_spam` is the share of audited spam verdicts that people approved, `spam_called_ham`
    that of audited ham verdicts that they rejected. `false_positive_rate` estimates which share of
    all ham is called spam: what people approved of the sample, scaled up to all spam verdicts,
    over that plus all ham verdicts. Ham among unsure comments is left out, so it errs upwards.
    """

    ham_called_spam: Share
    spam_called_ham: Share
    false_positive_rate: Share
    audits_waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a period of days went. `stability` is the population stability index of the scores."""

    since: datetime
    until: datetime
    days: tuple[DayFigures, ...]
    total: Outcomes
    degraded: int
    left_to_people: Share
    mistakes: Mistakes
    queue: QueueFigures
    stability: float | None


def figures_of(counts: FigureCounts, scope: Scope) -> Figures:
    first, last = scope.since.date(), scope.until.date()
    nothing: Counter[Outcome | None] = Counter()
    by_day = {
        day: counts.days.get(day, nothing)
        for day in (first + timedelta(days=n) for n in range((last - first).days + 1))
    }
    total = _outcomes(sum(by_day.values(), nothing))
    return Figures(
        since=scope.since,
        until=scope.until,
        days=tuple(DayFigures(day=day, outcomes=_outcomes(n)) for day, n in by_day.items()),
        total=total,
        degraded=counts.degraded,
        left_to_people=share_of(total.unsure, total.judged),
        mistakes=_mistakes(counts, total),
        queue=counts.queue,
        stability=population_stability(counts.earlier_scores, counts.recent_scores),
    )


def _outcomes(found: Counter[Outcome | None]) -> Outcomes:
    return Outcomes(
        ham=found[Outcome.HAM],
        unsure=found[Outcome.UNSURE],
        spam=found[Outcome.SPAM],
        unjudged=found[None],
    )


def _mistakes(counts: FigureCounts, total: Outcomes) -> Mistakes:
    audited = counts.audited
    spam_approved = audited[Outcome.SPAM, Ruling.APPROVE]
    spam_decided = spam_approved + audited[Outcome.SPAM, Ruling.REJECT]
    ham_rejected = audited[Outcome.HAM, Ruling.REJECT]
    ham_decided = ham_rejected + audited[Outcome.HAM, Ruling.APPROVE]
    called_spam = share_of(spam_approved, spam_decided)
    return Mistakes(
        ham_called_spam=called_spam,
        spam_called_ham=share_of(ham_rejected, ham_decided),
        false_positive_rate=_of_all_ham(called_spam, total),
        audits_waiting=sum(n for (_, ruling), n in audited.items() if ruling is None),
    )


def _of_all_ham(called_spam: Share, total: Outcomes) -> Share:
    """Return the share of all ham that is called spam, given that of audited spam verdicts."""

    def scaled(share: float | None) -> float | None:
        lost = None if share is None else share * total.spam
        return lost and lost / (lost + total.ham)

    return replace(
        called_spam,
        share=scaled(called_spam.share),
        low=scaled(called_spam.low),
        high=scaled(called_spam.high),
    )
