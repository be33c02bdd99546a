"""Signatures are those that every Standard Webhooks library expects."""

from __future__ import annotations

import base64
import hmac

import pytest

from service.outbound.sender import sign

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
# The example of this project's notes, and the one that the libraries of the standard test with.
VECTORS = [
    (
        SECRET,
        "msg_example_0001",
        1767600000,
        (
            b'{"type":"comment.verdict","timestamp":"2026-01-05T08:00:00Z",'
            b'"data":{"id":"c-1","verdict":"spam"}}'
        ),
        "v1,6hgwiHbDCS4RcdyCeA9TPxJmhuc5tzHTlDQBtggxeOk=",
    ),
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
]


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
