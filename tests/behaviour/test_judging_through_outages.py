"""Judging while stores fail: an outage is nobody's fault, and nobody suffers for a neighbour."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from service.domain.comment import Lane
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Outcome
from service.moderation.judging import MAX_ATTEMPTS, AttemptCount, judge_batch
from tests.databases import fresh_stores
from tests.factories import make_comment
from tests.fakes import FixedClassifier, make_services, make_site, submit_to

AWAY = StoreUnavailableError("the database is away")


class DiedError(BaseException):
    """Stands for a process that ended: nothing of it runs on."""


class Hooked:
    """A store whose every call is told to `before` and `after` with its name and arguments."""

    def __init__(self, inner: object, before: Callable, after: Callable = lambda *_: None) -> None:
        self._inner, self._before, self._after = inner, before, after

    def __getattr__(self, name):
        method = getattr(self._inner, name)

        def call(*given, **named):
            self._before(name, *given)
            answer = method(*given, **named)
            self._after(name, *given)
            return answer

        return call


class KillingClassifier(FixedClassifier):
    """Ends the process on any batch that holds the deadly text."""

    def score_batch(self, inputs):
        if any(given.text == "deadly" for given in inputs):
            raise DiedError
        return super().score_batch(inputs)


def hooked_services(before, after=lambda *_: None, **changes):
    """Return services whose queue waits and whose judging tells each call to a store."""
    stores = fresh_stores(sites=[make_site()])
    classifier = changes.pop("classifier", None) or FixedClassifier(0.01)
    hooked = {
        name: Hooked(getattr(stores, name), before, after)
        for name in ("comments", "verdicts", "endpoints", "history")
    }
    return make_services(stores=stores, classifier=classifier, judges=False, **hooked, **changes)


def submit(services, *comments, lane=Lane.INTERACTIVE):
    submit_to(services, *comments, lane=lane)


def verdict_of(services, comment):
    return services.cases.get(comment.id).verdict


def attempts_of(services, comment):
    return [a.attempts for a in services.comments.load_unjudged([comment.id])]


class FailsOften:
    """Lets the named calls fail as often as was asked."""

    def __init__(self, *names: str, times: int) -> None:
        self._names, self.times = names, times

    def __call__(self, name, *_):
        if name in self._names and self.times > 0:
            self.times -= 1
            raise AWAY


@pytest.mark.parametrize(
    "names",
    [("add",), ("add", "lower_attempts"), ("add", "lower_attempts", "load_unjudged")],
)
def test_a_sound_comment_is_judged_however_often_its_verdict_could_not_be_written(names):
    fails = FailsOften(*names, times=0)
    services = hooked_services(fails)
    comment = make_comment()
    submit(services, comment)
    counting = AttemptCount()
    fails.times = 10 * MAX_ATTEMPTS

    while verdict_of(services, comment) is None:
        with suppress(StoreUnavailableError):
            judge_batch([comment.id], services, counting)

    assert fails.times == 0
    assert verdict_of(services, comment).outcome is Outcome.HAM


def test_what_an_outage_ended_is_no_attempt():
    fails = FailsOften("add", "lower_attempts", times=0)
    services = hooked_services(fails)
    comment = make_comment()
    submit(services, comment)
    counting = AttemptCount()
    fails.times = 2

    with pytest.raises(StoreUnavailableError):
        judge_batch([comment.id], services, counting)
    meanwhile = attempts_of(services, comment)
    judge_batch([], services, counting)

    assert meanwhile == [1]
    assert attempts_of(services, comment) == [0]


def test_a_comment_that_ends_its_process_is_noticed_though_stores_fail_between_its_deaths():
    fails = FailsOften("count_attempt", "lower_attempts", times=0)
    services = hooked_services(fails, classifier=KillingClassifier(0.01))
    deadly, fine = make_comment("deadly"), make_comment("fine")
    submit(services, deadly, fine)
    deaths = 0

    while verdict_of(services, deadly) is None:
        counting = AttemptCount()
        for times in (2, 0):
            fails.times = times
            try:
                judge_batch([deadly.id, fine.id], services, counting)
            except StoreUnavailableError:
                continue
            except DiedError:
                deaths += 1
                break

    assert deaths == MAX_ATTEMPTS
    assert "judging" in verdict_of(services, deadly).degraded_by
    assert verdict_of(services, fine).outcome is Outcome.HAM


def unwritable(comment, error):
    """Return what lets the full verdict of one comment never be written."""

    def refuse(name, *given):
        if name == "add" and any(getattr(v, "comment_id", None) == comment.id for v in given[0]):
            raise error

    return refuse


@pytest.mark.parametrize("error", [AWAY, ValueError("no such value"), RecursionError()])
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_verdict_that_cannot_be_written_blocks_none_behind_it(error, place):
    comments = [make_comment(f"text {n}") for n in range(7)]
    stuck = comments[place]
    services = hooked_services(unwritable(stuck, error))
    submit(services, *comments)

    judge_batch([c.id for c in comments], services)

    judged = [c for c in comments if verdict_of(services, c) is not None]
    assert judged == [c for c in comments if c is not stuck]
    assert all(verdict_of(services, c).outcome is Outcome.HAM for c in judged)


def test_a_comment_that_cannot_be_grouped_in_the_store_goes_to_a_person():
    def refuse(name, *given):
        if name == "add" and "judging" not in getattr(given[0][0], "degraded_by", ("judging",)):
            raise ValueError(name)

    services = hooked_services(refuse)
    comment = make_comment()
    submit(services, comment)

    judge_batch([comment.id], services)

    assert verdict_of(services, comment).outcome is Outcome.UNSURE
    assert "judging" in verdict_of(services, comment).degraded_by


def test_a_history_that_nobody_foresaw_costs_one_comment_and_not_its_neighbours():
    def refuse(name, *given):
        if name == "gather" and any(c.text == "odd" for c in given[0]):
            raise OverflowError

    services = hooked_services(refuse)
    odd, fine = make_comment("odd"), make_comment("fine")
    submit(services, odd, fine)

    judge_batch([odd.id, fine.id], services)

    assert "judging" in verdict_of(services, odd).degraded_by
    assert verdict_of(services, fine).outcome is Outcome.HAM
