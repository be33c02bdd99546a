"""How comments become verdicts, also while stores fail."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from service.domain.case import State
from service.domain.comment import FormEvidence, Lane, ListBasis, Listing, ListKind, Post, Sender
from service.domain.errors import StoreUnavailableError
from service.domain.form import FormToken
from service.domain.sender import History
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.moderation.intake import sweep_stranded
from service.moderation.judging import (
    MAX_ATTEMPTS,
    is_audited,
    judge_batch,
    judge_comments,
)
from service.ports.comments import AddOutcome
from service.stores.files.model_versions import ModelVersions
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment
from tests.fakes import (
    FixedClassifier,
    Overridden,
    away,
    make_services,
    make_site,
    submit_one,
    submit_to,
)


def submit(services, *comments, lane=Lane.INTERACTIVE):
    return submit_to(services, *comments, lane=lane)


class BreakingClassifier(FixedClassifier):
    """Raises an error for any batch that holds the poisonous text."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(0.01)
        self.error = error

    def score_batch(self, inputs):
        if any(given.text == "poison" for given in inputs):
            raise self.error
        return super().score_batch(inputs)


TOXIC = Listing(
    list_name="worst", kind=ListKind.NETWORKS, age_days=1.0, basis=ListBasis.TOXIC, worth=1.0
)


@pytest.mark.parametrize(
    ("listings", "honeypot_filled"), [((), False), ((), True), ((TOXIC,), True)]
)
def test_who_says_nothing_waits_for_a_person_whatever_else_is_known(listings, honeypot_filled):
    services = make_services(classifier=FixedClassifier(0.001))
    form = FormEvidence(honeypot_filled=honeypot_filled, token=FormToken.FORGED)
    registration = make_comment(" ", sender=Sender(listings=listings), form=form)

    submit(services, registration)

    verdict = services.cases.get(registration.id).verdict
    assert verdict.model_contribution == 0.0
    assert verdict.outcome is Outcome.UNSURE
    assert verdict.degraded_by == ("text",)


def test_without_the_model_a_comment_waits_for_a_moderator(services, classifier):
    classifier.answer = None

    comment = submit_one(services, lane=Lane.INTERACTIVE)

    case = services.cases.get(comment.id)
    assert case.verdict.outcome is Outcome.UNSURE
    assert case.verdict.degraded_by == ("model",)
    assert case.needs_review


def test_a_comment_tried_before_is_judged_alone(services, classifier):
    services.queue.judges = False
    comments = [make_comment(f"text {n}") for n in range(5)]
    submit(services, *comments)
    services.comments.count_attempt([comments[2].id])

    judge_batch([c.id for c in comments], services)

    assert classifier.batches == [4, 1]


def test_a_sites_own_cutoffs_win_over_the_promised_ones():
    site = make_site(settings=SiteSettings(ham_cutoff=0.4, spam_cutoff=0.6))
    services = make_services(sites=[site], classifier=FixedClassifier(0.61))

    comment = submit_one(services, lane=Lane.INTERACTIVE)

    verdict = services.cases.get(comment.id).verdict
    assert verdict.outcome is Outcome.SPAM
    assert (verdict.ham_cutoff, verdict.spam_cutoff) == (0.4, 0.6)


def test_with_the_queue_away_a_comment_is_kept_and_the_sweep_queues_it_later(services, clock):
    services.queue.put = away
    comment = make_comment()
    # The store, too, goes away once the comment is kept.
    forgetful = Overridden(services.comments, mark_queued=away)

    [added] = submit(replace(services, comments=forgetful), comment)
    clock.advance(seconds=30)
    while_away = sweep_stranded(services)
    del services.queue.put
    when_back = sweep_stranded(services)

    assert added.outcome is AddOutcome.NEW
    assert (while_away, when_back) == (0, 1)
    assert services.cases.get(comment.id).state is State.JUDGED


def test_what_waits_in_a_long_lane_hides_nothing_that_the_other_lost(services, clock, monkeypatch):
    monkeypatch.setattr("service.moderation.intake._MOST_AT_ONCE", 2)
    services.queue.judges = False
    submit(services, *(make_comment() for _ in range(3)), lane=Lane.BULK)
    clock.advance(minutes=1)
    submit(services, make_comment(id="lost"), lane=Lane.INTERACTIVE)
    services.queue.take(1)
    clock.advance(minutes=16)

    swept = sweep_stranded(services)

    assert swept == 1
    assert services.queue.depth() == {Lane.INTERACTIVE: 1, Lane.BULK: 3}


def test_what_waits_in_its_lane_is_not_queued_twice_however_long(services, clock):
    services.queue.judges = False
    submit(services, make_comment(id="late"), make_comment(id="bulk"), lane=Lane.BULK)
    submit(services, make_comment(id="in time"), lane=Lane.INTERACTIVE)
    judge_batch(services.queue.take(1), services)

    for _ in range(5):
        clock.advance(minutes=16)
        sweep_stranded(services)

    assert services.queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 2}


def test_the_audit_sample_is_a_fixed_share_of_confident_verdicts():
    drawn = sum(is_audited(f"c{n}", 0.1) for n in range(10_000))

    assert 900 < drawn < 1_100
    assert is_audited("c1", 1.0)
    assert not is_audited("c1", 0.0)


AWAY = StoreUnavailableError("the database is away")


class DiedError(BaseException):
    """Stands for a process that ended: nothing of it runs on."""


class Hooked:
    """A store that passes the name and arguments of every call to `before`."""

    def __init__(self, inner: object, before: Callable) -> None:
        self._inner, self._before = inner, before

    def __getattr__(self, name):
        method = getattr(self._inner, name)

        def call(*given, **named):
            self._before(name, *given)
            return method(*given, **named)

        return call


def hooked_services(before, **changes):
    """Return services whose queue waits and whose judging tells each call to a store."""
    stores = fresh_stores(sites=[make_site()])
    classifier = changes.pop("classifier", None) or FixedClassifier(0.01)
    hooked = {
        name: Hooked(getattr(stores, name), before)
        for name in ("comments", "verdicts", "endpoints", "history")
    }
    return make_services(stores=stores, classifier=classifier, judges=False, **hooked, **changes)


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
    comment = submit_one(services, lane=Lane.INTERACTIVE)
    owed = {}
    fails.times = 10 * MAX_ATTEMPTS

    while verdict_of(services, comment) is None:
        with suppress(StoreUnavailableError):
            judge_batch([comment.id], services, owed)

    assert fails.times == 0
    assert verdict_of(services, comment).outcome is Outcome.HAM


def test_what_an_outage_ended_is_no_attempt():
    fails = FailsOften("add", "lower_attempts", times=0)
    services = hooked_services(fails)
    comment = submit_one(services, lane=Lane.INTERACTIVE)
    owed = {}
    fails.times = 2

    with pytest.raises(StoreUnavailableError):
        judge_batch([comment.id], services, owed)
    meanwhile = attempts_of(services, comment)
    judge_batch([], services, owed)

    assert meanwhile == [1]
    assert attempts_of(services, comment) == [0]


def test_a_comment_that_ends_its_process_is_noticed_though_stores_fail_between_its_deaths():
    fails = FailsOften("count_attempt", "lower_attempts", times=0)
    services = hooked_services(fails, classifier=BreakingClassifier(DiedError()))
    deadly, fine = make_comment("poison"), make_comment("fine")
    submit(services, deadly, fine)
    deaths = 0

    while verdict_of(services, deadly) is None:
        owed = {}
        for times in (2, 0):
            fails.times = times
            try:
                judge_batch([deadly.id, fine.id], services, owed)
            except StoreUnavailableError:
                continue
            except DiedError:
                deaths += 1
                break

    assert deaths == MAX_ATTEMPTS
    assert "judging" in verdict_of(services, deadly).degraded_by
    assert verdict_of(services, fine).outcome is Outcome.HAM


def unwritable(comment, error):
    """Return a hook that fails each write of one comment's full verdict."""

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
    comment = submit_one(services, lane=Lane.INTERACTIVE)

    judge_batch([comment.id], services)

    assert verdict_of(services, comment).outcome is Outcome.UNSURE
    assert "judging" in verdict_of(services, comment).degraded_by


@pytest.mark.parametrize("where", ["classifier", "histories"])
def test_one_poisonous_comment_in_a_batch_goes_to_a_person_and_the_others_are_judged(where):
    def refuse(name, *given):
        if name == "gather" and any(c.text == "poison" for c in given[0]):
            raise OverflowError

    if where == "classifier":
        services = make_services(classifier=BreakingClassifier(RecursionError()), judges=False)
    else:
        services = hooked_services(refuse)
    comments = [make_comment(f"fine {n}") for n in range(11)]
    comments.insert(7, make_comment("poison"))
    submit(services, *comments)

    judge_batch([c.id for c in comments], services)

    verdicts = [verdict_of(services, c) for c in comments]
    assert ["judging" in v.degraded_by for v in verdicts] == [c.text == "poison" for c in comments]
    assert [v.outcome for v in verdicts if not v.degraded] == [Outcome.HAM] * 11
    assert verdicts[7].outcome is Outcome.UNSURE


SLOPE = (
    "Walking down a sidewalk lined with vibrant flowers is one of life’s simple joys! It reminds "
    'me of playing the <a href="https://slope-game.example.io">slope game</a>, where you have to '
    "navigate through "
    "colorful landscapes while dodging obstacles."
)
SNOW_RIDER = (
    "That photo reminds me of the first time I tried macro photography in my backyard. I spent an "
    "hour trying to get a clear shot of a red flower, experimenting with angles and lighting. It "
    "was so much fun discovering the little details up close! If you ever need a break from "
    "photography, I recommend playing Snow Rider 3D for a bit of quick, light-hearted fun."
)
CRYPTO = (
    "This piece masterfully blends technical depth with mythological storytelling, transforming a "
    "standard Haskell programming interview into an epic narrative. It cleverly critiques the "
    "complexity and absurdity of some technical interviews by illustrating how type-level Haskell "
    "can be pushed to esoteric extremes beautiful, powerful, and largely impractical. A "
    "fascinating and relevant read for anyone interested in the intersection of programming, "
    "language design, and narrative. I’m James Maicle, working at Cryptoairhub where we run a "
    "clear and insightful crypto blog. I’ll be bookmarking your site and following the updates. "
    "Glad to see so much valuable information shared here looking forward to exploring more "
    "strategies together. Thanks for sharing. If you interest about Crypto please visit my "
    "website and read my article https://cryptoairhub.example Crypto Blog."
)


@pytest.mark.parametrize(
    ("text", "title", "seam"),
    [
        (SLOPE, "Flowers along the sidewalk", "It reminds me"),
        (SNOW_RIDER, "A red flower", "If you ever need"),
        (CRYPTO, "Typing the technical interview", "I’m James Maicle"),
    ],
    ids=["slope game", "snow rider", "crypto blog"],
)
def test_none_of_the_essays_comments_passes_and_each_seam_is_marked(text, title, seam):
    comment = make_comment(text, post=Post(title=title))
    model = ModelVersions(None).current()

    (verdict,) = judge_comments([comment], model, histories=[History()], now=NOW)

    seams = [
        weighed.signal.spans[0].start
        for weighed in verdict.signals
        if weighed.signal.name == "abrupt_shift"
    ]
    assert verdict.outcome is not Outcome.HAM
    assert seams == [text.index(seam)]
