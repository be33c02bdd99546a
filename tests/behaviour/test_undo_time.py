"""A site is told of a moderator's ruling when the undo time has passed, and of nothing before."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from models.inputs import ModelOutput
from service.domain.comment import Label
from service.domain.decision import Mode, Ruling
from service.domain.site import SiteSettings
from service.moderation.callbacks import set_callback
from service.moderation.decisions import decide_comment, take_over_rulings, undo_decision
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.revise import report_comment
from tests.factories import SITE, make_comment
from tests.fakes import make_services, make_site, submit_to


@pytest.fixture
def services():
    made = make_services(sites=[make_site(settings=SiteSettings(undo_seconds=30))])
    set_callback(SITE, "https://blog.example/hook", made, actor="test")
    return made


def submit(services, text="I had the same trouble."):
    comment = make_comment(text)
    submit_to(services, comment)
    rulings_told(services)
    return comment.id


def rulings_told(services):
    """Deliver what is due by now; return the rulings that the site heard of just then."""
    before = len(services.notifier.sent)
    while due := take_deliveries(services, limit=99):
        for one in due:
            deliver(one, services)
    sent = [json.loads(one.payload) for one, _ in services.notifier.sent[before:]]
    return [one["data"]["ruling"] for one in sent if one["type"] == "comment.decided"]


def test_what_the_site_itself_rules_is_told_without_delay(services):
    by_api = submit(services, "Ruled on over the API.")
    submit(services, "Reported.")
    site = make_site(settings=SiteSettings(reports_decide=True))
    decide_comment(by_api, Ruling.REJECT, services, decided_by="site", at_once=True)
    report_comment(Label.HAM, site=site, text="Reported.", services=services)

    assert rulings_told(services) == ["reject", "approve"]


def test_a_site_without_undo_time_is_told_at_once(services):
    services.sites.change_settings(SITE, lambda _: SiteSettings(undo_seconds=0))
    comment_id = submit(services)

    decide_comment(comment_id, Ruling.REJECT, services, decided_by="ada")

    assert rulings_told(services) == ["reject"]


@pytest.fixture
def judged_late(services):
    """Services whose site enforces, and a comment that was decided before its verdict came."""
    services.sites.change_settings(SITE, lambda now: replace(now, mode=Mode.ENFORCE))
    services.queue.judges = False
    services.current_model().classifier.answer = ModelOutput(p_spam=0.99)
    comment_id = submit(services)

    def decide(**how):
        decide_comment(comment_id, Ruling.APPROVE, services, decided_by="ada", **how)
        services.queue.run()
        return comment_id

    return decide


def all_told(services):
    """Deliver what is due by now; return what the site has heard of all its comments so far."""
    rulings_told(services)
    sent = [json.loads(one.payload) for one, _ in services.notifier.sent]
    return [(one["type"], one["data"]["action"], one["data"]["ruling"]) for one in sent]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_verdict_after_a_ruling_does_not_contradict_it(services, judged_late, at_once):
    judged_late(at_once=at_once)
    early = all_told(services)

    services.clock.advance(seconds=30)

    told = [("comment.decided", "publish", "approve"), ("comment.judged", "publish", "approve")]
    assert all_told(services) == told
    assert early == (told if at_once else [])


def test_an_undo_of_what_the_site_may_know_is_told_and_the_verdict_without_it(
    services, judged_late
):
    comment_id = judged_late(at_once=True)

    undo_decision(comment_id, services, undone_by="ada")

    told = all_told(services)
    assert told[0] == ("comment.decided", "publish", "approve")
    assert sorted(told[1:]) == [
        ("comment.decided", "reject", None),
        ("comment.judged", "reject", None),
    ]


def test_nobody_is_asked_to_review_what_was_decided_before_its_verdict(services, judged_late):
    services.current_model().classifier.answer = ModelOutput(p_spam=0.5)

    judged_late(at_once=True)

    assert "comment.needs_review" not in [event for event, _, _ in all_told(services)]


def test_a_ruling_taken_over_from_elsewhere_is_not_contradicted_either(services, judged_late):
    services.current_model().classifier.answer = ModelOutput(p_spam=0.5)
    comment_id = submit(services, "Imported.")

    take_over_rulings({comment_id: Ruling.APPROVE}, services, site_id=SITE, decided_by="import")
    services.queue.run()

    told = [("comment.decided", "publish", "approve"), ("comment.judged", "publish", "approve")]
    assert [one for one in all_told(services) if one[2] == "approve"] == told


def test_a_report_before_the_verdict_that_contradicts_it_asks_for_review_once(services):
    services.queue.judges = False
    services.current_model().classifier.answer = ModelOutput(p_spam=0.01)
    submit(services, "Reported early.")
    site = services.sites.get(SITE)
    report_comment(Label.SPAM, site=site, text="Reported early.", services=services)

    services.queue.run()

    events = [event for event, _, _ in all_told(services)]
    assert events == ["comment.judged", "comment.needs_review"]
