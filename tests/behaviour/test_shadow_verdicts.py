"""Shadow and back-scoring over SQLite: what other versions say, and that nothing acts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.back_scoring import JobState
from service.domain.comment import Lane
from service.domain.errors import (
    ConflictError,
    InvalidInputError,
    ModelUnavailableError,
    StoreUnavailableError,
)
from service.domain.shadow_verdict import ShadowVerdictScope
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.moderation.intake.submit import submit_comments
from service.moderation.judging import back_score
from service.moderation.judging.back_score import (
    back_score_chunk,
    change_back_scoring,
    feed_back_scorings,
    start_back_scoring,
)
from service.moderation.judging.judge import judge_batch
from service.moderation.judging.shadow import has_shadow, judge_in_shadow
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.scoring.weights import Cutoffs, Weights
from tests.factories import make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site

CANDIDATE = ShadowVerdictScope(model_version="candidate")


class PoisonedClassifier(FixedClassifier):
    """Breaks on any batch that holds the poisonous text."""

    def score_batch(self, inputs):
        if any(given.text == "poison" for given in inputs):
            raise RecursionError
        return super().score_batch(inputs)


def candidate(classifier=None, **changes) -> JudgingModel:
    values = {
        "version": "candidate",
        "classifier": classifier or FixedClassifier(0.99),
        "weights": Weights(),
        "cutoffs": Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9),
    }
    return JudgingModel(**(values | changes))


def make(model=None, **changes):
    """Return services with a candidate in the shadow, to be asked about the archive as well."""
    model = model or candidate()
    return make_services(shadow_model=lambda: model, find_model=lambda _: model, **changes)


def keep(services, count=1, **changes):
    comments = [make_comment(**changes) for _ in range(count)]
    submit_comments(
        [NewComment(comment=one, lane=Lane.BULK) for one in comments],
        services.intake,
        services.common,
    )
    return [one.id for one in comments]


def cells(services):
    counts = services.judging.shadow_verdicts.count(CANDIDATE)
    return {(cell.verdict, cell.shadow_verdict): cell.comments for cell in counts.cells}


def test_the_shadow_keeps_its_shadow_verdict_and_touches_no_verdict():
    services = make()
    [comment_id] = keep(services)
    before = services.review.cases.get(comment_id)

    said = judge_in_shadow([comment_id], services)

    assert (said, cells(services)) == (1, {(Outcome.UNSURE, Outcome.SPAM): 1})
    assert services.review.cases.get(comment_id) == before


def test_a_sites_own_cutoffs_hold_for_shadow_verdicts_too():
    site = make_site(settings=SiteSettings(ham_cutoff=0.2, spam_cutoff=0.995))
    services = make(sites=[site])

    judge_in_shadow(keep(services), services)

    assert cells(services) == {(Outcome.UNSURE, Outcome.UNSURE): 1}


def test_without_a_version_in_the_shadow_nothing_is_said():
    services = make_services()

    assert judge_in_shadow(keep(services), services) == 0
    assert not has_shadow(services.judging)
    assert list(services.judging.shadow_verdicts.versions()) == []


@pytest.mark.parametrize("error", [ModelUnavailableError("away"), MemoryError(), KeyError("odd")])
def test_whatever_a_version_in_the_shadow_does_judging_goes_on(error):
    def broken():
        raise error

    services = make_services(shadow_model=broken)

    [comment_id] = keep(services)

    assert judge_in_shadow([comment_id], services) is None
    assert not has_shadow(services.judging)
    assert services.review.cases.get(comment_id).verdict is not None


def test_a_comment_that_the_candidate_breaks_on_has_no_shadow_verdict_and_the_others_have():
    services = make(candidate(PoisonedClassifier(0.99)))
    ids = [*keep(services, 2), *keep(services, text="poison"), *keep(services, 2)]

    said = judge_in_shadow(ids, services)

    assert (said, services.judging.shadow_verdicts.count(CANDIDATE).comments) == (4, 4)


def test_a_withdrawn_comment_is_shown_to_no_version():
    services = make()
    [comment_id] = keep(services)
    services.intake.comments.withdraw(comment_id, at=services.common.clock())

    assert judge_in_shadow([comment_id], services) == 0


@pytest.fixture
def small(monkeypatch):
    """Make chunks of four comments in slices of two."""
    monkeypatch.setattr(back_score, "CHUNK_SIZE", 4)


def start(services, **changes):
    # What the job is about was received before it was asked for.
    services.common.clock.advance(seconds=1)
    return start_back_scoring("candidate", services.judging, services.common, by="Ola", **changes)


def take(services):
    """Return the work of the next chunk that waits."""
    chunk = services.judging.back_scoring_queue.take()
    return chunk and back_score_chunk(chunk.job_id, chunk.number, services, size=lambda: 2)


def work_off(services):
    while (work := take(services)) is not None:
        list(work)


def job(services):
    return services.judging.back_scorings.recent(limit=1)[0]


def test_an_archive_is_asked_about_chunk_by_chunk_and_the_job_ends(small):
    services = make()
    keep(services, 10)
    start(services)

    feed_back_scorings(services.judging, services.common)
    work_off(services)

    assert cells(services) == {(Outcome.UNSURE, Outcome.SPAM): 10}
    assert (job(services).state, job(services).done, job(services).total) == (
        JobState.ENDED,
        10,
        10,
    )
    acts = services.common.audit_log.recent(subject="candidate")
    assert [act.act for act in acts] == ["start back-scoring"]


def test_several_workers_one_of_them_killed_give_every_comment_exactly_one_shadow_verdict(small):
    services = make(clock=FixedClock())
    keep(services, 22)
    start(services)
    feed_back_scorings(services.judging, services.common)
    killed, slow = take(services), take(services)
    next(killed)
    next(slow)

    work_off(services)
    half = job(services)
    # The one that was killed left its chunk half done; the slow one ends after it was queued again.
    services.common.clock.advance(seconds=30)
    queued = feed_back_scorings(services.judging, services.common)
    work_off(services)
    list(slow)

    assert (half.state, half.done) == (JobState.RUNNING, 14)
    assert queued == 2
    assert services.judging.shadow_verdicts.count(CANDIDATE).comments == 22
    assert (job(services).state, job(services).done) == (JobState.ENDED, 22)


def test_a_paused_job_stops_within_a_chunk_and_goes_on_where_it_was(small):
    services = make()
    keep(services, 12)
    started = start(services)
    feed_back_scorings(services.judging, services.common)
    begun = take(services)
    next(begun)

    change_back_scoring(started.id, JobState.PAUSED, services.judging, services.common, by="Ola")
    list(begun)
    work_off(services)
    at_rest = services.judging.shadow_verdicts.count(CANDIDATE).comments
    nothing = feed_back_scorings(services.judging, services.common)
    change_back_scoring(started.id, JobState.RUNNING, services.judging, services.common, by="Ola")
    feed_back_scorings(services.judging, services.common)
    work_off(services)

    assert (at_rest, nothing) == (2, 0)
    assert services.judging.shadow_verdicts.count(CANDIDATE).comments == 12
    assert job(services).state is JobState.ENDED


def test_a_cancelled_job_says_no_more_and_what_was_said_stays(small):
    services = make()
    keep(services, 8)
    started = start(services)
    feed_back_scorings(services.judging, services.common)
    list(take(services))

    change_back_scoring(started.id, JobState.CANCELLED, services.judging, services.common, by="Ola")
    work_off(services)

    assert services.judging.shadow_verdicts.count(CANDIDATE).comments == 4
    with pytest.raises(ConflictError):
        change_back_scoring(
            started.id, JobState.RUNNING, services.judging, services.common, by="Ola"
        )


def test_a_version_that_cannot_be_used_pauses_its_job_and_says_why(small):
    def refuse(_version):
        raise ModelUnavailableError("fusion.json does not match its SHA-256")

    services = make_services(find_model=refuse)
    keep(services, 4)
    start(services)
    feed_back_scorings(services.judging, services.common)

    work_off(services)

    assert job(services).state is JobState.PAUSED
    assert "SHA-256" in job(services).problem


def test_a_chunk_waits_while_its_version_is_being_loaded(small):
    loaded = []
    services = make_services(find_model=lambda _: loaded[0] if loaded else None)
    keep(services, 4)
    start(services)
    feed_back_scorings(services.judging, services.common)
    work = take(services)
    for _ in range(3):
        next(work)

    loaded.append(candidate())
    list(work)

    assert services.judging.shadow_verdicts.count(CANDIDATE).comments == 4


def test_with_the_store_away_a_chunk_stays_open(small):
    services = make()
    keep(services, 4)
    start(services)
    feed_back_scorings(services.judging, services.common)

    class AwayOnce:
        def __call__(self, ids):
            raise StoreUnavailableError("the store is away")

    chunk = services.judging.back_scoring_queue.take()
    found, services.review.cases.find_judged = services.review.cases.find_judged, AwayOnce()
    with pytest.raises(StoreUnavailableError):
        list(back_score_chunk(chunk.job_id, chunk.number, services, size=lambda: 2))
    services.review.cases.find_judged = found
    services.common.clock.advance(seconds=30)
    feed_back_scorings(services.judging, services.common)
    work_off(services)

    assert job(services).state is JobState.ENDED
    assert services.judging.shadow_verdicts.count(CANDIDATE).comments == 4


def test_what_the_shadow_said_is_not_said_again_of_the_archive(small):
    services = make()
    ids = keep(services, 4)
    judge_in_shadow(ids[:1], services)
    start(services)

    feed_back_scorings(services.judging, services.common)
    work_off(services)

    counts = services.judging.shadow_verdicts.count(CANDIDATE)
    assert (counts.comments, counts.shadowed) == (4, 1)


def test_a_span_that_ends_before_it_begins_is_refused():
    services = make()

    with pytest.raises(InvalidInputError):
        start(services, since=services.common.clock() + timedelta(days=1))


def test_a_verdict_never_mixes_two_versions_though_current_changes_in_the_middle_of_a_batch():
    """The model is asked for once a batch: what is promoted meanwhile judges the next one."""
    serving = []

    class Promoting(FixedClassifier):
        def score_batch(self, inputs):
            serving[:] = [second]
            return super().score_batch(inputs)

    first = candidate(
        Promoting(0.5),
        version="first",
        weights=Weights(base=1.0, model=0.5, signals={"bare_link": 0.25}),
        cutoffs=Cutoffs(ham_cutoff=0.2, spam_cutoff=0.8),
    )
    second = candidate(
        FixedClassifier(0.9),
        version="second",
        weights=Weights(base=2.0, model=0.75, signals={"bare_link": 0.75}),
        cutoffs=Cutoffs(ham_cutoff=0.3, spam_cutoff=0.7),
    )
    serving.append(first)
    services = make_services(current_model=lambda: serving[0], judges=False)
    text = "See http://pills.example/cheap for more"
    ids = keep(services, 3, text=text)
    ids += keep(services, text=f"{text} now")

    judge_batch(ids[:2], services)
    judge_batch(ids[2:], services)

    verdicts = [services.review.cases.get(one).verdict for one in ids]
    assert [v.model_version for v in verdicts] == ["first", "first", "second", "second"]
    for verdict in verdicts:
        model = {"first": first, "second": second}[verdict.model_version]
        assert verdict.base == model.weights.base
        assert (verdict.ham_cutoff, verdict.spam_cutoff) == (
            model.cutoffs.ham_cutoff,
            model.cutoffs.spam_cutoff,
        )
        assert verdict.model_p_spam == model.classifier.answer.p_spam
        assert [s.weight for s in verdict.signals] == [
            model.weights.of(s.signal.name) for s in verdict.signals
        ]
        assert "bare_link" in [s.signal.name for s in verdict.signals]


def test_shadow_verdicts_name_their_occasion(small):
    services = make()
    keep(services, 1)
    start(services)
    feed_back_scorings(services.judging, services.common)
    work_off(services)

    counts = services.judging.shadow_verdicts.count(CANDIDATE)

    # What the shadow saw is counted apart.
    assert (counts.comments, counts.shadowed) == (1, 0)
