"""Tells whether what comes in, and what the machine makes of it, is still as it was.

Two periods of days are compared. What is the machine's own (its score, its signals, the share it
leaves unsure, the share degraded) is compared with the first days of the version that serves; what
is the world's (languages, domains never linked to here before) with the weeks before, whatever
version served. An alarm needs two things: that chance alone hardly ever does it, and that it is
large enough to matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from service.domain.traffic import Fact, Kind, Traffic
from service.scoring.exact import chance_of_so_many, chance_of_such_a_difference
from service.scoring.psi import counts_in, psi, psi_noise, quantile_bins

# Of 1,000 comparisons in which nothing has moved, at most about one sounds an alarm by chance. All
# signals together count as one comparison, so a look at everything is six.
CONFIDENCE = 0.999
# Siddiqi's readings of the index.
WATCH_PSI = 0.1
ACT_PSI = 0.25
# By so much must a share of all comments have grown; twice as much asks for an act. A choice: a
# tenth more unsure is a tenth more of all comments for people to read.
WATCH_RISE = {Fact.UNSURE: 0.1, Fact.DEGRADED: 0.05, Fact.NEW_DOMAIN: 0.05}
MIN_REFERENCE = 200
MIN_RECENT = 50
# Bins expected to hold fewer than this are put together: the noise bound is for fuller ones.
_MIN_EXPECTED = 5.0
_REST = "others"
# The score in log-odds is counted in steps of this, from -10 to 10.
SCORE_STEP = 0.25
_SCORE_LIMIT = 10.0


class Level(StrEnum):
    """How loud a comparison is."""

    CALM = "calm"
    WATCH = "watch"
    ACT = "act"


class Of(StrEnum):
    """What an alarm is about."""

    SCORE = "score"
    SIGNAL = "signal"
    UNSURE = "unsure"
    DEGRADED = "degraded"
    NEW_DOMAINS = "new_domains"
    LANGUAGES = "languages"


_OF_FACT = {
    Fact.UNSURE: Of.UNSURE,
    Fact.DEGRADED: Of.DEGRADED,
    Fact.NEW_DOMAIN: Of.NEW_DOMAINS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One bin: its name, and which share of the reference and of the recent comments is in it."""

    name: str
    reference: float
    recent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far a distribution moved: the index, what chance alone stays below, and the bins.

    `name` is the signal's; empty for all else. `beyond_chance` says whether chance alone hardly
    ever does it: of more than two bins by `noise`, of two by an exact test, as most signals fire
    seldom.
    """

    of: Of
    name: str = ""
    psi: float
    noise: float
    n_reference: int
    n_recent: int
    beyond_chance: bool
    bins: tuple[Bin, ...]

    @property
    def level(self) -> Level:
        """Return how loud it is: calm as long as chance alone could have done it."""
        if not self.beyond_chance or self.psi < WATCH_PSI:
            return Level.CALM
        return Level.ACT if self.psi >= ACT_PSI else Level.WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """How many of all comments then and now; only a growing share is bad, by `least` and more."""

    of: Of
    hits_reference: int
    hits_recent: int
    n_reference: int
    n_recent: int
    least: float

    @property
    def reference(self) -> float:
        """Return the share then."""
        return self.hits_reference / self.n_reference

    @property
    def recent(self) -> float:
        """Return the share now."""
        return self.hits_recent / self.n_recent

    @property
    def level(self) -> Level:
        """Return how loud it is: calm as long as chance alone could have done it."""
        rise = self.recent - self.reference
        if rise < self.least:
            return Level.CALM
        chance = chance_of_so_many(
            self.hits_recent, self.n_recent, self.hits_reference, self.n_reference
        )
        if chance > 1 - CONFIDENCE:
            return Level.CALM
        return Level.ACT if rise >= 2 * self.least else Level.WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What has moved and asks for a person: to keep an eye on it, or to act.

    `value` is the index, or by how much the share rose.
    """

    of: Of
    name: str = ""
    level: Level
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days that were counted together, and how many verdicts they had."""

    first: date
    last: date
    verdicts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """All comparisons. What could not be compared yet is None, or missing from `rises`.

    `own` and `own_recent` are the days of the version that serves, `before` and `recent` those of
    all versions. `signals` are those that moved most first.
    """

    version: str | None
    own: Period | None
    own_recent: Period | None
    before: Period
    recent: Period
    score: Shift | None
    signals: tuple[Shift, ...]
    languages: Shift | None
    rises: tuple[Rise, ...]

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Return what is not calm, what asks for an act first."""
        shifts = [one for one in (self.score, self.languages, *self.signals) if one is not None]
        found = [
            Alarm(of=one.of, name=one.name, level=one.level, value=one.psi)
            for one in shifts
            if one.level is not Level.CALM
        ] + [
            Alarm(of=one.of, level=one.level, value=one.recent - one.reference)
            for one in self.rises
            if one.level is not Level.CALM
        ]
        return tuple(sorted(found, key=lambda alarm: alarm.level is not Level.ACT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two periods of one kind, the earlier one first."""

    reference: Traffic
    recent: Traffic

    @property
    def is_enough(self) -> bool:
        """Say whether both hold enough verdicts to compare."""
        n, m = self.reference.fact(Fact.VERDICTS), self.recent.fact(Fact.VERDICTS)
        return n >= MIN_REFERENCE and m >= MIN_RECENT


def drift_of(*, version: str | None, own: Compared | None, world: Compared) -> Drift:
    """Compare the days of the version that serves, and those of all versions.

    `own` is None where that version has no later days than its reference yet.
    """
    has_own = own is not None and own.is_enough
    return Drift(
        version=version,
        own=_period(own.reference) if own else None,
        own_recent=_period(own.recent) if own else None,
        before=_period(world.reference),
        recent=_period(world.recent),
        score=_score(own) if own and has_own else None,
        signals=_signals(own) if own and has_own else (),
        languages=_languages(world) if world.is_enough else None,
        rises=(
            *(
                _rise(own, fact)
                for fact in (Fact.UNSURE, Fact.DEGRADED)
                if own is not None and has_own
            ),
            *(_rise(world, fact) for fact in (Fact.NEW_DOMAIN,) if world.is_enough),
        ),
    )


def score_step(score: float) -> int:
    """Return the number of the step that a score in log-odds lies in."""
    bounded = max(-_SCORE_LIMIT, min(_SCORE_LIMIT, score))
    return math.floor(bounded / SCORE_STEP)


def _period(traffic: Traffic) -> Period:
    verdicts = traffic.fact(Fact.VERDICTS)
    return Period(first=traffic.first, last=traffic.last, verdicts=verdicts)


def _score(own: Compared) -> Shift | None:
    reference = _steps(own.reference)
    starts = quantile_bins(reference)
    if not starts:
        return None
    edges = ["", *(f"{1 / (1 + math.exp(-start * SCORE_STEP)):.3g}" for start in starts)]
    counted = (counts_in(starts, reference), counts_in(starts, _steps(own.recent)))
    return _shift(Of.SCORE, [edge or "0" for edge in edges], *counted, confidence=CONFIDENCE)


def _steps(traffic: Traffic) -> dict[int, int]:
    return {int(name): number for name, number in traffic.of(Kind.SCORE).items()}


def _signals(own: Compared) -> tuple[Shift, ...]:
    reference, recent = own.reference.of(Kind.SIGNAL), own.recent.of(Kind.SIGNAL)
    # Degraded verdicts are left out here as they are from the scores: some evidence was missing.
    n, m = _whole(own.reference), _whole(own.recent)
    if not n or not m:
        return ()
    # One that hardly fires at all cannot be told from chance.
    names = sorted(
        name
        for name in {*reference, *recent}
        if _expected(reference.get(name, 0), recent.get(name, 0), n, m) >= _MIN_EXPECTED
    )
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(names))
    shifts = []
    for name in names:
        fired, fired_now = min(reference.get(name, 0), n), min(recent.get(name, 0), m)
        counted = ((n - fired, fired), (m - fired_now, fired_now))
        shift = _shift(Of.SIGNAL, ["silent", "fired"], *counted, confidence=confidence, name=name)
        if shift is not None:
            shifts.append(shift)
    return tuple(sorted(shifts, key=lambda shift: (-shift.psi, shift.name)))


def _whole(traffic: Traffic) -> int:
    return sum(traffic.of(Kind.SCORE).values())


def _languages(world: Compared) -> Shift | None:
    reference = Counter(world.reference.of(Kind.LANGUAGE))
    recent = Counter(world.recent.of(Kind.LANGUAGE))
    n, m = reference.total(), recent.total()
    if not n or not m:
        return None
    kept = sorted(
        (
            name
            for name in {*reference, *recent}
            if _expected(reference[name], recent[name], n, m) >= _MIN_EXPECTED
        ),
        key=lambda name: (-reference[name] - recent[name], name),
    )
    rest = [sum(c[name] for name in c if name not in kept) for c in (reference, recent)]
    counted = [[counts[name] for name in kept] for counts in (reference, recent)]
    if any(rest):
        kept = [*kept, _REST]
        counted = [[*some, left] for some, left in zip(counted, rest, strict=True)]
    return _shift(Of.LANGUAGES, kept, counted[0], counted[1], confidence=CONFIDENCE)


def _expected(in_reference: int, in_recent: int, n: int, m: int) -> float:
    """Return how many the smaller side would hold if both were alike."""
    return (in_reference + in_recent) * min(n, m) / (n + m)


def _shift(
    of: Of,
    names: Sequence[str],
    reference: Sequence[int],
    recent: Sequence[int],
    *,
    confidence: float,
    name: str = "",
) -> Shift | None:
    n, m = sum(reference), sum(recent)
    if len(names) < 2 or not n or not m:
        return None
    index, noise = psi(reference, recent), psi_noise(len(names), n, m, confidence=confidence)
    beyond_chance = index > noise
    if len(names) == 2:
        chance = chance_of_such_a_difference(recent[1], m, reference[1], n)
        beyond_chance = chance <= 1 - confidence
    return Shift(
        of=of,
        name=name,
        psi=index,
        noise=noise,
        n_reference=n,
        n_recent=m,
        beyond_chance=beyond_chance,
        bins=tuple(
            Bin(name=one, reference=a / n, recent=b / m)
            for one, a, b in zip(names, reference, recent, strict=True)
        ),
    )


def _rise(compared: Compared, fact: Fact) -> Rise:
    return Rise(
        of=_OF_FACT[fact],
        hits_reference=compared.reference.fact(fact),
        hits_recent=compared.recent.fact(fact),
        n_reference=compared.reference.fact(Fact.VERDICTS),
        n_recent=compared.recent.fact(Fact.VERDICTS),
        least=WATCH_RISE[fact],
    )
