"""Moderators are sent once a day how many comments wait, whatever mail servers and chats do."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.user import DigestPlan, Mail, Role, Sent
from service.domain.verdict import Outcome
from service.moderation.accounts import end_user, find_user, set_access, set_mail, set_preferences
from service.moderation.decisions import decide_comment
from service.moderation.digest import send_digests
from service.web.digest_text import write_digest
from tests.factories import SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import add_moderator, keep

PLAN = DigestPlan(pages_url="https://mod.example")
MORNING = datetime(2026, 11, 26, 8, 0, tzinfo=UTC)


@dataclass
class Post:
    """A mail server and a chat room that answer as they are told, and keep what they took."""

    mails: list[Mail] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)
    answer: Sent = field(default_factory=Sent)

    def send(self, mail: Mail) -> Sent:
        self.mails.append(mail)
        return self.answer

    def post(self, text: str) -> Sent:
        self.posted.append(text)
        return self.answer


@pytest.fixture
def post():
    return Post()


@pytest.fixture
def services(post):
    sites = [make_site(), make_site(id="site-2", name="Other")]
    made = make_services(sites=sites, send_mail=post.send, post_to_chat=post.post)
    made.clock.now = MORNING
    moderator(made, "Ola")
    return made


def moderator(services, name: str):
    add_moderator(services, name)
    user = find_user(name, services)
    return set_mail(user, f"{name.lower()}@mod.example", services)


def wait(services, n: int = 3, **changes) -> list:
    at = services.clock() - timedelta(hours=5)
    return [keep(services, make_comment(received_at=at, **changes)) for _ in range(n)]


def look(services, plan: DigestPlan = PLAN) -> int:
    return send_digests(plan, services, write_digest)


def test_everybody_is_sent_one_a_day(services, post):
    wait(services)

    sent = look(services)
    for _ in range(5):
        services.clock.advance(hours=1)
        look(services)
    on_one_day = len(post.mails)
    services.clock.advance(hours=24)
    look(services)

    assert (sent, on_one_day, len(post.mails), len(post.posted)) == (2, 1, 2, 2)
    assert [mail.to for mail in post.mails] == ["ola@mod.example"] * 2
    assert post.mails[0].message_id != post.mails[1].message_id
    assert post.mails[0].written.subject == "Slopsieve: 3 comments wait for a moderator"
    assert post.posted[0].startswith(
        "3 comments wait for a moderator, the oldest since 26 November 2026, 03:00."
    )
    assert "https://mod.example/review" in post.posted[0]


def test_it_is_sent_from_the_hour_on_of_the_zone(services):
    wait(services)
    berlin = replace(PLAN, hour=10, zone=ZoneInfo("Europe/Berlin"))

    at_nine = look(services, berlin)
    services.clock.advance(hours=1)

    assert (at_nine, look(services, berlin)) == (0, 2)


def test_where_nothing_waits_nothing_is_sent(services, post):
    [comment] = wait(services, 1)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Ola")

    assert look(services) == 0
    assert (post.mails, post.posted) == ([], [])


def test_doubtful_held_spam_is_told_of(services, post):
    keep(services, outcome=Outcome.SPAM, p_spam=0.999)
    of_sure_spam = look(services)
    keep(services, outcome=Outcome.SPAM, p_spam=0.95)
    look(services)

    assert of_sure_spam == 0
    [text] = post.posted
    assert text.split("\n\n")[:-1] == [
        "2 held as spam, 1 of them doubtful.",
        "https://mod.example/review?show=held-as-spam",
    ]


@pytest.mark.parametrize(
    ("answer", "mails"),
    [
        (Sent(problem="no connection", retry=True), 2),
        (Sent(problem="refused"), 1),
    ],
)
def test_what_failed_is_tried_again_only_where_that_can_help(services, post, answer, mails):
    wait(services)
    post.answer = answer
    look(services)
    post.answer = Sent()
    for _ in range(2):
        services.clock.advance(minutes=10)
        look(services)

    assert len(post.mails) == mails
    assert len({mail.message_id for mail in post.mails}) == 1


def test_a_moderator_is_told_of_the_sites_they_see_alone(services, post):
    mara = moderator(services, "Mara")
    set_access(mara.id, services, role=Role.MODERATOR, site_ids=[SITE], actor="test")
    wait(services, 3, site_id="site-2")

    look(services)

    assert [mail.to for mail in post.mails] == ["ola@mod.example"]


def test_an_account_that_ended_only_reads_or_wants_none_is_sent_nothing(services, post):
    wait(services)
    mara, bo = moderator(services, "Mara"), moderator(services, "Bo")
    set_access(mara.id, services, role=Role.READER, site_ids=None, actor="test")
    end_user(bo.id, services, actor="test")
    set_mail(find_user("Ola", services), "", services)

    look(services)

    assert post.mails == []


def test_a_digest_speaks_the_accounts_language_and_holds_no_word_of_a_comment(services, post):
    ola = find_user("Ola", services)
    set_preferences(ola, replace(ola.preferences, language="de"), services)
    wait(services, text="Secret words of a comment")

    look(services)

    [mail] = post.mails
    assert "3 Kommentare warten" in mail.written.subject
    assert "3 comments wait" in post.posted[0]
    assert "Secret" not in f"{mail.written} {post.posted}"


@pytest.mark.parametrize(
    "given", ["ola", "ola@", "a b@c.example", "ola@b.example\r\nBcc: x@y.example", "ö@b.example"]
)
def test_what_is_no_mail_address_is_refused(services, given):
    with pytest.raises(InvalidInputError, match="no email address"):
        set_mail(find_user("Ola", services), given, services)
