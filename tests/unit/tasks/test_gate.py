"""Only messages of the form that our producers write come through."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tasks.celery_app import is_ours

AN_ID = {"comment_id": "com_1"}


def message(content: object, **changes: object) -> dict[str, object]:
    return {
        "body": base64.b64encode(json.dumps(content).encode()).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {},
        "properties": {
            "body_encoding": "base64",
            "delivery_tag": "one",
            "delivery_info": {"exchange": "", "routing_key": "slopsieve.bulk"},
        },
    } | changes


def test_an_id_comes_through():
    assert is_ours(message(AN_ID))


def test_what_a_worker_put_back_comes_through_again():
    assert is_ours(message(AN_ID, headers={"redelivered": True}))


@pytest.mark.parametrize(
    "foreign",
    [
        5,
        [],
        None,
        {},
        message([1]),
        message({}),
        message({"comment_id": 5}),
        message({"comment_id": ""}),
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
