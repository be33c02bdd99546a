"""When a client asks again, when it does not, and what it says in the end."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from service.web.clients.slopsieve_client import SlopsieveError
from tests.functional.clients.conftest import Scripted

KEY = "slop_test"
COMMENT = {"text": "Thank you, that worked."}
PROBLEM = {
    "type": "/docs#problem-unavailable",
    "title": "A part of the service is away",
    "status": 503,
    "detail": "The database is away.",
    "errors": [],
}


@pytest.fixture
def ask(driver, scripted):
    """Call the scripted service."""

    def make(name, *args, **options):
        return driver.call(scripted.address, KEY, name, *args, **options)

    return make


@pytest.mark.parametrize("status", [429, 503])
def test_what_kept_nothing_is_asked_again_when_the_service_says(ask, scripted, status):
    scripted.says(status, PROBLEM, Retry_After="1").says(200, {"id": "com_1"})

    began = time.monotonic()
    answer = ask("decide_comment", "com_1", {"ruling": "approve"})

    assert answer == {"id": "com_1"}
    assert time.monotonic() - began >= 1
    assert [(method, path) for method, path, _ in scripted.seen] == [
        ("POST", "/v1/comments/com_1/decision")
    ] * 2


def test_a_repeat_has_the_same_idempotency_key_and_another_call_another(ask, scripted):
    scripted.says(503, PROBLEM).drops().says(202, {"id": "com_1"})

    ask("submit_comment", COMMENT, wait=3)
    ask("submit_batch", {"comments": [COMMENT]})

    first, *repeats, other = scripted.keys()
    assert first
    assert repeats == [first, first]
    assert other not in (None, first)
    assert scripted.seen[0][1] == "/v1/comments?wait=3"


@pytest.mark.parametrize(
    ("name", "args"),
    [("get_site", []), ("submit_comment", [COMMENT]), ("submit_batch", [{"comments": []}])],
)
def test_a_lost_connection_is_made_good_where_a_repeat_is_harmless(ask, scripted, name, args):
    scripted.drops().says(200, {"done": True})

    assert ask(name, *args) == {"done": True}
    assert len(scripted.seen) == 2


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("issue_key", [{"rotate": True}]),
        ("set_callback", [{"url": "https://blog.example/hook", "rotate": True}]),
        ("undo_decision", ["com_1"]),
    ],
)
def test_what_a_repeat_could_do_twice_is_not_repeated(ask, scripted, name, args):
    scripted.drops()

    with pytest.raises(SlopsieveError, match="did not answer") as caught:
        ask(name, *args)

    assert caught.value.status is None
    assert len(scripted.seen) == 1


def test_a_wait_beyond_ones_patience_is_said_at_once(ask, scripted):
    scripted.says(429, PROBLEM | {"status": 429, "title": "Too many requests"}, Retry_After="3600")

    with pytest.raises(SlopsieveError, match="Too many requests") as caught:
        ask("get_site")

    assert (caught.value.status, caught.value.retry_after) == (429, 3600)
    assert len(scripted.seen) == 1


def test_patience_ends(ask, scripted):
    scripted.says(503, PROBLEM)

    with pytest.raises(SlopsieveError, match="The database is away") as caught:
        ask("get_site", patience=1)

    assert caught.value.status == 503
    assert len(scripted.seen) > 1


def test_a_service_that_says_nothing_is_left_in_time(driver):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"

        with pytest.raises(SlopsieveError, match="did not answer") as caught:
            driver.call(address, KEY, "get_site", timeout=0.3, patience=0.1)

    assert caught.value.status is None


def test_the_time_of_a_wait_comes_on_top(driver, scripted):
    """The service lets the request wait as it was asked to."""
    scripted.says(202, {"id": "com_1"})
    with socket.create_server(("127.0.0.1", 0)) as slow:
        threading.Thread(target=_pass_on, args=(slow, scripted.address, 0.6), daemon=True).start()
        address = f"http://127.0.0.1:{slow.getsockname()[1]}"

        answer = driver.call(
            address, KEY, "submit_comment", COMMENT, wait=60, timeout=0.3, patience=0
        )

    assert answer == {"id": "com_1"}


def _pass_on(listener: socket.socket, address: str, seconds: float) -> None:
    """Answer one request after so many seconds."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        time.sleep(seconds)
        connection.sendall(
            b"HTTP/1.1 202 Accepted\r\nContent-Length: 14\r\nConnection: close\r\n\r\n"
            b'{"id":"com_1"}'
        )


def test_a_service_that_is_being_started_is_found(driver, scripted):
    """It took no connection at first, so even what is no repeat may be sent again."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host, port = closed.getsockname()
    scripted.says(200, {})

    def start() -> None:
        time.sleep(0.5)
        with socket.create_server((host, port)) as late:
            _pass_on(late, scripted.address, 0)

    starting = threading.Thread(target=start)
    starting.start()
    answer = driver.call(f"http://{host}:{port}", KEY, "issue_key", {})
    starting.join()

    assert answer == {"id": "com_1"}


def test_where_nothing_listens_the_remedy_is_said(driver):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

    with pytest.raises(SlopsieveError, match="takes no connection: Does it run there"):
        driver.call(f"http://127.0.0.1:{port}", KEY, "get_site", patience=0)


def test_a_redirect_is_not_followed_with_the_key(ask, scripted):
    scripted.says(302, None, Location=f"{scripted.address}/elsewhere")

    with pytest.raises(SlopsieveError) as caught:
        ask("get_site")

    assert caught.value.status == 302
    assert [path for _, path, _ in scripted.seen] == ["/v1/site"]


@pytest.mark.parametrize(("status", "said"), [(502, "HTTP status 502"), (200, "not JSON")])
def test_what_something_else_answers_is_said_to_be_that(ask, scripted, status, said):
    scripted.steps.append((status, {"Content-Type": "text/html"}, b"<h1>It works!</h1>"))

    with pytest.raises(SlopsieveError, match=said) as caught:
        ask("get_site")

    assert "address" in str(caught.value)
    assert len(scripted.seen) == 1


def test_a_service_below_a_path_is_called_there(driver, scripted: Scripted):
    scripted.says(200, {})

    driver.call(scripted.address + "/comments/", KEY, "list_comments", needs_review=True, limit=3)

    assert [path for _, path, _ in scripted.seen] == [
        "/comments/v1/comments?needs_review=true&limit=3"
    ]


@pytest.mark.parametrize(
    ("address", "key", "name", "args", "options", "field"),
    [
        ("file:///etc/passwd", KEY, "get_site", [], {}, "url"),
        ("https://user@blog.example", KEY, "get_site", [], {}, "url"),
        ("https://blog.example/?x", KEY, "get_site", [], {}, "url"),
        ("", KEY, "get_site", [], {}, "url"),
        (None, "slop_secret\n", "get_site", [], {}, "key"),
        (None, "slop_sécret", "get_site", [], {}, "key"),
        (None, "", "get_site", [], {}, "key"),
        (None, KEY, "get_comment", ["../site"], {}, "id"),
        (None, KEY, "withdraw_comment", [".."], {}, "id"),
        (None, KEY, "submit_comment", [COMMENT], {"idempotency_key": "a\r\nb"}, "idempotency_key"),
    ],
)
def test_what_cannot_be_sent_is_refused_here(
    driver, scripted, address, key, name, args, options, field
):
    with pytest.raises(SlopsieveError, match="Refused here") as caught:
        driver.call(scripted.address if address is None else address, key, name, *args, **options)

    assert caught.value.errors[0]["field"].endswith(field)
    assert "slop_s" not in str(caught.value)
    assert scripted.seen == []
