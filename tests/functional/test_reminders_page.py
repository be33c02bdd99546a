"""The page of reminders: an address of one's own, a test, and what became of what was sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.reminder import MailFailure, ReminderPlan, SentReminder, parse_threshold
from service.domain.user import Role
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import find_user
from service.moderation.reminding.own import ask_for_test, set_mail
from service.moderation.reminding.remind import remind
from service.web.reminder_text import write_reminder
from tests.behaviour.test_reminding import Post
from tests.fakes import make_services
from tests.functional.moderators import (
    CONFIG,
    add_moderator,
    make_app,
    sign_in,
    signed_in,
    token_of,
)

PLAN = ReminderPlan(
    thresholds=(parse_threshold("20>4h"), parse_threshold("1>24h")), by_mail=True, in_room=True
)


@pytest.fixture
def post():
    return Post()


@pytest.fixture
def services(post):
    return make_services(mailer=post, room=post)


@pytest.fixture
def app(services):
    return make_app(services, replace(CONFIG, reminders=PLAN))


def send(client, path, **form):
    data = {"csrf_token": token_of(client.get("/me")), **form}
    return client.get(client.post(path, data=data).location)


def test_an_address_is_kept_tested_and_taken_back(services, app, post):
    client = signed_in(services, app=app)

    kept = send(client, "/reminders/mail", mail=" ola@mod.example ")
    asked = send(client, "/reminders/test")
    remind(PLAN, services, write_reminder)
    sent = client.get("/reminders")
    ended = send(client, "/reminders/mail", mail="")

    assert 'value="ola@mod.example"' in kept.text
    assert "waits to be sent" in asked.text
    assert [mail.to for mail in post.mails] == ["ola@mod.example"]
    assert "<td>sent</td>" in sent.text.replace("\n", "")
    assert "You are reminded no more." in ended.text


def test_what_is_no_address_is_refused_with_a_remedy(services, app):
    client = signed_in(services, app=app)

    page = send(client, "/reminders/mail", mail='"><script>@x')

    assert "Write it as name@example.org." in page.text
    assert find_user("Ola", services.accounts).preferences.mail is None


def test_other_choices_leave_the_address_alone(services, app):
    client = signed_in(services, app=app)
    send(client, "/reminders/mail", mail="ola@mod.example")

    client.post("/me/preferences", data={"csrf_token": token_of(client.get("/me")), "blur": "on"})

    assert find_user("Ola", services.accounts).preferences.mail == "ola@mod.example"


def test_what_failed_is_said_with_the_servers_number(services, app, post):
    client = signed_in(services, app=app)
    ola = set_mail(
        find_user("Ola", services.accounts), "ola@mod.example", services.accounts, services.common
    )
    post.answer = SentReminder(problem=f"{MailFailure.CREDENTIALS} (535)", hopeless=True)
    ask_for_test(ola, services.reminding, services.common)
    remind(PLAN, services, write_reminder)

    english = client.get("/reminders").text
    german = client.get("/reminders", headers={"Accept-Language": "de"}).text

    assert "given up: the mail server refuses the user name or the password (535)" in english
    assert "nimmt Benutzernamen oder Passwort nicht an (535)" in german


def test_a_second_test_within_a_minute_is_refused(services, app):
    client = signed_in(services, app=app)
    send(client, "/reminders/mail", mail="ola@mod.example")
    send(client, "/reminders/test")

    assert "Wait for it." in send(client, "/reminders/test").text


def test_a_moderator_sees_their_own_reminders_and_posts_to_no_room(services, app):
    signed_in(services, app=app)
    add_moderator(services, "Mara")
    mara = find_user("Mara", services.accounts)
    set_access(
        mara.id,
        services.accounts,
        services.common,
        role=Role.MODERATOR,
        site_ids=None,
        actor="test",
    )
    ask_for_test(
        find_user("Ola", services.accounts), services.reminding, services.common, in_room=True
    )
    client = app.test_client()
    sign_in(client, "Mara")

    page = client.get("/reminders").text
    refused = client.post("/reminders/test-room", data={"csrf_token": token_of(client.get("/me"))})

    assert "the chat room" not in page
    assert refused.status_code == 403


def test_an_owner_posts_a_test_to_the_room(services, app, post):
    page = send(signed_in(services, app=app), "/reminders/test-room")
    remind(PLAN, services, write_reminder)

    assert "the chat room" in page.text
    assert len(post.posted) == 1


def test_where_nothing_is_set_up_the_page_names_the_settings(services):
    page = signed_in(services).get("/reminders").text

    assert "SLOPSIEVE_MAIL_URL" in page
    assert "SLOPSIEVE_ROOM_URL" in page
