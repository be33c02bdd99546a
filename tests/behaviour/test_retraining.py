"""Retraining: what is learnt from, what becomes of it, and what is deleted afterwards."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    RetrainingState,
)
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import erase_person, find_person
from service.moderation.retraining import (
    SCHEDULE,
    NoTrainerError,
    ask_retraining,
    new_retraining,
    promote_retrained,
    refuse_retrained,
    retrain,
    retrain_if_wanted,
    try_retraining,
)
from service.moderation.versions import (
    KEPT_RUNS,
    promote_version,
    tidy_retrainings,
    tidy_versions,
)
from tests.fakes import SmallRegistry, away, make_services
from tests.functional.moderators import keep
from tests.runs import REPORT, MemoryRuns

DAY = timedelta(days=1)
OPTIONS = RetrainingOptions()


@pytest.fixture
def services():
    made = make_services(versions=SmallRegistry("test-1", "candidate"))
    for ruling in (Ruling.REJECT, Ruling.APPROVE):
        decide(made, ruling)
    return made


@pytest.fixture
def runs(services):
    return MemoryRuns(clock=services.clock)


def decide(services, ruling=Ruling.REJECT):
    comment = keep(services)
    decide_comment(comment.id, ruling, services, decided_by="Ola")
    services.clock.advance(minutes=1)
    return comment


def run(services, runs, options=OPTIONS, **changes):
    asked = new_retraining(services, by="Ola", options=options)
    return retrain(asked, services, runs, **changes)


def look(services, runs, *, every=7 * DAY):
    return retrain_if_wanted(
        services, runs, options=OPTIONS, every=every, promotes=False, should_continue=lambda: True
    )


def test_what_people_decided_is_learnt_and_the_candidate_waits_for_the_owner(services, runs):
    ended = run(services, runs)

    assert (ended.state, ended.decisions, ended.report) == (RetrainingState.ENDED, 2, REPORT)
    assert ended.waits
    assert services.retrainings.recent(limit=9) == [ended]
    assert services.versions.names[0] == "test-1"
    assert [(e.actor, e.act, e.detail) for e in services.audit_log.recent(subject=ended.id)] == [
        ("Ola", "end retraining", "promote: candidate"),
        ("Ola", "start retraining", "2 decisions"),
    ]


@pytest.mark.parametrize("recommendation", Recommendation)
def test_a_candidate_serves_at_once_where_that_is_wanted_and_recommended(
    services, runs, recommendation
):
    runs.report = replace(REPORT, recommendation=recommendation)

    ended = run(services, runs, promotes=True)

    recommended = recommendation is Recommendation.PROMOTE
    serves = "candidate" if recommended else "test-1"
    assert services.versions.names[0] == serves
    assert ended.recommendation is recommendation
    assert ended.answer is (Answer.PROMOTED if recommended else None)
    assert not ended.waits
    assert recommended == (services.audit_log.recent()[0].act == "promote model version")


def test_a_candidate_that_was_refused_meanwhile_never_serves(services, runs):
    ended = run(services, runs)
    refuse_retrained(ended, services, by="Mara")

    # Olive's page was read before.
    with pytest.raises(ConflictError):
        promote_retrained(ended, services, by="Olive")

    assert services.versions.names[0] == "test-1"
    assert services.retrainings.get(ended.id).answered_by == "Mara"


def test_without_a_decision_or_a_new_one_nothing_is_trained_unless_there_are_other_data(
    services, runs
):
    nothing_decided = make_services()
    without = run(nothing_decided, runs)
    with_data = run(nothing_decided, runs, RetrainingOptions(data=("/data/more.jsonl",)))
    first, again = run(services, runs), run(services, runs)
    decide(services)
    after_a_decision = run(services, runs)

    told = [without, with_data, first, again, after_a_decision]
    nothing, promote = Recommendation.NOTHING, Recommendation.PROMOTE
    assert [one.recommendation for one in told] == [nothing, promote, promote, nothing, promote]
    assert len(runs.trained) == 3


def test_resuming_takes_the_unfinished_one_whatever_its_options_and_needs_one(services, runs):
    with pytest.raises(ConflictError, match="no unfinished"):
        run(services, runs, resumes_only=True)
    stopped = run(
        services, runs, RetrainingOptions(data=("/other",)), should_continue=lambda: False
    )

    ended = run(services, runs, resumes_only=True)

    assert (ended.id, ended.options.data) == (stopped.id, ("/other",))


def take_back(comment, how, services):
    if how == "undone":
        undo_decision(comment.id, services, undone_by="Ola")
    elif how == "withdrawn":
        services.personal_data.withdraw([comment.id], at=services.clock())
    else:
        decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Olive")


@pytest.mark.parametrize("how", ["undone", "withdrawn", "ruled otherwise"])
def test_what_was_taken_back_meanwhile_teaches_no_resumed_run(services, runs, how):
    comment = decide(services)
    stopped = run(services, runs, should_continue=lambda: False)
    take_back(comment, how, services)
    services.clock.advance(minutes=1)

    again = run(services, runs, should_continue=lambda: False)

    taught = {one: label for one, label in runs.kept_labels(again.id) if one == comment.id}
    assert again.id != stopped.id
    assert taught == ({comment.id: "ham"} if how == "ruled otherwise" else {})
    assert services.retrainings.get(stopped.id).state is RetrainingState.FAILED
    assert stopped.id not in runs.decisions


def test_a_failed_training_says_why_and_is_tried_again_only_when_told_to(services, runs):
    runs.fails = "it needed more than the 500 MB that it may use"

    failed = run(services, runs)
    runs.fails = ""
    resumed = run(services, runs, resumes_only=True)

    assert (failed.state, failed.problem) == (
        RetrainingState.FAILED,
        "it needed more than the 500 MB that it may use",
    )
    assert (resumed.id, resumed.state, resumed.problem) == (failed.id, RetrainingState.ENDED, None)


def test_who_lost_the_lease_stops(services, runs):
    def sleep():
        services.clock.advance(seconds=90)
        services.retrainings.take_lease("other", now=services.clock(), until=services.clock() + DAY)

    runs.meanwhile = sleep

    assert run(services, runs).state is RetrainingState.STOPPED


def test_a_database_that_is_away_for_a_while_ends_no_training(services, runs):
    def lose_the_database():
        services.clock.advance(seconds=30)
        services.retrainings.take_lease = away

    runs.meanwhile = lose_the_database

    assert run(services, runs).state is RetrainingState.ENDED


def test_a_dry_run_says_what_would_be_learnt_and_keeps_nothing(services, runs):
    report = try_retraining(OPTIONS, services, runs)

    assert report.used == 3
    assert [dry for _, _, dry in runs.trained] == [True]
    assert (services.retrainings.recent(limit=9), runs.runs()) == ([], [])


def test_the_schedule_retrains_every_so_many_days_and_says_who_asked(services, runs):
    first = look(services, runs)
    services.clock.advance(days=6)
    decide(services)
    too_early = look(services, runs)
    services.clock.advance(days=1)
    second = look(services, runs)

    assert (first.asked_by, too_early) == (SCHEDULE, None)
    assert second.id != first.id


def test_without_a_schedule_only_what_was_asked_for_is_done(services, runs):
    nothing = look(services, runs, every=None)
    asked = ask_retraining(services, by="Olive", options=OPTIONS)
    done = look(services, runs, every=None)

    assert nothing is None
    assert services.trainer_queue.woken == 1
    assert (done.id, done.asked_by, done.state) == (asked.id, "Olive", RetrainingState.ENDED)
    assert look(services, runs, every=None) is None


def test_the_schedule_does_not_wait_for_a_stopped_one_whose_texts_had_to_go(services, runs):
    stopped = run(services, runs, should_continue=lambda: False)
    runs.drop(stopped.id)

    done = look(services, runs)

    assert done is not None
    assert (done.id != stopped.id, done.asked_by) == (True, SCHEDULE)
    assert look(services, runs) is None


def test_who_asks_is_told_that_nobody_retrains_here_or_that_one_is_under_way(services):
    services.trainer_queue.listens = False
    with pytest.raises(NoTrainerError):
        ask_retraining(services, by="Olive", options=OPTIONS)
    services.trainer_queue.listens = True
    ask_retraining(services, by="Olive", options=OPTIONS)

    with pytest.raises(ConflictError, match="under way"):
        ask_retraining(services, by="Mara", options=OPTIONS)


def test_what_was_asked_of_a_trainer_without_the_packages_fails_with_the_reason(services, runs):
    asked = ask_retraining(services, by="Olive", options=OPTIONS)
    runs.refusal = "run `make install-train`"

    failed = look(services, runs)

    assert (failed.id, failed.problem) == (asked.id, "run `make install-train`")
    assert services.retrainings.get(asked.id).state is RetrainingState.FAILED


def test_texts_go_after_thirty_days_and_an_unfinished_run_after_one(services, runs):
    ended = run(services, runs)
    decide(services)
    stopped = run(services, runs, should_continue=lambda: False)

    tidy_retrainings(services, runs)
    at_once = (set(runs.reports), set(runs.decisions))
    services.clock.advance(days=2)
    tidy_retrainings(services, runs)
    after_two_days = (set(runs.reports), set(runs.decisions))
    services.clock.advance(days=29)
    tidy_retrainings(services, runs)

    assert at_once == ({ended.id}, {stopped.id})
    assert after_two_days == ({ended.id}, set())
    assert runs.reports == set()


def test_erasing_a_person_deletes_the_texts_of_all_runs(services, runs):
    run(services, runs)
    decide(services)
    run(services, runs, should_continue=lambda: False)
    services.clock.advance(minutes=1)

    erase_person(find_person(services, name="Mara"), services, by="Olive")
    tidy_retrainings(services, runs)

    assert (runs.reports, runs.decisions) == (set(), {})


def test_a_person_who_was_erased_during_a_run_stands_in_no_report_of_it(services, runs):
    def erase():
        services.clock.advance(minutes=1)
        erase_person(find_person(services, name="Mara"), services, by="Olive")
        services.clock.advance(minutes=1)
        runs.changed = dict.fromkeys(runs.changed, services.clock())

    runs.meanwhile = erase
    run(services, runs)

    tidy_retrainings(services, runs)

    assert runs.reports == set()


def test_a_report_that_quotes_a_withdrawn_comment_loses_its_texts(services, runs):
    quoted, other = keep(services), keep(services)
    runs.report = replace(REPORT, newly_lost=(quoted.id, "line-7-of-a-file"))
    run(services, runs)

    services.personal_data.withdraw([other.id], at=services.clock())
    before = tidy_retrainings(services, runs)
    services.personal_data.withdraw([quoted.id], at=services.clock())

    assert (before, tidy_retrainings(services, runs)) == (0, 1)
    assert runs.reports == set()


def test_only_the_newest_runs_keep_a_folder(services, runs):
    for _ in range(KEPT_RUNS + 2):
        decide(services)
        run(services, runs)

    tidy_retrainings(services, runs)

    newest = [one.id for one in services.retrainings.recent(limit=KEPT_RUNS)]
    assert [one.run_id for one in runs.runs()] == newest


def test_a_run_that_is_under_way_is_left_alone(services, runs):
    seen = []

    def tidy():
        services.clock.advance(seconds=30)
        seen.append(tidy_retrainings(services, runs))

    runs.meanwhile = tidy
    run(services, runs)

    assert seen == [0]


NAMES = [f"candidate-{number}" for number in range(6)]


@pytest.fixture
def shelved():
    return make_services(versions=SmallRegistry("serving", *NAMES))


def ended(shelved, name, recommendation=Recommendation.REFUSE, **changes):
    shelved.clock.advance(minutes=1)
    now = shelved.clock()
    one = Retraining(
        id=shelved.new_id("rtr"),
        asked_by="Olive",
        asked_at=now,
        state=RetrainingState.ENDED,
        ended_at=now,
        report=RetrainingReport(recommendation=recommendation, version=name),
    )
    shelved.retrainings.put(replace(one, **changes))
    return one


def answer(shelved, one, given):
    shelved.retrainings.answer(one.id, given, by="Olive", at=shelved.clock())


def test_the_newest_refused_ones_stay(shelved):
    for name in NAMES:
        ended(shelved, name)

    dropped = tidy_versions(shelved, keep=2)

    assert dropped == 4
    assert shelved.versions.names == ["serving", "candidate-5", "candidate-4"]
    assert tidy_versions(shelved, keep=2) == 0


def test_what_an_owner_refused_goes_and_what_waits_for_an_answer_stays(shelved):
    refused = ended(shelved, NAMES[0], Recommendation.PROMOTE)
    answer(shelved, refused, Answer.REFUSED)
    ended(shelved, NAMES[1], Recommendation.PROMOTE)
    promoted = ended(shelved, NAMES[2], Recommendation.PROMOTE)
    answer(shelved, promoted, Answer.PROMOTED)
    ended(shelved, NAMES[3])

    tidy_versions(shelved, keep=1)

    assert shelved.versions.names == ["serving", *NAMES[:0:-1]]


def test_what_serves_or_served_stays(shelved):
    for name in NAMES:
        ended(shelved, name)
    for name in (NAMES[0], NAMES[1], NAMES[2]):
        promote_version(name, shelved, by="Olive")

    tidy_versions(shelved, keep=1)

    assert set(shelved.versions.names) == {"serving", *NAMES[:3], NAMES[5]}


def test_versions_that_no_retraining_is_known_of_stay(shelved):
    ended(shelved, "somewhere-else")
    ended(shelved, NAMES[0])

    assert tidy_versions(shelved, keep=1) == 0
    assert shelved.versions.names == ["serving", *NAMES[::-1]]


def test_while_a_retraining_runs_nothing_is_deleted(shelved):
    for name in NAMES:
        ended(shelved, name)
    now = shelved.clock()
    ended(shelved, None, state=RetrainingState.RUNNING, report=None, seen_at=now)

    during = tidy_versions(shelved, keep=1)
    shelved.clock.advance(minutes=10)

    assert (during, tidy_versions(shelved, keep=1)) == (0, 5)
