"""Whoever cannot sign as the platform does gets nothing done."""

import hashlib
import hmac
import json

import pytest

from service.domain.delivery import Platform
from service.domain.errors import NotAuthenticatedError
from service.web.webhooks.adapter import require_hex_signature
from tests.factories import NOW
from tests.functional.webhooks import recorded
from tests.functional.webhooks.conftest import (
    SECRET,
    SECRETS,
    SIGN,
    add_hook,
    all_cases,
    standard_headers,
)

EVENTS = {
    Platform.CORAL: (recorded.CORAL, {}),
    Platform.DISCOURSE: (recorded.DISCOURSE_POST, {"X-Discourse-Event": "post_created"}),
    Platform.GITHUB: (recorded.GITHUB_ISSUE_COMMENT, {"X-GitHub-Event": "issue_comment"}),
    Platform.STANDARD: (recorded.STANDARD, {}),
}
ANOTHER_SECRET = "whsec_" + "A" * 32
signed_platforms = pytest.mark.parametrize("platform", EVENTS, ids=lambda p: p.value)


def test_the_vector_that_github_publishes_verifies():
    given = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    secret, header = "It's a Secret to Everybody", "X-Hub-Signature-256"

    require_hex_signature(given, b"Hello, World!", secret, header=header)

    with pytest.raises(NotAuthenticatedError):
        require_hex_signature(given, b"Hello, World?", secret, header=header)


def forged(platform: Platform, body: bytes) -> list[dict[str, str]]:
    """Return the headers of a sender that cannot sign this body for this platform."""
    sign, now = SIGN[platform], int(NOW.timestamp())
    nonsense = [
        *("", "now", "-1", "1e9", "9" * 400, str(now + 1), "\u0661".encode().decode("latin-1")),
        *("sha256=", "sha256=" + "0" * 64, "sha256=\u00e9\u00ff", ",,,,"),
        ",".join(["sha256=" + "0" * 64] * 100),
        # Of our secret, by a digest that is none any more.
        "sha1=" + hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest(),
    ]
    return [
        {},
        sign(body + b" "),
        sign(body, ANOTHER_SECRET),
        *(standard_headers(body, at=now + late) for late in (-301, 301, 86_400)),
        *(sign(body) | {header: given} for header in sign(body) for given in nonsense),
    ]


@signed_platforms
def test_what_the_platform_did_not_sign_is_refused(services, stranger, platform):
    payload, headers = EVENTS[platform]
    path = f"/hooks/{add_hook(services, platform)}"
    body = json.dumps(payload).encode()

    taken = []
    for number, signature in enumerate(forged(platform, body)):
        # Each from another address, which would be limited.
        stranger.environ_base["REMOTE_ADDR"] = f"203.0.113.{number}"
        if stranger.post(path, data=body, headers=headers | signature).status_code != 401:
            taken.append(signature)

    assert taken == []
    assert all_cases(services) == []


@signed_platforms
def test_during_a_rotation_any_of_several_signatures_will_do(services, stranger, platform):
    payload, headers = EVENTS[platform]
    path = f"/hooks/{add_hook(services, platform)}"
    body = json.dumps(payload).encode()
    headers = headers | SIGN[platform](body, ANOTHER_SECRET, SECRETS[platform])

    assert stranger.post(path, data=body, headers=headers).status_code in (200, 202)
    assert len(all_cases(services)) == 1


def test_an_unknown_hook_is_answered_like_a_wrong_signature(stranger):
    answers = [stranger.post(f"/hooks/{name}", json={}) for name in ("no", "x" * 300, "%00", "a.b")]

    assert [answer.status_code for answer in answers] == [401] * 4


def test_a_revoked_hook_tells_its_platform_alone_that_it_is_gone(send, services, stranger):
    hook = add_hook(services, Platform.GITHUB)
    services.inbound.revoke(hook, at=NOW)
    headers = {"X-GitHub-Event": "issue_comment"}

    told = send(Platform.GITHUB, recorded.GITHUB_ISSUE_COMMENT, headers)
    stranger_told = stranger.post(f"/hooks/{hook}", json=recorded.GITHUB_ISSUE_COMMENT)

    assert (told.status_code, stranger_told.status_code) == (410, 401)
    assert all_cases(services) == []


def test_a_body_over_the_limit_is_refused_before_anything_is_read(send, services):
    answer = send(Platform.GITHUB, b" " * (2 * 1024 * 1024 + 1))

    assert answer.status_code == 413
    assert all_cases(services) == []
