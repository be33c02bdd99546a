"""Sends mail through the mail server that the owner chose, each mail once, within a time."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from service.domain.reminder import Mail, MailFailure, SentReminder
from service.outbound.sender import trusted_authorities

# For each step of the conversation, of which there are some ten; servers that greylist or check
# addresses take their time.
STEP_SECONDS = 15.0
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
_GO_ON = 354
_DONE = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """Where mail is handed in, how it is encrypted, and as whom."""

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)


def parse_mail_url(given: str) -> MailServer:
    """Take a mail server's URL apart. Raises `ValueError` that says what is wrong with it."""
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        msg = "it cannot be read: write smtp://USER:PASSWORD@HOST:587"
        raise ValueError(msg) from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        msg = (
            "write smtp://USER:PASSWORD@HOST:587 (STARTTLS), smtps://… (TLS from the start) or "
            "smtp+plain://HOST:25 (no encryption); encode special characters of the password"
        )
        raise ValueError(msg)
    if parts.scheme == "smtp+plain" and parts.password:
        msg = "a password is not sent without encryption: use smtp:// or smtps://"
        raise ValueError(msg)
    return MailServer(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


class _FailedError(Exception):
    def __init__(self, failure: MailFailure, *, uncertain: bool = False, code: int = 0) -> None:
        self.failure = failure
        self.uncertain = uncertain
        self.code = code
        super().__init__(failure.value)


class SmtpMailer:
    """Hands mail to one server; see `Mailer`. Safe to share between threads."""

    def __init__(
        self,
        server: MailServer,
        sender: str,
        *,
        tls: Callable[[], ssl.SSLContext] = trusted_authorities,
        seconds: float = STEP_SECONDS,
    ) -> None:
        self._server = server
        self._sender = sender
        self._tls = tls
        self._seconds = seconds

    def send(self, mail: Mail) -> SentReminder:
        """See `Mailer.send`."""
        try:
            with self._connect() as smtp:
                self._hand_over(smtp, mail)
        except _FailedError as error:
            said = f" ({error.code})" if error.code else ""
            return SentReminder(
                problem=f"{error.failure.value}{said}",
                uncertain=error.uncertain,
                # 5xx says that the very same will not do later either.
                hopeless=error.code >= 500,
            )
        return SentReminder()

    def _connect(self) -> smtplib.SMTP:
        server = self._server
        try:
            if server.scheme == "smtps":
                smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                    server.host, server.port, timeout=self._seconds, context=self._tls()
                )
            else:
                smtp = smtplib.SMTP(server.host, server.port, timeout=self._seconds)
            return self._introduce(smtp)
        except ssl.SSLError:
            raise _FailedError(MailFailure.TLS) from None
        except (smtplib.SMTPException, OSError):
            raise _FailedError(MailFailure.NO_CONNECTION) from None

    def _introduce(self, smtp: smtplib.SMTP) -> smtplib.SMTP:
        """Encrypt and sign in as the URL says; closes the connection where that fails."""
        server = self._server
        try:
            if server.scheme == "smtp":
                smtp.starttls(context=self._tls())
            if server.user:
                smtp.login(server.user, server.password)
            else:
                smtp.ehlo_or_helo_if_needed()
        except smtplib.SMTPAuthenticationError as error:
            smtp.close()
            raise _FailedError(MailFailure.CREDENTIALS, code=_code(error.smtp_code)) from None
        except (smtplib.SMTPNotSupportedError, smtplib.SMTPResponseException):
            smtp.close()
            raise _FailedError(MailFailure.TLS) from None
        except (smtplib.SMTPException, OSError):
            smtp.close()
            raise
        return smtp

    def _hand_over(self, smtp: smtplib.SMTP, mail: Mail) -> None:
        """Speak step by step: once the text is out, whoever breaks off may have taken it."""
        try:
            _expect(smtp.mail(self._sender), MailFailure.SENDER)
            _expect(smtp.rcpt(mail.to), MailFailure.RECIPIENT)
            _expect(smtp.docmd("DATA"), MailFailure.REFUSED, wanted=_GO_ON)
        except (smtplib.SMTPException, OSError):
            raise _FailedError(MailFailure.NO_CONNECTION) from None
        try:
            smtp.send(self._as_bytes(mail))
            answer = smtp.getreply()
        except (smtplib.SMTPException, OSError):
            raise _FailedError(MailFailure.UNCERTAIN, uncertain=True) from None
        _expect(answer, MailFailure.REFUSED)

    def _as_bytes(self, mail: Mail) -> bytes:
        message = EmailMessage(policy=policy.SMTP)
        message["From"] = f"Slopsieve <{self._sender}>"
        message["To"] = mail.to
        message["Subject"] = mail.written.subject
        message["Date"] = formatdate(localtime=False)
        # Servers and programs that know it already show it once.
        message["Message-ID"] = f"<{mail.message_id}@{self._sender.rpartition('@')[2]}>"
        # No answers of machines: RFC 3834.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.written.text, cte="quoted-printable")
        message.add_alternative(mail.written.html, subtype="html", cte="quoted-printable")
        # RFC 5321, 4.5.2: a dot at the beginning of a line is doubled, one alone ends the text.
        return re.sub(rb"(?m)^\.", b"..", message.as_bytes()) + b".\r\n"


def _expect(answer: tuple[int, bytes], failure: MailFailure, *, wanted: int = _DONE) -> None:
    code = answer[0]
    if code == wanted or (wanted == _DONE and code in {251, 252}):
        return
    raise _FailedError(failure, code=_code(code))


def _code(given: int) -> int:
    """Return a status that means something; a server may say anything."""
    return given if 400 <= given < 600 else 0
