"""Mail against a real server on this machine, and a chat room under the guard of callbacks."""

import contextlib
import email
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from email import policy
from functools import partial

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

from service.domain.user import Mail, Written
from service.outbound.digests import MailServer, parse_mail_url, post_to_chat, send_mail
from tests.sites import running_site, with_status
from tests.unit.outbound.conftest import certified, make_notifier, trusting

PASSWORD = "p@ss/word"
WRITTEN = Written(
    subject="Slopsieve: 3 Kommentare müssen warten", text=".Ein Punkt\n\nZeile mit ü\n"
)
MAIL = Mail(to="ola@mod.example", message_id="rem_1", written=WRITTEN)


class Inbox:
    """Keeps what the server took; `answers` replace its own by command."""

    def __init__(self) -> None:
        self.taken: list[tuple[list[str], bytes]] = []
        self.answers: dict[str, str] = {}

    async def handle_RCPT(self, _server, _session, envelope, address, _options):  # noqa: N802  # the library's name
        """Take a recipient, or not."""
        if "RCPT" in self.answers:
            return self.answers["RCPT"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, _session, envelope):  # noqa: N802  # the library's name
        """Take a mail, or not."""
        self.taken.append((envelope.rcpt_tos, envelope.content))
        if self.answers.get("DATA") == "hang up":
            server.transport.abort()
        return self.answers.get("DATA", "250 OK")


def _authenticate(_server, _session, _envelope, _mechanism, given) -> AuthResult:
    return AuthResult(success=given.password == PASSWORD.encode(), handled=False)


class _Served(Controller):
    def __init__(self, inbox: Inbox, tls: ssl.SSLContext | None, **options) -> None:
        self._options = options
        self._tls = tls
        super().__init__(inbox, hostname="127.0.0.1", port=0, ready_timeout=60)

    def factory(self) -> SMTP:
        """Return a server for one connection."""
        return SMTP(self.handler, tls_context=self._tls, **self._options)

    def _trigger_server(self) -> None:
        """Have the library look at the port that it got."""
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextlib.contextmanager
def served(inbox: Inbox, tls: ssl.SSLContext | None = None, **options) -> Iterator[int]:
    controller = _Served(inbox, tls, **options)
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def server_tls(authority):
    return certified(authority, "127.0.0.1")


def mailer(
    port: int, *, scheme: str = "smtp+plain", authority=None, seconds: float = 60.0, **changes
):
    server = MailServer(scheme=scheme, host="127.0.0.1", port=port, **changes)
    trusted = partial(trusting, authority)
    sender = "slopsieve@mod.example"
    return partial(send_mail, server=server, sender=sender, tls=trusted, seconds=seconds)


def test_a_mail_arrives_whole(inbox):
    with served(inbox) as port:
        said = mailer(port)(MAIL)

    [(recipients, content)] = inbox.taken
    message = email.message_from_bytes(content, policy=policy.default)
    assert said.problem is None
    assert recipients == ["ola@mod.example"]
    assert message.get_content().replace("\r\n", "\n") == WRITTEN.text
    assert message["Subject"] == WRITTEN.subject
    assert message["Message-ID"] == "<rem_1@mod.example>"
    assert message["Auto-Submitted"] == "auto-generated"


def test_with_starttls_the_password_goes_encrypted_alone(inbox, authority, server_tls):
    options = {"authenticator": _authenticate, "auth_required": True, "require_starttls": True}
    with served(inbox, server_tls, **options) as port:
        login = {"scheme": "smtp", "authority": authority, "user": "me"}
        right = mailer(port, password=PASSWORD, **login)(MAIL)
        wrong = mailer(port, password="another", **login)(MAIL)

    assert right.problem is None
    assert len(inbox.taken) == 1
    assert (wrong.problem, wrong.retry) == ("SMTPAuthenticationError 535", False)


def test_a_server_without_encryption_or_with_a_strangers_certificate_gets_nothing(
    inbox, server_tls
):
    with served(inbox) as port:
        without = mailer(port, scheme="smtp", user="me", password=PASSWORD)(MAIL)
    with served(inbox, server_tls) as port:
        strange = mailer(port, scheme="smtp", user="me", password=PASSWORD)(MAIL)

    assert without.problem == "SMTPNotSupportedError"
    assert strange.problem == "SSLCertVerificationError"
    assert inbox.taken == []


@pytest.mark.parametrize(
    ("command", "answer", "problem", "retry"),
    [
        ("RCPT", "550 nobody", "SMTPRecipientsRefused 550", False),
        ("RCPT", "451 later", "SMTPRecipientsRefused 451", True),
        ("DATA", "554 spam", "SMTPDataError 554", False),
        ("DATA", "452 full", "SMTPDataError 452", True),
    ],
)
def test_what_is_refused_is_said_and_tried_again_only_where_that_can_help(
    inbox, command, answer, problem, retry
):
    inbox.answers[command] = answer

    with served(inbox) as port:
        said = mailer(port)(MAIL)

    assert (said.problem, said.retry) == (problem, retry)


def test_who_hangs_up_on_the_finished_text_may_have_taken_it(inbox):
    inbox.answers["DATA"] = "hang up"

    with served(inbox) as port:
        said = mailer(port)(MAIL)

    assert said.problem
    assert not said.retry


def test_a_server_that_is_away_says_nothing_or_talks_nonsense_is_tried_again():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        silent = mailer(port, seconds=0.2)(MAIL)

        def talk() -> None:
            # The silent one's connection comes first.
            for _ in range(2):
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.sendall(b"nonsense\r\n" * 3)

        thread = threading.Thread(target=talk)
        thread.start()
        nonsense = mailer(port, seconds=20)(MAIL)
        thread.join()
    away = mailer(port)(MAIL)

    assert (silent.retry, nonsense.retry, away.retry) == (True, True, True)


@pytest.mark.parametrize(
    ("url", "server"),
    [
        (
            "smtp://me%40x:p%40ss%2Fword@mail.example",
            MailServer(
                scheme="smtp", host="mail.example", port=587, user="me@x", password=PASSWORD
            ),
        ),
        ("smtps://mail.example", MailServer(scheme="smtps", host="mail.example", port=465)),
        ("smtp+plain://[::1]:2525", MailServer(scheme="smtp+plain", host="::1", port=2525)),
    ],
)
def test_a_mail_url_says_where_and_as_whom(url, server):
    assert parse_mail_url(url) == server
    assert PASSWORD not in repr(parse_mail_url(url))


@pytest.mark.parametrize(
    "url",
    [
        "mail.example",
        "http://mail.example",
        "smtp://",
        "smtp://mail.example:port",
        "smtp://mail.example/folder",
        "smtp+plain://me:secret@mail.example",
    ],
)
def test_a_mail_url_that_is_none_is_refused_without_its_password(url):
    with pytest.raises(ValueError, match="smtp") as refused:
        parse_mail_url(url)

    assert "secret" not in str(refused.value)


LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


def test_a_room_is_told_in_one_line_of_json_that_commands_nobody():
    with running_site() as site:
        notifier = make_notifier(site, allow_networks=[LOOPBACK])
        url = f"http://127.0.0.1:{site.port}/hooks/secret"

        said = post_to_chat("3 comments wait <!channel> & more", url=url, notifier=notifier)

        [request] = site.received
    assert said.problem is None
    assert request.line == "POST /hooks/secret HTTP/1.1"
    assert json.loads(request.body) == {"text": "3 comments wait &lt;!channel&gt; &amp; more"}


@pytest.mark.parametrize("status", [500, 429, 302])
def test_a_room_that_answers_otherwise_has_not_taken_it(status):
    with running_site(answer=with_status(status)) as site:
        notifier = make_notifier(site, allow_networks=[LOOPBACK])

        url = f"http://127.0.0.1:{site.port}/"
        said = post_to_chat("3 comments wait", url=url, notifier=notifier)

    assert said.problem
    assert said.retry
