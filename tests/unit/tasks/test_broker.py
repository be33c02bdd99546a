"""What goes through Valkey: its URL, messages of our producers' form alone, and its failures."""

import base64
import json
import logging

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from service.domain.comment import CommentId
from service.tasks.broker import QueueNotice, kombu_url, why_unusable
from service.tasks.celery_app import is_ours
from service.tasks.queue import _message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "unix://:p%2Fw%3A%40x@/data/valkey.sock?db=3",
            "redis+socket://:p%2Fw%3A%40x@/data/valkey.sock?virtual_host=3",
        ),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
    ],
)
def test_a_unix_socket_keeps_its_path_its_password_and_its_database(url, expected):
    assert kombu_url(url) == expected


AN_ID = {"comment_id": "com_1"}


def message(content: object, **changes: object) -> dict[str, object]:
    """Return a message as it is written, with this content."""
    written = json.loads(_message(CommentId("com_1"), "slopsieve.bulk"))
    return written | {"body": base64.b64encode(json.dumps(content).encode()).decode()} | changes


def test_a_message_carries_an_id_alone_and_comes_through_even_when_it_was_put_back():
    written = json.loads(_message(CommentId("com_1"), "slopsieve.bulk"))

    assert json.loads(base64.b64decode(written["body"])) == AN_ID
    assert written["headers"] == {}
    assert is_ours(written)
    assert is_ours(message(AN_ID, headers={"redelivered": True}))


@pytest.mark.parametrize(
    "foreign",
    [
        {},
        message({"comment_id": 5}),
        message({"comment_id": "c" * 101}),
        message({"comment_id": "com_1", "__type__": "uuid", "__value__": 5}),
        message(AN_ID, body=base64.b64encode('{"comment_id": "c"}'.encode("utf-16")).decode()),
        message(AN_ID, body="not base64"),
        message(AN_ID, body=base64.b64encode(b"not json").decode()),
        message(AN_ID, body=base64.b64encode(b"[" * 100_000).decode()),
        message(AN_ID, body=None),
        message(AN_ID, headers=5),
        message(AN_ID, headers={"compression": "bzip2"}),
        message(AN_ID, properties=5),
        message(AN_ID, properties={"delivery_tag": "one"}),
        message(AN_ID, **{"content-type": "application/x-python-serialize"}),
        message(AN_ID, headers={"task": "os.system", "id": "1"}),
    ],
)
def test_nothing_else_does(foreign):
    assert not is_ours(foreign)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_json_holds_is_refused_and_raises_nothing(foreign):
    assert not is_ours(foreign)
    assert not is_ours(message(foreign))


SECRET = "/var/run/hidden.sock"


@pytest.fixture
def notice(caplog):
    caplog.set_level(logging.INFO)
    return QueueNotice()


def celerys(error: BaseException, words: str = "cannot connect: %s") -> logging.LogRecord:
    return logging.LogRecord("kombu.asynchronous.hub", logging.ERROR, "", 0, words, (error,), None)


def test_each_loss_and_each_return_is_one_line(notice, caplog):
    for _ in range(2):
        for _ in range(3):
            notice.away(redis.ConnectionError(SECRET))
        for _ in range(3):
            notice.back()

    lost, back = "the queue cannot be used, comments are kept", "the queue can be used again"
    assert [message.partition(" and judged")[0] for message in caplog.messages] == [lost, back] * 2
    assert SECRET not in caplog.text


def test_what_celery_says_of_a_lost_queue_is_dropped_and_told_in_our_words(notice, caplog):
    error = RuntimeError("could not apply the task")
    error.__cause__ = redis.OutOfMemoryError(SECRET)

    passed = [notice.filter(celerys(error)), notice.filter(celerys(ValueError(), "often: %r"))]

    assert passed == [False, False]
    assert [record.reason for record in caplog.records] == ["its memory is full"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (redis.OutOfMemoryError("OOM"), "its memory is full"),
        (redis.ResponseError("MISCONF Errors writing"), "its disk takes no writes"),
        (redis.ReadOnlyError("READONLY"), "it is a replica and takes no writes"),
        (redis.BusyLoadingError("LOADING"), "it is loading its data"),
        (redis.AuthenticationError("WRONGPASS"), "it refuses this user or password"),
        (redis.TimeoutError("slow"), "it does not answer"),
        (ConnectionRefusedError(), "it does not answer"),
        (redis.ResponseError("WRONGTYPE"), "ResponseError"),
    ],
)
def test_the_reason_is_told_in_words_of_ours(error, why):
    assert why_unusable(error) == why
