"""Holds every traffic store to its contract."""

from __future__ import annotations

from datetime import date, timedelta

from service.domain.comment import CommentId, Lane, SiteId
from service.domain.traffic import Fact, Kind, Sighting, Traffic, TrafficDay
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from tests.factories import NOW, SITE, make_comment, make_verdict

OTHER_SITE = SiteId("site-2")
TODAY = NOW.date()
DAY = timedelta(days=1)
VERDICTS = (Kind.FACT, Fact.VERDICTS.value)
LINKING = (Kind.FACT, Fact.LINKING.value)


def keep(stores, *, site=SITE, judged=True) -> CommentId:
    comment = make_comment(site_id=site)
    stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
    if judged:
        stores.verdicts.add([make_verdict(comment.id, Outcome.HAM)], audit=frozenset())
    return comment.id


def count(stores, *, site=SITE, day=TODAY, version="test-1", names=(VERDICTS,)) -> int:
    sighting = Sighting(
        comment_id=keep(stores, site=site),
        site_id=site,
        day=day,
        model_version=version,
        names=frozenset(names),
    )
    return stores.traffic.count([sighting])


def between(stores, first=TODAY, last=TODAY, *, site_ids=None, version=None) -> Traffic:
    return stores.traffic.between(first, last, site_ids=site_ids, model_version=version)


def test_judged_comments_are_fresh_until_they_are_counted(stores):
    ids = sorted(keep(stores) for _ in range(3))
    keep(stores, judged=False)

    first = stores.traffic.fresh(limit=2)
    sightings = [
        Sighting(
            comment_id=comment_id,
            site_id=SITE,
            day=TODAY,
            model_version="test-1",
            names=frozenset([VERDICTS]),
        )
        for comment_id in first
    ]
    counted = stores.traffic.count(sightings)

    assert first == ids[:2]
    assert counted == 2
    assert stores.traffic.fresh(limit=10) == ids[2:]


def test_a_comment_is_counted_once(stores):
    sighting = Sighting(
        comment_id=keep(stores),
        site_id=SITE,
        day=TODAY,
        model_version="test-1",
        names=frozenset([VERDICTS, LINKING]),
    )

    counted = [stores.traffic.count([sighting, sighting]), stores.traffic.count([sighting])]

    assert counted == [1, 0]
    assert between(stores).counts == {VERDICTS: 1, LINKING: 1}


def test_counts_add_up_over_days_sites_and_versions(stores):
    score = (Kind.SCORE, "-3")
    count(stores, names=[VERDICTS, score])
    count(stores, names=[VERDICTS, score])
    count(stores, site=OTHER_SITE)
    count(stores, day=TODAY - DAY, names=[VERDICTS, LINKING])
    count(stores, day=TODAY - 2 * DAY)
    count(stores, version="test-2")

    found = between(stores, TODAY - DAY, TODAY)

    assert found.counts == {VERDICTS: 5, score: 2, LINKING: 1}
    assert (found.first, found.last) == (TODAY - DAY, TODAY)
    assert between(stores, site_ids=(OTHER_SITE,)).counts == {VERDICTS: 1}
    assert between(stores, site_ids=()).counts == {}
    assert between(stores, version="test-2").counts == {VERDICTS: 1}


def test_the_first_days_of_a_version_come_in_order(stores):
    count(stores, day=TODAY)
    count(stores, day=TODAY - 3 * DAY)
    count(stores, day=TODAY - 3 * DAY, site=OTHER_SITE)
    count(stores, day=TODAY - 9 * DAY, version="test-0")
    count(stores, day=TODAY - DAY)

    first = stores.traffic.first_days(site_ids=None, model_version="test-1", limit=2)
    of_site = stores.traffic.first_days(site_ids=(SITE,), model_version="test-1", limit=9)

    assert first == [
        TrafficDay(day=TODAY - 3 * DAY, verdicts=2),
        TrafficDay(day=TODAY - DAY, verdicts=1),
    ]
    assert [one.verdicts for one in of_site] == [1, 1, 1]
    assert stores.traffic.first_days(site_ids=None, model_version="test-9", limit=9) == []


def test_facts_by_day_leave_out_days_without_any_and_other_kinds(stores):
    count(stores, names=[VERDICTS, (Kind.LANGUAGE, "en/Latin")])
    count(stores, day=date(2026, 2, 1), names=[VERDICTS, LINKING])
    count(stores, day=date(2026, 1, 1))

    days = stores.traffic.facts_by_day(date(2026, 1, 15), TODAY, site_ids=(SITE,))

    assert [(one.first, one.last, one.counts) for one in days] == [
        (date(2026, 2, 1), date(2026, 2, 1), {VERDICTS: 1, LINKING: 1}),
        (TODAY, TODAY, {VERDICTS: 1}),
    ]


def test_a_domain_was_first_seen_at_the_earliest_moment_told(stores):
    stores.traffic.note_domains({"aa": NOW, "bb": NOW})

    earlier = stores.traffic.note_domains({"aa": NOW - DAY, "cc": NOW})
    later = stores.traffic.note_domains({"aa": NOW + DAY})

    assert earlier == {"aa": NOW - DAY, "cc": NOW}
    assert later == {"aa": NOW - DAY}
    assert stores.traffic.note_domains({}) == {}


def test_counts_stay_when_the_comment_is_withdrawn(stores):
    comment_id = keep(stores)
    sighting = Sighting(
        comment_id=comment_id,
        site_id=SITE,
        day=TODAY,
        model_version="test-1",
        names=frozenset([VERDICTS]),
    )
    stores.comments.withdraw(comment_id, at=NOW)

    assert stores.traffic.fresh(limit=9) == [comment_id]
    assert stores.traffic.count([sighting]) == 1
    assert between(stores).counts == {VERDICTS: 1}
