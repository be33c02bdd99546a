"""Sends digests by mail or to a chat room's webhook."""

import html
import json
import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from service.domain.user import Mail, Sent
from service.outbound.sender import HttpSiteNotifier, trusted_authorities

# Per step, of about ten: servers that greylist are slow.
STEP_SECONDS = 15.0
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The mail server's address, its encryption and the credentials."""

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)


def parse_mail_url(given: str) -> MailServer:
    """Parse a mail server's URL. Raises `ValueError` with the reason if it is invalid."""
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise ValueError("it cannot be read: write smtp://USER:PASSWORD@HOST:587") from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError(
            "write smtp://USER:PASSWORD@HOST:587 (STARTTLS), smtps://… (TLS from the start) or "
            "smtp+plain://HOST:25 (no encryption); encode special characters of the password"
        )
    if parts.scheme == "smtp+plain" and parts.password:
        raise ValueError("a password is not sent without encryption: use smtp:// or smtps://")
    return MailServer(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


def send_mail(
    mail: Mail,
    *,
    server: MailServer,
    sender: str,
    tls: Callable[[], ssl.SSLContext] = trusted_authorities,
    seconds: float = STEP_SECONDS,
) -> Sent:
    """Pass a mail to the server; each step may take `seconds`. Never raises."""
    try:
        smtp = _connect(server, tls, seconds)
    except (smtplib.SMTPException, OSError) as error:
        return _refused(error)
    try:
        smtp.send_message(_as_message(mail, sender), sender, [mail.to])
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
        return _refused(error)
    except (smtplib.SMTPException, OSError) as error:
        # A server that closes the connection after the text may have accepted the mail.
        return Sent(problem=type(error).__name__)
    finally:
        with suppress(smtplib.SMTPException, OSError):
            smtp.quit()
    return Sent()


def _connect(server: MailServer, tls: Callable[[], ssl.SSLContext], seconds: float) -> smtplib.SMTP:
    if server.scheme == "smtps":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host, server.port, timeout=seconds, context=tls()
        )
    else:
        smtp = smtplib.SMTP(server.host, server.port, timeout=seconds)
    try:
        if server.scheme == "smtp":
            smtp.starttls(context=tls())
        if server.user:
            smtp.login(server.user, server.password)
    except (smtplib.SMTPException, OSError):
        smtp.close()
        raise
    return smtp


def _as_message(mail: Mail, sender: str) -> EmailMessage:
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = f"Slopsieve <{sender}>"
    message["To"] = mail.to
    message["Subject"] = mail.written.subject
    message["Date"] = formatdate(localtime=False)
    # Servers and mail programs recognize duplicates by it.
    message["Message-ID"] = f"<{mail.message_id}@{sender.rpartition('@')[2]}>"
    # Suppresses automatic replies: RFC 3834.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.written.text, cte="quoted-printable")
    return message


def _refused(error: Exception) -> Sent:
    """Return a server's refusal without its text, which is untrusted."""
    code = getattr(error, "smtp_code", 0)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code = next(iter(error.recipients.values()))[0]
    # 5xx means that a retry would fail too.
    return Sent(problem=f"{type(error).__name__} {code}".removesuffix(" 0"), retry=code < 500)


def post_to_chat(text: str, *, url: str, notifier: HttpSiteNotifier) -> Sent:
    """Post a message to a chat room's webhook. Never raises.

    `{"text": …}` is the format of Slack and Mattermost, of Discord for URLs that end in `/slack`,
    and of Matrix through its webhook bridge.
    """
    # Slack reads <!channel> and the like as commands.
    body = json.dumps({"text": html.escape(text, quote=False)}).encode()
    outcome = notifier.call(url, {"Content-Type": "application/json"}, body)
    may_have_arrived = outcome.answer is None and outcome.was_sent
    retry = bool(outcome.problem) and not may_have_arrived and not outcome.hopeless
    return Sent(problem=outcome.problem, retry=retry)
