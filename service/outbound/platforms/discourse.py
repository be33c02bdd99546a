"""Discourse: deletes posts as its staff does, which staff can see and undo, and recovers them.

`DELETE /posts/{id}.json` and `PUT /posts/{id}/recover.json` follow docs.discourse.org and the
scopes `posts: delete`, `posts: recover` of a granular API key; too many calls answer 429, as
meta.discourse.org/t/available-settings-for-global-rate-limits-and-throttling/78612 has it. No scope
covers flags, the review queue or hiding alone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from service.domain.applying import Act, PlatformAct
from service.domain.delivery import Endpoint
from service.outbound.calls import CallOutcome
from service.outbound.platforms.results import (
    Ask,
    AtPlatform,
    members_of,
    plain_result,
)

_MAX_ID_CHARS = 20


def apply_at_discourse(
    act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime
) -> CallOutcome:
    """See `Apply`. A post that is deleted is not deleted once more: that is answered 403."""
    number = act.comment_id
    if not (number.isascii() and number.isdigit() and len(number) <= _MAX_ID_CHARS):
        return CallOutcome(problem=AtPlatform.NO_ID.value, hopeless=True)
    if act.act is Act.HIDE:
        said = _call("DELETE", f"/posts/{number}.json", endpoint, ask)
    else:
        said = _call("PUT", f"/posts/{number}/recover.json", endpoint, ask)
    result = plain_result(said, now)
    answer = result.answer
    if answer is None or result.rests_seconds is not None:
        return result
    if answer.status == 404 and members_of(answer).get("error_type") == "not_found":
        return replace(result, problem=AtPlatform.GONE.value, settled=True)
    if answer.status == 403:
        return _whose_fault(result, act, endpoint, ask, now)
    return result


def _whose_fault(
    result: CallOutcome, act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime
) -> CallOutcome:
    """Tell an API key that ended from a post that its owner may not delete: both answer 403.

    A key that may still list posts (scope `posts: list`) has not ended. Where the answer to an
    earlier deletion was lost, the post was deleted then.
    """
    listed = plain_result(_call("GET", "/posts.json", endpoint, ask), now)
    answer = listed.answer
    if answer is None or listed.rests_seconds is not None or answer.status not in (200, 401, 403):
        return replace(listed, uncertain=False)
    if answer.status == 200 and act.asked_before:
        return listed
    if answer.status == 200:
        return replace(result, problem=AtPlatform.NOT_ALLOWED.value, hopeless=True)
    return replace(result, problem=AtPlatform.TOKEN.value, refused=True)


def _call(method: str, path: str, endpoint: Endpoint, ask: Ask) -> CallOutcome:
    headers = {"Api-Key": endpoint.secrets[0], "Accept": "application/json"}
    return ask(endpoint.url + path, headers, method=method)
