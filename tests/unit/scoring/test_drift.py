"""What counts as drift, and that chance alone hardly ever does."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date

import pytest

from service.domain.traffic import Fact, Kind, Name, Traffic
from service.scoring.drift import (
    CONFIDENCE,
    Compared,
    Drift,
    Level,
    Of,
    drift_of,
    score_step,
)

FIRST, LAST = date(2026, 2, 1), date(2026, 2, 28)
SIGNALS = {f"signal_{n}": 0.5 / (n + 1) for n in range(30)}
LANGUAGES = {"en/Latin": 0.9, "de/Latin": 0.08, "untold/Cyrillic": 0.02}


def traffic(counts: Counter[Name]) -> Traffic:
    return Traffic(first=FIRST, last=LAST, counts=dict(counts))


def stream(draw: random.Random, n: int, *, spam: float = 0.2, new_language: float = 0.0):
    """Return the counts of n comments: ham and spam by score, some unsure, some linking."""
    counts: Counter[Name] = Counter()
    for _ in range(n):
        is_spam = draw.random() < spam
        score = draw.gauss(4.0 if is_spam else -3.0, 2.0)
        facts = [Fact.VERDICTS]
        if -3.8 < score < 4.6:
            facts.append(Fact.UNSURE)
        if draw.random() < (0.05 if is_spam else 0.03):
            facts.append(Fact.NEW_DOMAIN)
        if draw.random() < 0.005:
            facts.append(Fact.DEGRADED)
        else:
            counts[Kind.SCORE, str(score_step(score))] += 1
            for name, rate in SIGNALS.items():
                if draw.random() < rate:
                    counts[Kind.SIGNAL, name] += 1
        language = draw.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
        if draw.random() < new_language:
            language = "untold/Han"
        counts[Kind.LANGUAGE, language] += 1
        for fact in facts:
            counts[Kind.FACT, fact.value] += 1
    return counts


def compare(reference: Counter[Name], recent: Counter[Name]) -> Drift:
    both = Compared(reference=traffic(reference), recent=traffic(recent))
    return drift_of(version="test-1", own=both, world=both)


@pytest.mark.parametrize(("n", "m", "repeats"), [(200, 50, 300), (2_000, 100, 60), (600, 600, 60)])
def test_draws_from_one_stream_sound_no_alarm_beyond_the_stated_rate(n, m, repeats):
    draw = random.Random(f"same {n} {m}")

    rung = sum(bool(compare(stream(draw, n), stream(draw, m)).alarms) for _ in range(repeats))

    # At most 0.6 % of looks may ring: of 300 that is 1.8, and 6 or more has a chance of 1 %.
    stated = 6 * (1 - CONFIDENCE)
    assert rung <= stated * repeats + 3 * (stated * repeats) ** 0.5


def test_a_stream_of_much_more_spam_moves_the_score():
    draw = random.Random(7)

    drift = compare(stream(draw, 2_000), stream(draw, 400, spam=0.6))

    assert drift.score is not None
    assert drift.score.level is Level.ACT
    assert drift.alarms[0].level is Level.ACT
    assert sum(one.recent for one in drift.score.bins) == pytest.approx(1.0)


def test_a_new_language_is_told():
    draw = random.Random(8)

    drift = compare(stream(draw, 2_000), stream(draw, 400, new_language=0.15))

    alarms = {alarm.of: alarm.level for alarm in drift.alarms}
    assert alarms == {Of.LANGUAGES: Level.ACT}
    assert "untold/Han" in {one.name for one in drift.languages.bins}


def test_a_signal_that_begins_to_fire_is_named():
    draw = random.Random(9)
    recent = stream(draw, 400)
    recent[Kind.SIGNAL, "signal_29"] += 60

    drift = compare(stream(draw, 2_000), recent)

    assert [(a.of, a.name) for a in drift.alarms] == [(Of.SIGNAL, "signal_29")]
    assert drift.signals[0].name == "signal_29"


@pytest.mark.parametrize(
    ("fact", "of"),
    [(Fact.UNSURE, Of.UNSURE), (Fact.DEGRADED, Of.DEGRADED), (Fact.NEW_DOMAIN, Of.NEW_DOMAINS)],
)
def test_a_share_that_grows_is_told_and_one_that_shrinks_is_not(fact, of):
    few = Counter({(Kind.FACT, Fact.VERDICTS.value): 1_000, (Kind.FACT, fact.value): 50})
    many = Counter({(Kind.FACT, Fact.VERDICTS.value): 1_000, (Kind.FACT, fact.value): 300})

    assert [(a.of, a.level) for a in compare(few, many).alarms] == [(of, Level.ACT)]
    assert compare(many, few).alarms == ()


def test_few_comments_are_not_compared():
    draw = random.Random(10)

    drift = compare(stream(draw, 199), stream(draw, 400, spam=0.9))

    assert (drift.score, drift.signals, drift.languages, drift.rises) == (None, (), None, ())
    assert drift.alarms == ()


def test_a_large_index_of_very_few_comments_is_taken_for_chance():
    reference = Counter({(Kind.FACT, Fact.VERDICTS.value): 200})
    recent = Counter({(Kind.FACT, Fact.VERDICTS.value): 50})
    for step in range(10):
        reference[Kind.SCORE, str(step)] = 20
        recent[Kind.SCORE, str(step)] = 5
    recent[Kind.SCORE, "0"], recent[Kind.SCORE, "9"] = 9, 1

    drift = compare(reference, recent)

    assert drift.score.psi > 0.1
    assert drift.score.level is Level.CALM


def test_scores_beyond_every_bound_are_counted_at_the_ends():
    assert score_step(1e9) == score_step(10.0)
    assert score_step(-1e9) == score_step(-10.0)
