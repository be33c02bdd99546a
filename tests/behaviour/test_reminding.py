"""Moderators hear once of each crossing of a threshold, whatever mail servers and rooms do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from service.domain.decision import Ruling
from service.domain.errors import ConflictError, InvalidInputError
from service.domain.reminder import (
    Mail,
    ReminderPlan,
    ReminderState,
    SentReminder,
    Threshold,
    parse_threshold,
)
from service.domain.user import Role
from service.moderation.admin.accounts import end_user, set_access
from service.moderation.reminding.own import ask_for_test, set_mail
from service.moderation.reminding.remind import remind
from service.moderation.review.decide import decide_comment
from service.web.reminder_text import write_reminder
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import add_moderator, keep

HOUR = timedelta(hours=1)
PLAN = ReminderPlan(
    thresholds=(parse_threshold("3>4h"), parse_threshold("1>24h")),
    by_mail=True,
    in_room=True,
    pages_url="https://mod.example",
)


class Post:
    """A mail server and a room that answer as they are told, and keep what they took."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.posted: list[str] = []
        self.answer = SentReminder()

    def send(self, mail: Mail) -> SentReminder:
        """See `Mailer.send`."""
        self.mails.append(mail)
        return self.answer

    def post(self, text: str) -> SentReminder:
        """See `Room.post`."""
        self.posted.append(text)
        return self.answer


@pytest.fixture
def post():
    return Post()


@pytest.fixture
def services(post):
    made = make_services(
        sites=[make_site(), make_site(id="site-2", name="Other <blog>")], mailer=post, room=post
    )
    add_moderator(made)
    set_mail(made.accounts.users.find("Ola"), "ola@mod.example", made.accounts, made.common)
    return made


def wait(services, n: int = 3, *, hours: float = 5, **changes) -> list:
    at = services.common.clock() - hours * HOUR
    return [keep(services, make_comment(received_at=at, **changes)) for _ in range(n)]


def look(services, plan: ReminderPlan = PLAN, **options) -> int:
    return remind(plan, services, write_reminder, **options)


def states(services) -> list[ReminderState]:
    return [one.state for one in services.reminding.reminders.recent(limit=9)]


def test_everybody_hears_once_of_one_crossing(services, post):
    wait(services)

    sent = look(services)
    for _ in range(5):
        services.common.clock.advance(hours=1)
        look(services)

    assert sent == 2
    assert [mail.to for mail in post.mails] == ["ola@mod.example"]
    assert "3 comments have waited longer than 4 hours." in post.mails[0].written.text
    assert "https://mod.example/review" in post.mails[0].written.text
    assert len(post.posted) == 1


def test_below_the_threshold_nobody_hears(services, post):
    wait(services, 2)
    wait(services, 9, hours=3)

    look(services)

    assert (post.mails, post.posted) == ([], [])


def test_a_few_back_and_forth_are_no_new_crossing(services, post):
    kept = wait(services)
    look(services)

    decide_comment(kept[0].id, Ruling.APPROVE, services, decided_by="Ola")
    services.common.clock.advance(hours=2)
    look(services)
    wait(services, 1)
    look(services)

    assert len(post.mails) == 1


def test_what_is_cleared_and_comes_again_is_told_again(services, post):
    for comment in (wait(services), look(services))[0]:
        decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Ola")
    services.common.clock.advance(hours=2)
    look(services)

    wait(services)
    look(services)

    assert len(post.mails) == 2


def test_two_thresholds_at_once_are_one_message(services, post):
    wait(services, 3, hours=30)

    look(services)

    assert len(post.mails) == 1
    assert "longer than 4 hours" in post.mails[0].written.text
    assert "longer than 24 hours" in post.mails[0].written.text


def test_what_failed_is_tried_again_and_told_once(services, post):
    wait(services)
    post.answer = SentReminder(problem="no connection")
    look(services, delays=(60, 600))
    post.answer = SentReminder()

    early = look(services, delays=(60, 600))
    services.common.clock.advance(minutes=1)
    late = look(services, delays=(60, 600))

    assert (early, late) == (0, 2)
    assert len({mail.message_id for mail in post.mails}) == 1
    assert set(states(services)) == {ReminderState.SENT}


def test_what_fails_to_the_last_is_given_up_and_says_why(services, post):
    wait(services)
    post.answer = SentReminder(problem="no connection")

    for _ in range(4):
        look(services, delays=(60, 60))
        services.common.clock.advance(minutes=1)

    assert set(states(services)) == {ReminderState.GIVEN_UP}
    assert services.reminding.reminders.newest_of(None).problem == "no connection"
    assert len(post.mails) == 3


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (SentReminder(problem="refused", hopeless=True), ReminderState.GIVEN_UP),
        (SentReminder(problem="cut off", uncertain=True), ReminderState.UNCERTAIN),
    ],
)
def test_what_may_have_arrived_or_never_will_is_not_repeated(services, post, answer, state):
    wait(services)
    post.answer = answer

    for _ in range(3):
        look(services)
        services.common.clock.advance(hours=2)

    assert set(states(services)) == {state}
    assert len(post.mails) == 1


def test_what_is_cleared_before_it_could_be_told_is_not_told(services, post):
    kept = wait(services)
    post.answer = SentReminder(problem="no connection")
    look(services, delays=(60,))
    for comment in kept:
        decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Ola")
    services.common.clock.advance(hours=1)
    post.answer = SentReminder()

    look(services, delays=(60,))

    assert set(states(services)) == {ReminderState.OVER}
    assert len(post.mails) == 1


def test_nobody_is_disturbed_in_quiet_hours_but_hears_after_them(services, post):
    quiet = replace(PLAN, quiet=(time(22), time(7)), zone=ZoneInfo("Europe/Berlin"))
    services.common.clock.now = datetime(2026, 11, 22, 22, 30, tzinfo=UTC)
    wait(services)

    in_the_night = look(services, quiet)
    services.common.clock.now = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)
    in_the_morning = look(services, quiet)

    assert (in_the_night, in_the_morning) == (0, 2)


@pytest.mark.parametrize(
    ("local", "is_quiet"), [("21:59", False), ("22:00", True), ("03:00", True), ("07:00", False)]
)
def test_quiet_hours_go_over_midnight(local, is_quiet):
    plan = replace(PLAN, quiet=(time(22), time(7)), zone=ZoneInfo("Europe/Berlin"))
    at = datetime.combine(NOW.date(), time.fromisoformat(local), ZoneInfo("Europe/Berlin"))

    assert plan.is_quiet(at.astimezone(UTC)) is is_quiet


def test_a_moderator_hears_of_the_sites_they_see_alone(services, post):
    add_moderator(services, "Mara")
    mara = set_mail(
        services.accounts.users.find("Mara"), "mara@mod.example", services.accounts, services.common
    )
    set_access(
        mara.id,
        services.accounts,
        services.common,
        role=Role.MODERATOR,
        site_ids=[SITE],
        actor="test",
    )
    wait(services, 3, site_id="site-2")

    look(services)

    assert [mail.to for mail in post.mails] == ["ola@mod.example"]
    assert "Other &lt;blog&gt;" in post.mails[0].written.html
    assert len(post.posted) == 1


def test_an_account_that_ended_or_only_reads_hears_nothing(services, post):
    wait(services)
    add_moderator(services, "Mara")
    mara = set_mail(
        services.accounts.users.find("Mara"), "mara@mod.example", services.accounts, services.common
    )
    set_access(
        mara.id, services.accounts, services.common, role=Role.READER, site_ids=None, actor="test"
    )
    add_moderator(services, "Bo")
    end_user(
        set_mail(
            services.accounts.users.find("Bo"), "bo@x.example", services.accounts, services.common
        ).id,
        services.accounts,
        services.common,
        actor="x",
    )
    set_mail(services.accounts.users.find("Ola"), "", services.accounts, services.common)

    look(services)

    assert post.mails == []


def test_no_word_of_a_comment_leaves_unless_the_owner_wants_it(services, post):
    wait(services, text="Secret words <b>\u202e of \n\n a comment", hours=5)

    look(services)
    look(services, replace(PLAN, thresholds=(parse_threshold("2>4h"),), quotes=True))
    services.common.clock.advance(hours=2)
    look(services, replace(PLAN, thresholds=(parse_threshold("2>4h"),), quotes=True))

    without, with_quotes = post.mails
    assert "Secret" not in without.written.text + without.written.html + without.written.subject
    assert "> Secret words <b> of a comment" in with_quotes.written.text
    assert "Secret words &lt;b&gt; of a comment" in with_quotes.written.html
    assert not any("Secret" in said for said in post.posted)


def test_a_reminder_speaks_the_accounts_language(services, post):
    ola = services.accounts.users.find("Ola")
    german = replace(ola.preferences, language="de")
    services.accounts.users.change(ola.id, lambda now, _: replace(now, preferences=german))
    wait(services)

    look(services)

    assert "3 Kommentare warten" in post.mails[0].written.text
    assert 'lang="de"' in post.mails[0].written.html
    assert "3 comments have waited" in post.posted[0]


def test_a_test_is_sent_at_once_also_in_quiet_hours_and_only_now_and_then(services, post):
    always = replace(PLAN, quiet=(time(0), time(23, 59, 59)), zone=UTC)
    ola = services.accounts.users.find("Ola")
    ask_for_test(ola, services.reminding, services.common)
    with pytest.raises(ConflictError):
        ask_for_test(ola, services.reminding, services.common)

    look(services, always)
    services.common.clock.advance(minutes=2)
    ask_for_test(ola, services.reminding, services.common)
    look(services, always)

    assert [mail.written.subject for mail in post.mails] == ["Slopsieve: a test"] * 2


def test_a_test_keeps_no_reminder_back(services, post):
    ask_for_test(services.accounts.users.find("Ola"), services.reminding, services.common)
    look(services)
    wait(services)

    look(services)

    assert len(post.mails) == 2


@pytest.mark.parametrize(
    "given", ["ola", "ola@", "a b@c.example", "ola@b.example\r\nBcc: x@y.example", "ö@b.example"]
)
def test_what_is_no_mail_address_is_refused(services, given):
    with pytest.raises(InvalidInputError, match="no mail address"):
        set_mail(services.accounts.users.find("Ola"), given, services.accounts, services.common)


@pytest.mark.parametrize("given", ["20", "20>4", ">4h", "0>4h", "20>0h", "20>4d", "x>4h"])
def test_what_is_no_threshold_is_refused_with_an_example(given):
    with pytest.raises(ValueError, match="write 20>4h"):
        parse_threshold(given)


def test_a_threshold_is_written_as_it_is_read():
    assert parse_threshold(" 20 > 4h ") == Threshold(number=20, longer_than=4 * HOUR)
    assert parse_threshold("20>4h").name == "20>4h"
