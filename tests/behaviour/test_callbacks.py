"""Sites are told what became of their comments: what, when, how often, and what they missed."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from models.inputs import ModelOutput
from service.domain.comment import Label
from service.domain.decision import Mode, Ruling
from service.domain.delivery import RETRY_DELAYS, DeliveryForm, DeliveryState, EventKind
from service.domain.errors import InvalidInputError
from service.domain.site import SiteSettings
from service.moderation.callbacks import change_callback, rotate_secret, set_callback
from service.moderation.decisions import decide_comment, take_over_rulings, undo_decision
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.revise import report_comment
from tests.factories import NOW, SITE, make_comment, make_delivery
from tests.fakes import Overridden, away, deliver_all, make_services, make_site, submit_one

URL = "https://blog.example/hook"


@pytest.fixture
def services(classifier, clock):
    # Rulings are told at once here; `patient` services wait.
    site = make_site(settings=SiteSettings(undo_seconds=0))
    return make_services(sites=[site], classifier=classifier, clock=clock)


@pytest.fixture
def told(services):
    """Services whose site is told of everything."""
    set_callback(SITE, URL, services, actor="test")
    return services


def waiting(services):
    return services.deliveries.recent(state=DeliveryState.WAITING, site_id=None, limit=99)[::-1]


def run_once(services):
    """Deliver what is due now, once each; return the outcomes."""
    return [deliver(one, services) for one in take_deliveries(services, limit=99)]


@pytest.mark.parametrize(
    ("p_spam", "outcome", "events"),
    [
        (0.01, "ham", ["comment.judged"]),
        (0.5, "unsure", ["comment.judged", "comment.needs_review"]),
        (0.99, "spam", ["comment.judged"]),
    ],
)
def test_a_verdict_is_told_and_whether_a_person_must_look(
    p_spam, outcome, events, told, classifier
):
    classifier.answer = ModelOutput(p_spam=p_spam)

    comment = submit_one(told, site_comment_id="wp-7")

    messages = [json.loads(one.payload) for one in waiting(told)]
    assert [message["type"] for message in messages] == events
    assert messages[0]["timestamp"] == "2026-03-01T12:00:00.000Z"
    data = messages[0]["data"]
    assert (data["id"], data["site_comment_id"]) == (comment.id, "wp-7")
    assert (data["outcome"], data["degraded"], data["ruling"]) == (outcome, False, None)
    assert data["p_spam"] == told.cases.get(comment.id).verdict.p_spam
    assert data["action"] == told.cases.get(comment.id).action.value
    assert told.delivery_queue.woken == 1


def test_a_message_never_holds_a_word_of_the_comment(told):
    text = "Visit http://cheap.example now, or call 555 0100! Ünïque wörds."
    submit_one(told, text, author=replace(make_comment().author, name="Boiler Bob"))

    payload = " ".join(one.payload for one in waiting(told))

    assert payload
    assert not any(word in payload for word in ("cheap", "555", "wörds", "\\u00f6", "Bob"))
    assert all(one.payload.isascii() for one in waiting(told))


def test_a_site_hears_only_what_it_asked_for(services):
    set_callback(SITE, URL, services, actor="test", events=[EventKind.DECISION])
    comment = submit_one(services)
    assert waiting(services) == []

    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="ada")

    assert [one.event for one in waiting(services)] == [EventKind.DECISION]


def test_an_undo_that_a_verdict_overtakes_tells_the_site_what_to_do_in_the_end(told, classifier):
    classifier.answer = ModelOutput(p_spam=0.01)
    told.queue.judges = False
    comment = submit_one(told)
    decide_comment(comment.id, Ruling.REJECT, told, decided_by="ada")

    def undo(*given, **named):
        told.queue.run()
        return told.decisions.undo(*given, **named)

    late = replace(told, decisions=Overridden(told.decisions, undo=undo))
    undo_decision(comment.id, late, undone_by="ada")

    last = json.loads(waiting(told)[-1].payload)["data"]
    assert (last["state"], last["action"]) == ("judged", "publish")


def test_a_queue_that_is_away_costs_time_and_nothing_else(told):
    comment = submit_one(told)
    asleep = replace(told, delivery_queue=Overridden(told.delivery_queue, wake=away))
    decide_comment(comment.id, Ruling.REJECT, asleep, decided_by="ada")

    assert EventKind.DECISION in {one.event for one in waiting(told)}


def test_a_message_goes_with_the_secrets_and_to_the_address_of_today(told):
    submit_one(told)
    rotated = rotate_secret(SITE, told, actor="test")
    change_callback(SITE, told, actor="test", url="https://new.example/hook")

    deliver_all(told)

    delivery, endpoint = told.notifier.sent[0]
    assert delivery.url == "https://new.example/hook"
    assert endpoint.secrets[0] == rotated.secrets[0]
    assert len(endpoint.secrets) == 2


def test_a_site_that_is_down_is_tried_nine_times_over_a_day_and_then_given_up(told, clock):
    told.notifier.status = None
    submit_one(told)

    while waiting(told):
        deliver_all(told)
        again = [one.next_try_at for one in waiting(told) if one.next_try_at]
        clock.now = min((at for at in again if at > clock.now), default=clock.now)

    [*_, given_up] = told.deliveries.recent(state=DeliveryState.DEAD, site_id=SITE, limit=9)
    first = told.deliveries.attempts(given_up.id)
    assert len(first) == len(RETRY_DELAYS) + 1 == 9
    assert timedelta(hours=20) < first[-1].at - first[0].at < timedelta(hours=28)
    assert all(one.problem == "no connection" for one in first)


@pytest.mark.parametrize(("asked", "least", "most"), [(600.0, 600, 600), (0.0, 4, 60)])
def test_a_site_that_asks_for_time_gets_it_and_cannot_ask_to_be_called_sooner(
    told, asked, least, most
):
    told.notifier.status = 503
    told.notifier.retry_after_seconds = asked
    submit_one(told)

    run_once(told)

    waits = (waiting(told)[0].next_try_at - NOW).total_seconds()
    assert least <= waits <= most


def promise(services, comment):
    payload = json.dumps({"guid": "g-1", "key_id": "key_1"})
    delivery = make_delivery(comment.id, form=DeliveryForm.AKISMET, payload=payload)
    services.deliveries.add([delivery])
    return delivery


def test_a_verdict_that_never_comes_is_waited_for_for_a_day(services, clock):
    services.queue.judges = False
    delivery = promise(services, submit_one(services))

    clock.now += timedelta(hours=23)
    assert len(run_once(services)) == 1
    assert services.deliveries.get(delivery.id).next_try_at == clock.now + timedelta(minutes=1)
    clock.now += timedelta(hours=1, seconds=1)
    run_once(services)

    assert services.deliveries.get(delivery.id).state is DeliveryState.DEAD
    assert [one.problem for one in services.deliveries.attempts(delivery.id)] == [
        "there never was a verdict"
    ]


def test_a_hostile_address_is_refused_by_name_with_everything_else_wrong(services):
    services.notifier.refused.add("http://127.0.0.1/")

    with pytest.raises(InvalidInputError) as caught:
        set_callback(SITE, "http://127.0.0.1/", services, actor="test", events=[])

    assert [problem.field for problem in caught.value.problems] == ["url", "events"]
    assert services.endpoints.get(SITE) is None


def test_rotating_twice_ends_the_first_secret(told):
    first = told.endpoints.get(SITE).secrets[0]

    second = rotate_secret(SITE, told, actor="test").secrets[0]
    assert told.endpoints.get(SITE).secrets == (second, first)
    third = rotate_secret(SITE, told, actor="test").secrets[0]

    endpoint = told.endpoints.get(SITE)
    assert endpoint.secrets == (third, second)
    assert third not in repr(endpoint)
    assert len({first, second, third}) == 3


@pytest.fixture
def patient():
    made = make_services(sites=[make_site(settings=SiteSettings(undo_seconds=30))])
    set_callback(SITE, "https://blog.example/hook", made, actor="test")
    return made


def submit_told(patient, *text):
    comment = submit_one(patient, *text)
    rulings_told(patient)
    return comment.id


def rulings_told(patient):
    """Deliver what is due by now; return the rulings that the site heard of just then."""
    before = len(patient.notifier.sent)
    deliver_all(patient)
    sent = [json.loads(one.payload) for one, _ in patient.notifier.sent[before:]]
    return [one["data"]["ruling"] for one in sent if one["type"] == "comment.decided"]


def test_what_the_site_itself_rules_is_told_without_delay(patient):
    by_api = submit_told(patient, "Ruled on over the API.")
    submit_told(patient, "Reported.")
    site = make_site(settings=SiteSettings(reports_decide=True))
    decide_comment(by_api, Ruling.REJECT, patient, decided_by="site", at_once=True)
    report_comment(Label.HAM, site=site, text="Reported.", services=patient)

    assert rulings_told(patient) == ["reject", "approve"]


@pytest.fixture
def judged_late(patient):
    """Services whose site enforces, and a comment that was decided before its verdict came."""
    patient.sites.change_settings(SITE, lambda now: replace(now, mode=Mode.ENFORCE))
    patient.queue.judges = False
    patient.current_model().classifier.answer = ModelOutput(p_spam=0.99)
    comment_id = submit_told(patient)

    def decide(**how):
        decide_comment(comment_id, Ruling.APPROVE, patient, decided_by="ada", **how)
        patient.queue.run()
        return comment_id

    return decide


def all_told(patient):
    """Deliver what is due by now; return what the site has heard of all its comments so far."""
    rulings_told(patient)
    sent = [json.loads(one.payload) for one, _ in patient.notifier.sent]
    return [(one["type"], one["data"]["action"], one["data"]["ruling"]) for one in sent]


DECIDED, JUDGED = "comment.decided", "comment.judged"
APPROVED = [(DECIDED, "publish", "approve"), (JUDGED, "publish", "approve")]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_verdict_after_a_ruling_does_not_contradict_it(patient, judged_late, at_once):
    judged_late(at_once=at_once)
    early = all_told(patient)

    patient.clock.advance(seconds=30)

    assert all_told(patient) == APPROVED
    assert early == (APPROVED if at_once else [])


def test_an_undo_of_what_the_site_may_know_is_told_and_the_verdict_without_it(patient, judged_late):
    comment_id = judged_late(at_once=True)

    undo_decision(comment_id, patient, undone_by="ada")

    told = all_told(patient)
    assert told[0] == APPROVED[0]
    assert sorted(told[1:]) == [(DECIDED, "reject", None), (JUDGED, "reject", None)]


def test_nobody_is_asked_to_review_what_was_decided_before_its_verdict(patient, judged_late):
    patient.current_model().classifier.answer = ModelOutput(p_spam=0.5)

    judged_late(at_once=True)

    assert "comment.needs_review" not in [event for event, _, _ in all_told(patient)]


def test_a_ruling_taken_over_from_elsewhere_is_not_contradicted_either(patient, judged_late):
    patient.current_model().classifier.answer = ModelOutput(p_spam=0.5)
    comment_id = submit_told(patient, "Imported.")

    take_over_rulings({comment_id: Ruling.APPROVE}, patient, site_id=SITE, decided_by="import")
    patient.queue.run()

    assert [one for one in all_told(patient) if one[2] == "approve"] == APPROVED


def test_a_report_before_the_verdict_that_contradicts_it_asks_for_review_once(patient):
    patient.queue.judges = False
    patient.current_model().classifier.answer = ModelOutput(p_spam=0.01)
    submit_told(patient, "Reported early.")
    site = patient.sites.get(SITE)
    report_comment(Label.SPAM, site=site, text="Reported early.", services=patient)

    patient.queue.run()

    events = [event for event, _, _ in all_told(patient)]
    assert events == ["comment.judged", "comment.needs_review"]
