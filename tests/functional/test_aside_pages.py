"""A comment is put aside for later or for somebody, comes back by itself, and is never lost."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from service.domain.case import CaseFilter, Order
from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError
from service.domain.user import Role
from service.moderation.review.decide import decide_comment, undo_decision
from service.moderation.review.put_aside import (
    HELD_FOR,
    MAX_SNOOZE,
    escalate,
    hand_over,
    list_held_for,
    snooze,
    take_back,
)
from tests.factories import make_comment
from tests.fakes import FixedClock, make_services
from tests.functional.moderators import add_moderator, hidden_fields, keep, make_app, sign_in

HOUR = timedelta(hours=1)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def services(clock):
    made = make_services(clock=clock)
    for name in ("Ola", "Mara"):
        add_moderator(made, name)
    return made


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def client(app):
    return as_user(app, "Ola")


def as_user(app, name: str):
    client = app.test_client()
    assert sign_in(client, name).status_code == 303
    return client


def user_of(services, name: str):
    return services.accounts.users.find(name)


def rows(page) -> list[str]:
    return re.findall(r'<li class="row[^>]*data-id="([^"]+)"', page.text)


def put(client, comment, what: str, **fields):
    action = f"/review/comments/{comment.id}/aside"
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, action)
    return client.post(action, data={**form, "what": what, **fields})


def test_the_page_that_leaves_a_comment_to_somebody_names_who_may_decide_it(services, client, app):
    comment = keep(services)
    add_moderator(services, "Elsewhere")
    elsewhere = user_of(services, "Elsewhere")
    services.accounts.users.replace(replace(elsewhere, site_ids=()))

    page = client.get(f"/review/comments/{comment.id}/aside")

    assert "<option>Mara</option>" in page.text
    assert "Ola</option>" not in page.text
    assert "Elsewhere" not in page.text
    assert "Note for the owners" not in page.text


def test_a_snoozed_comment_leaves_the_queue_and_is_back_at_its_time(services, client, clock):
    comment = keep(services)

    answer = put(client, comment, "snoozed", hours="4")

    told = client.get(answer.location)
    assert "Snoozed by Ola until" in told.text
    assert rows(told) == []
    assert rows(client.get("/review?show=aside")) == [comment.id]
    assert services.common.audit_log.recent(limit=1)[0].act == "snooze"

    clock.now += 4 * HOUR
    assert rows(client.get("/review")) == [comment.id]


def test_what_is_put_aside_is_taken_back_by_one_button(services, client):
    comment = keep(services)
    put(client, comment, "snoozed", hours="168")
    action = f"/review/comments/{comment.id}/aside/end"

    page = client.get("/review?show=aside")
    client.post(action, data=hidden_fields(page, action))

    assert rows(client.get("/review")) == [comment.id]
    assert services.common.audit_log.recent(limit=1)[0].act == "take back aside"


def test_who_is_handed_a_comment_is_told_above_the_queue_and_may_decide_it(services, client, app):
    comment = keep(services, make_comment(author=Author(name="Bo")))

    put(client, comment, "handed over", to="Mara", note="Is this a threat?")

    mara = as_user(app, "Mara")
    page = mara.get("/review")
    assert "Handed over to Mara by Ola" in page.text
    assert "Is this a threat?" in page.text
    assert rows(page) == []
    assert "For you" not in client.get("/review").text
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")
    assert "For you" not in mara.get("/review").text


def test_what_is_left_to_the_owners_is_told_to_every_other_owner(services, client, app):
    comment = keep(services)
    mara = user_of(services, "Mara")
    services.accounts.users.replace(replace(mara, role=Role.OWNER))

    put(client, comment, "escalated", note="Legal?")

    assert "Left to the owners by Ola" in as_user(app, "Mara").get("/review").text
    assert "For you" not in client.get("/review").text


@pytest.mark.parametrize(
    "fields",
    [
        {"what": "handed over", "to": "Nobody"},
        {"what": "handed over", "to": "Ola"},
        {"what": "escalated"},
        {"what": "snoozed", "hours": "100000"},
        {"what": "snoozed", "hours": "4", "note": "x" * 501},
        {"what": "other"},
    ],
)
def test_a_form_that_names_nobody_or_no_time_puts_nothing_aside(services, client, fields):
    comment = keep(services)

    answer = put(client, comment, **fields)

    assert answer.status_code == 400
    assert rows(client.get("/review")) == [comment.id]


def test_a_comment_that_was_decided_meanwhile_is_not_put_aside(services, client):
    comment = keep(services)
    page = client.get(f"/review/comments/{comment.id}")
    action = f"/review/comments/{comment.id}/aside"
    form = hidden_fields(page, action)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")

    answer = client.post(action, data={**form, "what": "snoozed", "hours": "4"})

    assert answer.status_code == 409


def test_a_snooze_ends_within_a_month_and_begins_in_the_future(services, clock):
    comment, ola = keep(services), user_of(services, "Ola")

    for until in (clock.now, clock.now + MAX_SNOOZE + HOUR):
        with pytest.raises(InvalidInputError):
            snooze(comment.id, until, services.review, services.common, by=ola)


def test_nobody_puts_aside_what_they_may_not_decide(services, app):
    comment = keep(services)
    mara = user_of(services, "Mara")
    client = as_user(app, "Mara")
    services.accounts.users.replace(replace(mara, role=Role.READER))

    page = client.get(f"/review/comments/{comment.id}")

    assert "/aside" not in page.text


class NeverLost(RuleBasedStateMachine):
    """Whatever people do with it, a waiting comment is in the queue, or put aside for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FixedClock()
        self.services = make_services(clock=self.clock)
        for name in ("Ola", "Mara"):
            add_moderator(self.services, name)
        self.ola = user_of(self.services, "Ola")
        self.mara = user_of(self.services, "Mara")
        self.services.accounts.users.replace(replace(self.mara, role=Role.OWNER))
        self.comment = keep(self.services)

    def attempt(self, act) -> None:
        try:
            act()
        except (ConflictError, NotFoundError):
            # It is decided already, or is not.
            return

    @rule(hours=st.integers(1, 24 * 30))
    def snooze(self, hours):
        until = self.clock.now + hours * HOUR
        self.attempt(
            lambda: snooze(
                self.comment.id, until, self.services.review, self.services.common, by=self.ola
            )
        )

    @rule()
    def hand_over(self):
        self.attempt(lambda: hand_over(self.comment.id, "Mara", self.services, by=self.ola))

    @rule()
    def escalate(self):
        self.attempt(lambda: escalate(self.comment.id, self.services, by=self.ola))

    @rule()
    def take_back(self):
        take_back(self.comment.id, self.services.review, self.services.common, by=self.mara)

    @rule(ruling=st.sampled_from(Ruling))
    def decide(self, ruling):
        decide_comment(self.comment.id, ruling, self.services, decided_by="Mara")

    @rule()
    def undo(self):
        self.attempt(lambda: undo_decision(self.comment.id, self.services, undone_by="Ola"))

    @rule(hours=st.integers(1, 24 * 10))
    def wait(self, hours):
        self.clock.now += hours * HOUR

    def listed(self, **criteria) -> int:
        asked = CaseFilter(needs_review=True, **criteria)
        page = self.services.review.cases.page(asked, order=Order.REVIEW, cursor=None, limit=5)
        assert len(page.cases) == self.services.review.cases.count(asked)
        return len(page.cases)

    @invariant()
    def it_stands_in_one_list_alone(self):
        waits = self.services.review.cases.get(self.comment.id).needs_review
        now = self.clock.now
        assert self.listed(awake_at=now) + self.listed(aside_at=now) == int(waits)

    @invariant()
    def it_is_back_after_a_month_whatever_happened(self):
        waits = self.services.review.cases.get(self.comment.id).needs_review
        assert self.listed(awake_at=self.clock.now + max(MAX_SNOOZE, HELD_FOR)) == int(waits)

    @invariant()
    def what_is_held_for_somebody_waits(self):
        for held in list_held_for(self.mara, self.services.review, self.services.common):
            assert held.case.needs_review


NeverLost.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestAPutAsideCommentIsNeverLost = NeverLost.TestCase
