"""Sends deliveries to sites: checks where to, signs, sends once, tells what came of it."""

from __future__ import annotations

import email.utils
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import certifi

from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    Endpoint,
    SendOutcome,
)
from service.outbound.exchange import (
    Deadline,
    HttpAnswer,
    OutOfTimeError,
    UnreadableAnswerError,
    exchange,
)
from service.outbound.guard import (
    IPAddress,
    OutboundRules,
    RefusedError,
    Target,
    check_addresses,
    parse_target,
)
from service.outbound.resolving import Resolver, TimedResolver, system_resolver
from service.outbound.signing import sign
from service.ports.clock import Clock

# From the look-up of the name to the last byte that is read. Receivers should answer at once and
# work later; a site that needs longer than this is taken for one that is down.
SEND_SECONDS = 15.0
_USER_AGENT = "Slopsieve (callbacks)"
_MAX_RETRY_AFTER_CHARS = 64
_MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
_SLOW_DOWN = (429, 502, 503, 504)


class Failure(StrEnum):
    """What can go wrong on the way, in words for a log."""

    NOT_FOUND = "the host's address was not found"
    NO_CONNECTION = "no connection, or it broke off"
    CERTIFICATE = "the certificate is not valid for this host"
    TLS = "no encrypted connection"
    OUT_OF_TIME = "no answer in time"
    UNREADABLE = "the answer cannot be read"
    REDIRECT = "the answer leads elsewhere, which is not followed"
    REFUSED = "the site answered with an error"
    NO_ENDPOINT = "the site wants no callbacks any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What came of one call: the answer, if there was one, or the problem in fixed words.

    `was_sent` says that all of the request went out. `hopeless` as in `SendOutcome`.
    """

    answer: HttpAnswer | None = None
    problem: str | None = None
    hopeless: bool = False
    was_sent: bool = False


class HttpSiteNotifier:
    """Speaks HTTP to sites; see `SiteNotifier`. Safe to share between threads.

    `resolve` looks names up; `tls` says which certificates are trusted.
    """

    def __init__(
        self,
        rules: OutboundRules,
        *,
        resolve: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
        seconds: float = SEND_SECONDS,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self._rules = rules
        self._resolve = TimedResolver(resolve)
        self._tls = tls
        self._seconds = seconds
        self._clock = clock

    def refuse(self, url: str) -> str | None:
        """See `SiteNotifier.refuse`."""
        try:
            parse_target(url, self._rules)
        except RefusedError as error:
            return str(error)
        return None

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """See `SiteNotifier.send`."""
        began_at, began = self._clock(), time.monotonic()
        body = delivery.payload.encode()
        try:
            headers = _headers(delivery, endpoint, body, began_at)
        except _NoEndpointError:
            said = CallOutcome(problem=Failure.NO_ENDPOINT.value, hopeless=True)
        else:
            said = self.call(delivery.url, headers, body)
        answer = said.answer
        attempt = DeliveryAttempt(
            delivery_id=delivery.id,
            at=began_at,
            milliseconds=round((time.monotonic() - began) * 1000),
            status=answer.status if answer else None,
            problem=said.problem,
        )
        return SendOutcome(
            attempt=attempt,
            hopeless=said.hopeless,
            retry_after_seconds=seconds_asked(answer, self._clock()) if answer else None,
        )

    def call(self, url: str, headers: Mapping[str, str], body: bytes) -> CallOutcome:
        """POST to an address within the rules; what goes wrong outside is told, never raised."""
        sent: list[bool] = []
        try:
            target = parse_target(url, self._rules)
            deadline = Deadline(self._seconds)
            answer = exchange(
                target,
                self._addresses(target, deadline),
                headers={"User-Agent": _USER_AGENT, **headers},
                body=body,
                tls=self._authorities(),
                deadline=deadline,
                when_sent=lambda: sent.append(True),
            )
        except RefusedError as error:
            hopeless = self.refuse(url) is not None
            return CallOutcome(problem=f"the address {error}", hopeless=hopeless)
        except _OUTSIDE_REASONS as error:
            return CallOutcome(problem=_failure(error).value, was_sent=bool(sent))
        return CallOutcome(answer=answer, problem=_problem_of(answer.status), was_sent=True)

    def _authorities(self) -> ssl.SSLContext:
        # Loaded late: most processes never send, and it takes some 30 ms.
        if self._tls is None:
            self._tls = trusted_authorities()
        return self._tls

    def _addresses(self, target: Target, deadline: Deadline) -> Sequence[IPAddress]:
        """Return the addresses to connect to, looked up once and checked, all of them."""
        if target.address is not None:
            return [target.address]
        try:
            found = self._resolve(target.host, target.port, seconds=deadline.left())
        except TimeoutError:
            raise
        except OSError:
            raise _NotFoundError from None
        return check_addresses(target.host, found, self._rules)


class _NoEndpointError(Exception):
    """A signed message has nobody who could check it any more."""


class _NotFoundError(OSError):
    """The host has no address."""


_OUTSIDE_REASONS = (OutOfTimeError, UnreadableAnswerError, OSError)

# The first kind that fits counts, so the narrower stand first.
_FAILURES: Mapping[type[Exception], Failure] = {
    OutOfTimeError: Failure.OUT_OF_TIME,
    TimeoutError: Failure.OUT_OF_TIME,
    UnreadableAnswerError: Failure.UNREADABLE,
    _NotFoundError: Failure.NOT_FOUND,
    ssl.SSLCertVerificationError: Failure.CERTIFICATE,
    ssl.SSLError: Failure.TLS,
    OSError: Failure.NO_CONNECTION,
}


def trusted_authorities() -> ssl.SSLContext:
    """Return which certificates are trusted: the machine's own authorities and the usual ones."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def seconds_asked(answer: HttpAnswer, now: datetime) -> float | None:
    """Return for how long a site that is overloaded asks to be left alone, at most a day."""
    given = (answer.retry_after or "")[:_MAX_RETRY_AFTER_CHARS].strip()
    if answer.status not in _SLOW_DOWN or not given:
        return None
    if given.isascii() and given.isdigit():
        seconds = float(given)
    else:
        try:
            seconds = (email.utils.parsedate_to_datetime(given) - now).total_seconds()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER_SECONDS)


def _headers(
    delivery: Delivery, endpoint: Endpoint | None, body: bytes, now: datetime
) -> Mapping[str, str]:
    headers = {"Content-Type": "application/json"}
    if delivery.form is DeliveryForm.AKISMET:
        # WordPress looks for this, so as not to report the change back as a person's decision.
        return headers | {"X-Akismet-Webhook": "1"}
    if endpoint is None:
        raise _NoEndpointError
    timestamp = int(now.timestamp())
    return headers | {
        "webhook-id": delivery.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(delivery.id, timestamp, body, endpoint.secrets),
    }


def _problem_of(status: int) -> str | None:
    if 200 <= status < 300:
        return None
    return (Failure.REDIRECT if 300 <= status < 400 else Failure.REFUSED).value


def _failure(error: Exception) -> Failure:
    return next(words for kind, words in _FAILURES.items() if isinstance(error, kind))
