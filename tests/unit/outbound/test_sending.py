"""What a site receives, and what its answers lead to, however slow, long or broken they are."""

import base64
import gzip
import hmac
import ipaddress
import socket
import threading

import pytest

from service.domain.delivery import DeliveryForm
from service.outbound.sender import sign
from tests.fakes import FixedClock
from tests.sites import running_site, with_status
from tests.unit.outbound.conftest import (
    ENDPOINT,
    SECRET,
    VECTORS,
    certified,
    make_delivery,
    make_notifier,
    trusting,
)

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]
CAP_SECONDS = 0.8


@pytest.fixture
def site():
    with running_site() as running:
        yield running


def send(site, *, url=None, endpoint=ENDPOINT, delivery=None, **options):
    notifier = make_notifier(site, allow_networks=LOOPBACK, **options)
    return notifier.send(delivery or make_delivery(url or site.url()), endpoint)


def test_a_message_arrives_signed_with_its_body_as_it_was_signed(site):
    delivery = make_delivery(site.url("/hook?a=b"), payload='{"a":"ä"}')
    clock = FixedClock()

    outcome = send(site, delivery=delivery, clock=clock)

    received = site.received[0]
    timestamp = int(clock.now.timestamp())
    assert outcome.delivered
    assert received.line == "POST /hook?a=b HTTP/1.1"
    assert received.body == '{"a":"ä"}'.encode()
    assert received.headers["content-type"] == "application/json"
    assert received.headers["accept-encoding"] == "identity"
    assert received.headers["host"] == f"127.0.0.1:{site.port}"
    assert received.headers["webhook-id"] == delivery.id
    assert received.headers["webhook-timestamp"] == str(timestamp)
    assert received.headers["webhook-signature"] == sign(
        delivery.id, timestamp, received.body, [SECRET]
    )
    assert "x-akismet-webhook" not in received.headers


def test_akismets_form_is_marked_and_not_signed(site):
    delivery = make_delivery(site.url(), form=DeliveryForm.AKISMET, payload='{"key":"k"}')

    outcome = send(site, delivery=delivery, endpoint=None)

    received = site.received[0]
    assert outcome.delivered
    assert received.headers["x-akismet-webhook"] == "1"
    assert received.body == b'{"key":"k"}'
    assert not any(name.startswith("webhook-") for name in received.headers)


def test_a_signed_message_without_anybody_to_check_it_is_not_sent(site):
    outcome = send(site, endpoint=None)

    assert outcome.hopeless
    assert outcome.problem == "the site wants no callbacks any more"
    assert site.connections == 0


@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500, 503, 599])
def test_errors_are_not_delivered_and_told_in_fixed_words(status, site):
    site.answer = with_status(status, body=b"<script>secret of the site</script>")

    outcome = send(site)

    assert not outcome.delivered
    assert outcome.status == status
    assert outcome.problem == "the site answered with an error"


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        (429, "120", 120.0),
        (503, "Sun, 01 Mar 2026 12:01:00 GMT", 60.0),
        (503, "Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        (503, "999999999999", 86_400.0),
        (429, "soon", None),
        (429, "-5", None),
        (429, "Sun, 01 Mar 2026 12:01:00 -0000", None),
        (500, "120", None),
    ],
)
def test_a_site_may_ask_to_be_left_alone_for_a_while(status, value, seconds, site):
    site.answer = with_status(status, f"Retry-After: {value}\r\n")

    outcome = send(site, clock=FixedClock())

    assert outcome.retry_after_seconds == seconds


def test_nobody_there_is_told_as_no_connection(site):
    site.close()

    outcome = send(site)

    assert outcome.problem == "no connection, or it broke off"
    assert not outcome.hopeless


def test_an_unknown_host_is_told_as_not_found(site):
    def unknown():
        raise OSError("no such host")

    outcome = send(site, url="http://gone.test/", names={"gone.test": unknown})

    assert outcome.problem == "the host's address was not found"
    assert not outcome.hopeless


def test_the_next_address_is_tried_when_the_first_does_not_answer(site):
    names = {"two.test": ["127.0.0.9", "127.0.0.1"]}

    outcome = send(site, url=f"http://two.test:{site.port}/", names=names)

    assert outcome.delivered


def _forever(chunk, pause=0.0, first=b""):
    def of(site):
        def answer(_received):
            yield first
            while True:
                site.pause(pause)
                yield chunk

        return answer

    return of


HEAD = b"HTTP/1.1 200 OK\r\n"
BOMB = gzip.compress(b"0" * 50_000_000)
HOSTILE_ANSWERS = {
    "says nothing": lambda site: lambda _: [site.pause(3_600) or b""],
    "one byte at a time": _forever(b"H", 0.05),
    "headers that trickle": _forever(b"X-A: b\r\n", 0.05, HEAD),
    "headers without end": _forever(b"X-A: " + b"b" * 1_000 + b"\r\n", 0.0, HEAD),
    "one header without end": _forever(b"b" * 10_000, 0.0, HEAD + b"X-A: "),
    "a status line without end": _forever(b"O" * 10_000, 0.0, b"HTTP/1.1 200 "),
    "interim answers without end": _forever(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "interim answers that trickle": _forever(b"HTTP/1.1 102 Wait\r\n\r\n", 0.05),
    "another protocol": lambda site: with_status(101, "Upgrade: x\r\nConnection: upgrade\r\n"),
    "no HTTP at all": lambda site: lambda _: [b"-ERR unknown command 'POST'\r\n" * 10],
    "nothing and the end": lambda site: lambda _: [],
    "half a status line": lambda site: lambda _: [b"HTTP/1.1 2"],
    "two lengths": lambda site: (
        lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"]
    ),
}
HARMLESS_BODIES = {
    "a body that trickles": _forever(b"x", 0.05, HEAD + b"\r\n"),
    "a body without end": _forever(b"x" * 60_000, 0.0, HEAD + b"\r\n"),
    "chunks without end": _forever(
        b"ffff\r\n" + b"x" * 65_535 + b"\r\n", 0.0, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    ),
    "a chunk of broken size": lambda site: (
        lambda _: [HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"]
    ),
    "a length that never comes": lambda site: (
        lambda _: [HEAD + b"Content-Length: 99999999999\r\n\r\nx"]
    ),
    "a gzip bomb": lambda site: (
        lambda _: [
            HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB
        ]
    ),
}


@pytest.mark.parametrize("kind", HOSTILE_ANSWERS)
def test_an_answer_that_is_none_ends_within_the_cap(kind, site):
    site.answer = HOSTILE_ANSWERS[kind](site)

    outcome = send(site, seconds=CAP_SECONDS)

    assert not outcome.delivered
    assert outcome.status is None
    assert outcome.problem in {
        "no answer in time",
        "the answer cannot be read",
        "no connection, or it broke off",
    }


@pytest.mark.parametrize("kind", HARMLESS_BODIES)
def test_whatever_follows_a_status_changes_nothing_and_ends_within_the_cap(kind, site):
    site.answer = HARMLESS_BODIES[kind](site)

    outcome = send(site, seconds=CAP_SECONDS)

    assert outcome.delivered


def test_little_is_read_of_an_answer_without_end(site):
    sent = []

    def answer(_received):
        yield HEAD + b"\r\n"
        while True:
            sent.append(60_000)
            yield b"x" * 60_000

    site.answer = answer

    send(site, seconds=10)

    # What the two sockets hold comes on top of the 64 KiB that are read.
    assert sum(sent) < 20_000_000


def test_a_look_up_that_hangs_ends_within_the_cap(site):
    hang = threading.Event()

    names = {"slow.test": lambda: [str(hang.wait(20))]}
    outcome = send(site, url="http://slow.test/", names=names, seconds=CAP_SECONDS)

    hang.set()
    assert outcome.problem == "no answer in time"


def test_a_site_that_reads_nothing_ends_within_the_cap():
    # The system takes the connection; nobody ever asks it for one.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        notifier = make_notifier(port=port, allow_networks=LOOPBACK, seconds=CAP_SECONDS)
        delivery = make_delivery(f"http://127.0.0.1:{port}/", payload="x" * 30_000_000)
        outcome = notifier.send(delivery, ENDPOINT)

    assert outcome.problem == "no answer in time"


# TLS: the name that was asked for is what the certificate must be for, wherever it was resolved.


def send_secretly(authority, name, asked="blog.test", **options):
    with running_site(tls=certified(authority, name)) as site:
        options.setdefault("tls", trusting(authority))
        url, names = f"https://{asked}:{site.port}/hook", {"blog.test": ["127.0.0.1"]}
        return send(site, url=url, names=names, **options), site


@pytest.mark.parametrize("host", ["blog.test", "127.0.0.1"])
def test_a_certificate_is_trusted_for_what_it_names_and_that_is_what_is_asked_for(host, authority):
    outcome, site = send_secretly(authority, host, asked=host)

    assert outcome.delivered
    # No name is sent for an address.
    assert site.received[0].server_name == ("blog.test" if host == "blog.test" else None)
    assert site.received[0].headers["host"] == f"{host}:{site.port}"


@pytest.mark.parametrize(
    ("name", "options"), [("other.test", {}), ("127.0.0.1", {}), ("blog.test", {"tls": None})]
)
def test_a_certificate_for_another_name_or_of_an_unknown_authority_is_not_trusted(
    name, options, authority
):
    outcome, site = send_secretly(authority, name, **options)

    assert outcome.problem == "the certificate is not valid for this host"
    assert site.received == []


def test_a_handshake_that_never_begins_ends_within_the_cap(site):
    outcome = send(site, url=f"https://127.0.0.1:{site.port}/", seconds=CAP_SECONDS)

    assert outcome.problem in {"no answer in time", "no encrypted connection"}


@pytest.mark.parametrize(("secret", "message_id", "timestamp", "body", "expected"), VECTORS)
def test_published_vectors_come_out_as_published(secret, message_id, timestamp, body, expected):
    assert sign(message_id, timestamp, body, [secret]) == expected


def test_during_a_rotation_each_secret_signs():
    newer = "whsec_" + base64.b64encode(b"n" * 32).decode()

    both = sign("msg_1", 1, b"{}", [newer, SECRET]).split(" ")

    assert both == [sign("msg_1", 1, b"{}", [newer]), sign("msg_1", 1, b"{}", [SECRET])]
    assert not hmac.compare_digest(*both)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "whsec_",
        "whsec_not base64",
        "whsec_" + base64.b64encode(b"x" * 23).decode(),
        "whsec_" + base64.b64encode(b"x" * 65).decode(),
        "whsk_" + base64.b64encode(b"x" * 32).decode(),
    ],
)
def test_what_is_no_secret_signs_nothing(secret):
    with pytest.raises(ValueError, match="whsec_"):
        sign("msg_1", 1, b"{}", [secret])
