"""Sends deliveries to sites: checks the address, signs, sends once and returns the result."""

import base64
import hmac
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import certifi

from service.domain.delivery import Delivery, DeliveryForm, Endpoint, PlatformAct, SendOutcome
from service.domain.webhook_secret import webhook_key
from service.outbound import guard
from service.outbound.exchange import (
    CallOutcome,
    Deadline,
    Failure,
    Resolver,
    UnreadableAnswerError,
    exchange,
    seconds_given,
    system_resolver,
)
from service.outbound.platforms import PLATFORMS


def sign(message_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> str:
    """Return the value of `webhook-signature`: one `v1` signature per secret.

    Raises `ValueError` for an invalid secret.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = (hmac.digest(webhook_key(secret), signed, "sha256") for secret in secrets)
    return " ".join(f"v1,{base64.b64encode(digest).decode('ascii')}" for digest in digests)


# From resolving the name to reading the last byte.
SEND_SECONDS = 15.0
# A hanging look-up cannot be cancelled; this many may hang at once.
_MAX_LOOK_UPS = 64
# Statuses of an overloaded site, whose `Retry-After` is honored.
_OVERLOADED = (429, 502, 503, 504)


@dataclass(eq=False)
class HttpSiteNotifier:
    """Sends HTTP requests to sites; see `SiteNotifier`. Thread-safe.

    `resolve` resolves names; `tls` defines the trusted certificates.
    """

    rules: guard.OutboundRules
    resolve: Resolver = system_resolver
    tls: ssl.SSLContext | None = None
    seconds: float = SEND_SECONDS
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    look_ups: threading.Semaphore = field(
        default_factory=lambda: threading.Semaphore(_MAX_LOOK_UPS), init=False
    )

    def refuse(self, url: str) -> str | None:
        try:
            guard.parse_target(url, self.rules)
        except guard.RefusedError as error:
            return str(error)
        return None

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        if endpoint is None and delivery.form is not DeliveryForm.AKISMET:
            # Without an endpoint there is no secret to sign with.
            return SendOutcome(problem=Failure.NO_ENDPOINT.value, hopeless=True)
        body, secrets = delivery.payload.encode(), endpoint.secrets if endpoint else ()
        outcome = self.call(delivery.url, _headers(delivery, secrets, body, self.clock()), body)
        if outcome.answer and outcome.status in _OVERLOADED:
            rests = seconds_given(outcome.answer.headers.get("retry-after"), self.clock())
            return replace(outcome, retry_after_seconds=rests)
        return outcome

    def apply(self, endpoint: Endpoint, act: PlatformAct) -> SendOutcome:
        return PLATFORMS[endpoint.form](act, endpoint, self.call, self.clock())

    def call(
        self, url: str, headers: Mapping[str, str], body: bytes = b"", *, method: str = "POST"
    ) -> CallOutcome:
        """Call a URL within the rules; failures are returned, never raised."""
        sent: list[bool] = []
        try:
            target = guard.parse_target(url, self.rules)
            if self.tls is None:
                # Loaded late, because it takes about 30 ms and most processes never send.
                self.tls = trusted_authorities()
            deadline = Deadline(self.seconds)
            answer = exchange(
                target,
                self._addresses(target, deadline),
                headers={"User-Agent": "Slopsieve (callbacks)", **headers},
                body=body,
                tls=self.tls,
                deadline=deadline,
                method=method,
                when_sent=lambda: sent.append(True),
            )
        except guard.RefusedError as error:
            hopeless = self.refuse(url) is not None
            return CallOutcome(problem=f"the address {error}", hopeless=hopeless)
        except (UnreadableAnswerError, OSError) as error:
            kind = next(words for kind, words in _FAILURES.items() if isinstance(error, kind))
            return CallOutcome(problem=kind.value, was_sent=bool(sent))
        problem = None
        if not 200 <= answer.status < 300:
            redirects = 300 <= answer.status < 400
            problem = (Failure.REDIRECT if redirects else Failure.REFUSED).value
        return CallOutcome(status=answer.status, answer=answer, problem=problem, was_sent=True)

    def _addresses(self, target: guard.Target, deadline: Deadline) -> Sequence[guard.IPAddress]:
        if target.address is not None:
            return [target.address]
        try:
            found = self._look_up(target.host, target.port, seconds=deadline.left())
        except TimeoutError:
            raise
        except (OSError, UnicodeError):
            raise _NotFoundError from None
        return guard.check_addresses(target.host, found, self.rules)

    def _look_up(self, host: str, port: int, *, seconds: float) -> Sequence[str]:
        """Return the host's addresses. Raises `TimeoutError`, or the resolver's error."""
        if not self.look_ups.acquire(timeout=seconds):
            raise TimeoutError
        answer: Future[Sequence[str]] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.resolve(host, port))
            except Exception as error:  # noqa: BLE001  # Raised by `result`.
                answer.set_exception(error)
            finally:
                self.look_ups.release()

        threading.Thread(target=ask, daemon=True).start()
        return answer.result(timeout=seconds)


class _NotFoundError(OSError):
    """The host has no address."""


# The first match counts, so subclasses come first.
_FAILURES: Mapping[type[Exception], Failure] = {
    TimeoutError: Failure.OUT_OF_TIME,
    UnreadableAnswerError: Failure.UNREADABLE,
    _NotFoundError: Failure.NOT_FOUND,
    ssl.SSLCertVerificationError: Failure.CERTIFICATE,
    ssl.SSLError: Failure.TLS,
    OSError: Failure.NO_CONNECTION,
}


def trusted_authorities() -> ssl.SSLContext:
    """Return a context that trusts the authorities of the system and of certifi."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _headers(
    delivery: Delivery, secrets: Sequence[str], body: bytes, now: datetime
) -> Mapping[str, str]:
    headers = {"Content-Type": "application/json"}
    if delivery.form is DeliveryForm.AKISMET:
        # WordPress checks it, so that it does not report the change as a person's decision.
        return headers | {"X-Akismet-Webhook": "1"}
    timestamp = int(now.timestamp())
    return headers | {
        "webhook-id": delivery.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(delivery.id, timestamp, body, secrets),
    }
