"""Holds every store of back-scoring jobs to its contract."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from service.domain.back_scoring import BackScoring, JobState
from service.domain.comment import Lane, SiteId
from service.domain.errors import ConflictError, NotFoundError
from service.ports.comments import NewComment
from tests.factories import NOW, make_comment, make_verdict

LATER = NOW + timedelta(minutes=1)


def make_job(job_id="job-1", **changes) -> BackScoring:
    values = {
        "id": job_id,
        "model_version": "candidate",
        "site_ids": None,
        "since": None,
        "until": LATER,
        "asked_by": "Ola",
        "asked_at": NOW,
    }
    return BackScoring(**(values | changes))


@pytest.fixture
def archive(stores):
    """Return a function that keeps so many judged comments and returns their ids in order."""

    def keep(count, **changes):
        comments = [make_comment(**changes) for _ in range(count)]
        stores.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in comments])
        stores.verdicts.add([make_verdict(one.id) for one in comments], audit=frozenset())
        return sorted(one.id for one in comments)

    return keep


def cut(stores, job_id="job-1", **changes):
    values = {"size": 2, "most_open": 10, "lost_before": NOW - timedelta(seconds=20), "at": NOW}
    return stores.back_scorings.cut(job_id, **(values | changes))


def test_a_job_counts_the_judged_comments_that_it_is_about(stores, archive):
    archive(3)
    archive(1, received_at=NOW - timedelta(days=9))
    archive(1, received_at=LATER)
    archive(1, site_id=SiteId("site-2"))
    stores.comments.withdraw(archive(1)[0], at=NOW)
    waiting = make_comment()
    stores.comments.add([NewComment(comment=waiting, lane=Lane.BULK)])

    job = stores.back_scorings.begin(
        make_job(since=NOW - timedelta(days=1), site_ids=(SiteId("site-1"),))
    )

    assert (job.total, job.done, job.state) == (3, 0, JobState.RUNNING)
    assert stores.back_scorings.get("job-1") == job


def test_every_comment_comes_into_exactly_one_chunk(stores, archive):
    ids = archive(5)
    job = stores.back_scorings.begin(make_job())

    chunks = cut(stores)

    assert [chunk.comments for chunk in chunks] == [2, 2, 1]
    found = [one for chunk in chunks for one in stores.back_scorings.ids_of(job, chunk)]
    assert found == ids
    assert cut(stores) == []


def test_only_so_many_chunks_are_open_at_a_time(stores, archive):
    archive(5)
    stores.back_scorings.begin(make_job())

    first = cut(stores, most_open=2)
    assert cut(stores, most_open=2) == []
    stores.back_scorings.finish_chunk(first[0], at=NOW)
    then = cut(stores, most_open=2)

    assert [chunk.number for chunk in first] == [1, 2]
    assert [chunk.number for chunk in then] == [3]


def test_the_last_chunk_ends_its_job_and_none_counts_twice(stores, archive):
    archive(4)
    stores.back_scorings.begin(make_job())
    one, other = cut(stores)
    # That there are no more is known only once one has looked.
    cut(stores)

    assert stores.back_scorings.finish_chunk(one, at=NOW)
    assert not stores.back_scorings.finish_chunk(one, at=NOW)
    half = stores.back_scorings.get("job-1")
    assert stores.back_scorings.finish_chunk(other, at=LATER)
    whole = stores.back_scorings.get("job-1")

    assert (half.done, half.state, half.share_done) == (2, JobState.RUNNING, 0.5)
    assert (whole.done, whole.state, whole.ended_at) == (4, JobState.ENDED, LATER)
    assert stores.back_scorings.find_chunk("job-1", one.number) is None


def test_a_job_about_nothing_ends_at_once(stores):
    stores.back_scorings.begin(make_job())

    assert cut(stores) == []
    assert stores.back_scorings.get("job-1").state is JobState.ENDED


def test_a_chunk_that_was_lost_is_queued_again(stores, archive):
    archive(4)
    stores.back_scorings.begin(make_job())
    one, other = cut(stores, at=NOW - timedelta(seconds=30))
    stores.back_scorings.finish_chunk(one, at=NOW)

    again = cut(stores)

    assert again == [other]
    assert cut(stores) == []


def test_a_paused_job_rests_and_goes_on_with_what_is_open(stores, archive):
    archive(6)
    stores.back_scorings.begin(make_job())
    chunks = cut(stores, most_open=2)

    paused = stores.back_scorings.change("job-1", JobState.PAUSED, at=NOW, problem="a reason")
    assert cut(stores) == []
    assert stores.back_scorings.running() == []
    stores.back_scorings.finish_chunk(chunks[0], at=NOW)
    stores.back_scorings.change("job-1", JobState.RUNNING, at=NOW)
    then = cut(stores)

    assert (paused.state, paused.problem, paused.ended_at) == (JobState.PAUSED, "a reason", None)
    assert [chunk.number for chunk in then] == [2, 3]
    assert stores.back_scorings.get("job-1").problem is None


def test_a_cancelled_job_is_over(stores, archive):
    archive(4)
    stores.back_scorings.begin(make_job())
    chunk, _ = cut(stores)

    job = stores.back_scorings.change("job-1", JobState.CANCELLED, at=LATER)

    assert (job.state, job.ended_at) == (JobState.CANCELLED, LATER)
    assert not stores.back_scorings.finish_chunk(chunk, at=LATER)
    assert cut(stores) == []
    with pytest.raises(ConflictError):
        stores.back_scorings.change("job-1", JobState.RUNNING, at=LATER)


def test_a_version_has_one_unfinished_job_at_a_time(stores):
    stores.back_scorings.begin(make_job())
    stores.back_scorings.begin(make_job("job-2", model_version="other"))

    with pytest.raises(ConflictError, match="job-1"):
        stores.back_scorings.begin(make_job("job-3"))
    stores.back_scorings.change("job-1", JobState.CANCELLED, at=NOW)
    stores.back_scorings.begin(make_job("job-3", asked_at=LATER))

    assert [job.id for job in stores.back_scorings.recent(limit=2)] == ["job-3", "job-2"]
    assert [job.id for job in stores.back_scorings.running()] == ["job-2", "job-3"]


def test_an_unknown_job_is_said_to_be_unknown(stores):
    with pytest.raises(NotFoundError):
        stores.back_scorings.get("job-9")
    with pytest.raises(NotFoundError):
        stores.back_scorings.change("job-9", JobState.PAUSED, at=NOW)
    assert stores.back_scorings.find_chunk("job-9", 1) is None


def test_two_that_cut_at_once_never_share_a_comment(stores, archive):
    ids = archive(40)
    job = stores.back_scorings.begin(make_job())

    with ThreadPoolExecutor(4) as pool:
        cuts = pool.map(lambda most: cut(stores, most_open=most), (5, 10, 15, 20, 25))
        chunks = [chunk for some in cuts for chunk in some]

    found = [one for chunk in chunks for one in stores.back_scorings.ids_of(job, chunk)]
    assert sorted(found) == ids
    assert len({chunk.number for chunk in chunks}) == len(chunks)
