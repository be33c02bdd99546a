"""How comments become verdicts, told over SQLite."""

from __future__ import annotations

import pytest

from service.domain.case import State
from service.domain.comment import (
    FormEvidence,
    Lane,
    ListBasis,
    Listing,
    ListKind,
    Sender,
)
from service.domain.errors import StoreUnavailableError
from service.domain.form import FormToken
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.moderation.intake import sweep_stranded
from service.moderation.judging import is_audited, judge_batch
from service.ports.comments import AddOutcome
from tests.databases import fresh_stores
from tests.factories import make_comment
from tests.fakes import (
    FixedClassifier,
    FixedClock,
    InlineQueue,
    Overridden,
    make_services,
    make_site,
    submit_to,
)


def submit(services, *comments, lane=Lane.INTERACTIVE):
    return submit_to(services, *comments, lane=lane)


class PoisonedClassifier(FixedClassifier):
    """Breaks on any batch that holds the poisonous text."""

    def score_batch(self, inputs):
        if any(given.text == "poison" for given in inputs):
            raise RecursionError
        return super().score_batch(inputs)


TOXIC = Listing(
    list_name="worst", kind=ListKind.NETWORKS, age_days=1.0, basis=ListBasis.TOXIC, worth=1.0
)


class AwayQueue(InlineQueue):
    """A queue that can be switched off."""

    away = True

    def put(self, ids, lane):
        if self.away:
            raise StoreUnavailableError("the queue is away")
        super().put(ids, lane)


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


def test_without_the_model_a_comment_waits_for_a_moderator():
    classifier = FixedClassifier()
    classifier.answer = None
    services = make_services(classifier=classifier)
    comment = make_comment()

    submit(services, comment)

    case = services.cases.get(comment.id)
    assert case.verdict.outcome is Outcome.UNSURE
    assert case.verdict.degraded_by == ("model",)
    assert case.needs_review


def test_one_poisonous_comment_in_a_batch_goes_to_a_person_and_the_others_are_judged():
    services = make_services(classifier=PoisonedClassifier(0.01))
    comments = [make_comment(f"fine {n}") for n in range(11)]
    comments.insert(7, make_comment("poison"))

    submit(services, *comments, lane=Lane.BULK)

    verdicts = [services.cases.get(c.id).verdict for c in comments]
    assert [v.degraded for v in verdicts] == [c.text == "poison" for c in comments]
    assert verdicts[7].outcome is Outcome.UNSURE


def test_a_comment_tried_before_is_judged_alone():
    classifier = FixedClassifier()
    services = make_services(classifier=classifier, judges=False)
    comments = [make_comment(f"text {n}") for n in range(5)]
    submit(services, *comments)
    services.comments.count_attempt([comments[2].id])

    judge_batch([c.id for c in comments], services)

    assert classifier.batches == [4, 1]


def test_a_sites_own_cutoffs_win_over_the_promised_ones():
    site = make_site(settings=SiteSettings(ham_cutoff=0.4, spam_cutoff=0.6))
    services = make_services(sites=[site], classifier=FixedClassifier(0.61))
    comment = make_comment()

    submit(services, comment)

    verdict = services.cases.get(comment.id).verdict
    assert verdict.outcome is Outcome.SPAM
    assert (verdict.ham_cutoff, verdict.spam_cutoff) == (0.4, 0.6)


def test_with_the_queue_away_a_comment_is_kept_and_the_sweep_queues_it_later():
    queue, clock = AwayQueue(), FixedClock()
    services = make_services(queue=queue, clock=clock)
    queue.services = services
    comment = make_comment()

    submit(services, comment)
    clock.advance(seconds=30)
    while_away = sweep_stranded(services)
    queue.away = False
    when_back = sweep_stranded(services)

    assert (while_away, when_back) == (0, 1)
    assert services.cases.get(comment.id).state is State.JUDGED


def test_the_sweep_never_makes_a_queue_longer_that_holds_all_that_is_pending():
    clock = FixedClock()
    services = make_services(judges=False, clock=clock)
    submit(services, make_comment(id="a"), make_comment(id="b"), lane=Lane.BULK)

    for _ in range(3):
        clock.advance(minutes=16)
        sweep_stranded(services)

    assert services.queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 2}


def test_what_waits_in_a_long_lane_hides_nothing_that_the_other_lost(monkeypatch):
    monkeypatch.setattr("service.moderation.intake._MOST_AT_ONCE", 2)
    clock = FixedClock()
    services = make_services(judges=False, clock=clock)
    submit(services, *(make_comment() for _ in range(3)), lane=Lane.BULK)
    clock.advance(minutes=1)
    submit(services, make_comment(id="lost"), lane=Lane.INTERACTIVE)
    services.queue.take(1)
    clock.advance(minutes=16)

    swept = sweep_stranded(services)

    assert swept == 1
    assert services.queue.depth() == {Lane.INTERACTIVE: 1, Lane.BULK: 3}


def test_a_comment_that_was_sent_to_the_slow_lane_waits_there_and_is_not_queued_twice():
    clock = FixedClock()
    services = make_services(judges=False, clock=clock)
    submit(services, make_comment(id="late"), make_comment(id="bulk"), lane=Lane.BULK)
    submit(services, make_comment(id="in time"), lane=Lane.INTERACTIVE)
    judge_batch(services.queue.take(1), services)

    for _ in range(5):
        clock.advance(minutes=4)
        sweep_stranded(services)

    assert services.queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 2}


def test_comments_that_are_kept_and_queued_are_accepted_though_the_store_goes_away_then():
    def mark_queued(_ids, _at):
        raise StoreUnavailableError("the database is away")

    stores = fresh_stores(sites=[make_site()])
    forgetful = Overridden(stores.comments, mark_queued=mark_queued)
    services = make_services(stores=stores, comments=forgetful)

    added = submit(services, make_comment())

    assert [answer.outcome for answer in added] == [AddOutcome.NEW]
    assert services.cases.get(added[0].comment_id).state is State.JUDGED


def test_the_audit_sample_is_a_fixed_share_of_confident_verdicts():
    drawn = sum(is_audited(f"c{n}", 0.1) for n in range(10_000))

    assert 900 < drawn < 1_100
    assert is_audited("c1", 1.0)
    assert not is_audited("c1", 0.0)
