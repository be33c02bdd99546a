"""Whether a shift of what comes in is told, and nothing is told while all is as it was."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from models.inputs import ModelOutput
from service.domain.comment import Author, Lane, Post
from service.domain.traffic import Fact, Kind
from service.moderation.insight.drift import (
    DriftBook,
    DriftReading,
    count_traffic,
    read_drift,
)
from service.moderation.intake.submit import submit_comments
from service.ports.comments import NewComment
from service.ports.services import Services
from service.scoring.drift import Level, Of
from service.scoring.promise import Promise
from service.stores.files.model_versions import ModelVersions
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services

DATA = Path(__file__).parents[2] / "data"
Line = Mapping[str, Any]


def authored(wanted: Callable[[Line], bool]) -> list[Line]:
    """Return the authored comments that are wanted, in the corpus's order.

    Of the first nine files: every file more would be another draw of the weeks.
    """
    lines = (
        json.loads(line)
        for path in sorted(DATA.glob("authored-t?.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [line for line in lines if wanted(line)]


def send(lines: Sequence[Line], services: Services) -> None:
    """Let comments come in now and be judged."""
    comments = [
        make_comment(
            line["text"],
            received_at=services.common.clock(),
            post=Post(title=line["post_title"], excerpt=line["post_excerpt"]),
            author=Author(name=line["author_name"], url=line["author_url"]),
        )
        for line in lines
    ]
    submit_comments(
        [NewComment(comment=one, lane=Lane.BULK) for one in comments],
        services.intake,
        services.common,
    )


def count(services: Services) -> int:
    return count_traffic(services.review, services.insight, goes_on=lambda: True)


def read(services: Services) -> DriftReading:
    count(services)
    return read_drift(
        services.judging, services.insight, site_ids=None, now=services.common.clock()
    )


def send_days(lines: Sequence[Line], services: Services, *, days: int) -> None:
    """Let comments come in over as many days, evenly."""
    for day in range(days):
        send(lines[day::days], services)
        services.common.clock.advance(days=1)


@pytest.fixture(scope="module")
def weeks() -> dict[str, DriftReading]:
    """Give what is read after a calm week, one with a campaign in it, one with a new language.

    The shipped version judges. The ham is drawn at random from one corpus; two weeks of it went
    before. Of the campaign's week 18 % are its comments.
    """
    model = ModelVersions(None).current()
    clock = FixedClock()
    services = make_services(
        clock=clock,
        current_model=lambda: model,
        current_promise=lambda: Promise(
            version=model.version, cutoffs=model.cutoffs, ham_called_spam=0.1, spam_called_ham=0.1
        ),
    )
    ham = authored(lambda line: line["label"] == "ham" and line["lang"] == "en")
    random.Random(1).shuffle(ham)
    campaign = authored(lambda line: line["campaign"] == "t8-c2") * 10
    foreign = authored(lambda line: line["label"] == "ham" and line["lang"] in ("ja", "zh-Hans"))
    readings = {}
    send_days(ham[:420], services, days=14)
    for name, some in (
        ("calm", ham[420:600]),
        ("campaign", [*ham[600:780], *campaign]),
        ("language", [*ham[780:960], *foreign]),
    ):
        random.Random(name).shuffle(some)
        send_days(some, services, days=7)
        clock.advance(days=-1)
        readings[name] = read(services)
        clock.advance(days=1)
    return readings


def alarms(reading: DriftReading) -> set[Of]:
    return {alarm.of for alarm in reading.drift.alarms}


def test_a_week_like_those_before_sounds_no_alarm(weeks):
    drift = weeks["calm"].drift

    assert drift.alarms == ()
    assert drift.own.verdicts == 420
    assert drift.own_recent.verdicts == 180
    assert drift.score.n_recent == 180


def test_a_campaign_that_arrives_in_a_stream_of_ham_sounds_an_alarm(weeks):
    reading = weeks["campaign"]

    assert alarms(reading) == {Of.SCORE, Of.SIGNAL}
    assert reading.drift.alarms[0].level is Level.ACT


def test_a_language_that_is_new_sounds_an_alarm(weeks):
    assert Of.LANGUAGES in alarms(weeks["language"])


def test_the_version_before_is_no_reference_for_the_one_that_serves():
    services = make_services(classifier=FixedClassifier(0.01))
    send_days([LINE] * 600, services, days=20)
    later = Promise(
        version="test-2",
        cutoffs=services.judging.current_model().cutoffs,
        ham_called_spam=0.1,
        spam_called_ham=0.1,
    )
    count(services)

    reading = read(services)
    other = make_services(
        clock=services.common.clock, traffic=services.insight.traffic, current_promise=lambda: later
    )
    after = read_drift(other.judging, other.insight, site_ids=None, now=services.common.clock())

    assert reading.drift.own is not None
    assert after.drift.own is None
    assert after.drift.score is None
    assert after.drift.version == "test-2"


def test_without_a_version_what_comes_in_is_compared_all_the_same():
    services = make_services(current_promise=lambda: None, classifier=FixedClassifier(0.01))
    send_days([LINE] * 600, services, days=20)

    drift = read(services).drift

    assert (drift.version, drift.own, drift.score) == (None, None, None)
    assert [one.of for one in drift.rises] == [Of.NEW_DOMAINS]


def test_sites_are_told_of_their_own_comments_alone():
    services = make_services(classifier=FixedClassifier(0.01))
    send([LINE] * 5, services)
    count(services)

    mine = read_drift(services.judging, services.insight, site_ids=(SITE,), now=NOW)
    others = read_drift(services.judging, services.insight, site_ids=("site-2",), now=NOW)

    assert mine.drift.recent.verdicts == 5
    assert others.drift.recent.verdicts == 0
    assert others.days == ()


def test_a_campaigns_later_comments_still_lead_to_a_new_domain_and_a_months_later_one_does_not():
    services = make_services(classifier=FixedClassifier(0.5))
    linking = LINE | {"text": "See https://radiators-sale.shop/now for more"}
    send([linking, linking], services)
    services.common.clock.advance(days=30)
    send([linking], services)
    count(services)

    last = services.common.clock().date()
    found = services.insight.traffic.between(NOW.date(), last, site_ids=None, model_version=None)

    assert found.fact(Fact.LINKING) == 3
    assert found.fact(Fact.NEW_DOMAIN) == 2


def test_degraded_verdicts_count_neither_score_nor_signals():
    classifier = FixedClassifier()
    classifier.answer = None
    services = make_services(classifier=classifier)
    send([LINE], services)
    count(services)

    found = services.insight.traffic.between(
        NOW.date(), NOW.date(), site_ids=None, model_version=None
    )

    assert found.fact(Fact.DEGRADED) == 1
    assert found.of(Kind.SCORE) == found.of(Kind.SIGNAL) == {}


def test_a_withdrawn_comment_counts_as_a_verdict_and_in_no_language():
    services = make_services(classifier=FixedClassifier(0.5))
    send([LINE], services)
    [comment_id] = services.insight.traffic.fresh(limit=5)
    services.intake.comments.withdraw(comment_id, at=NOW)
    count(services)

    found = services.insight.traffic.between(
        NOW.date(), NOW.date(), site_ids=None, model_version=None
    )

    assert found.fact(Fact.VERDICTS) == 1
    assert found.of(Kind.LANGUAGE) == {}


def test_drift_is_remembered_for_five_minutes():
    clock = FixedClock()
    services = make_services(clock=clock, classifier=FixedClassifier(0.5))
    book = DriftBook(services)
    first = book.read(None)
    send([LINE], services)
    count(services)

    clock.advance(minutes=4)
    again = book.read(None)
    clock.advance(minutes=2)
    later = book.read(None)

    assert again is first
    assert later.drift.recent.verdicts == 1


def test_alarms_are_told_for_all_sites_together():
    classifier = FixedClassifier(0.01)
    services = make_services(classifier=classifier)
    send_days([LINE] * 600, services, days=20)
    classifier.answer = ModelOutput(p_spam=0.5)
    send_days([LINE] * 100, services, days=7)
    services.common.clock.advance(days=-1)
    count(services)

    alarms = DriftBook(services).alarms()

    assert {alarm.of: alarm.level for alarm in alarms}[Of.UNSURE] is Level.ACT
    assert (
        alarms
        == read_drift(
            services.judging, services.insight, site_ids=None, now=services.common.clock()
        ).drift.alarms
    )
    assert read(services).at - timedelta(days=26) >= NOW


LINE: Line = {
    "text": "The valve on the left needs a key, not a coin.",
    "post_title": "Bleeding a radiator",
    "post_excerpt": None,
    "author_name": "Mara",
    "author_url": None,
}
