"""Mastodon: reports posts to the instance's moderators, and resolves such a report again.

Nothing else there can be undone: a post that is deleted is gone, and what is done to an account is
done to a person. `POST /api/v1/reports` follows docs.joinmastodon.org/methods/reports, resolving
and listing /methods/admin/reports. A report takes the scope `write:reports`, resolving it
`admin:write:reports`, finding it `admin:read:reports` and a role that may manage reports. Answers
are those of `app/controllers/concerns/api/error_handling.rb`; after 400 reports in a day 429.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime

from service.domain.applying import REPORT_COMMENT, Act, PlatformAct
from service.domain.delivery import Endpoint
from service.outbound.calls import Question
from service.outbound.exchange import HttpAnswer
from service.outbound.platforms.results import (
    Ask,
    AtPlatform,
    Result,
    members_of,
    plain_result,
    unreadable,
)

# Mastodon's ids are numbers; those of servers that speak its API have letters too.
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_REPORTS = "/api/v1/admin/reports"
# Newest first, so ours is among them unless others reported the account at the same time. Each has
# some 15 kB, and of an answer 64 kB are read.
_LOOKED_AT = 2
# What the router says, for an address that is no Mastodon's; a record that is gone is told in the
# instance's language.
_NO_SUCH_PAGE = "Not Found"


def apply_at_mastodon(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> Result:
    """See `Apply`. What hides a post elsewhere is a report here: the post stays to be seen."""
    if not (_ID.fullmatch(act.comment_id) and _ID.fullmatch(act.account_id or "")):
        return Result(problem=AtPlatform.NO_ID.value, hopeless=True)
    if act.act is Act.HIDE:
        return _report(act, endpoint, ask, now)
    return _resolve(act, endpoint, ask, now)


def _report(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> Result:
    if act.asked_before:
        found = _find(act, endpoint, ask, now)
        if found.reference is not None or not _may_go_on(found):
            return replace(found, uncertain=False)
    body = {
        "account_id": act.account_id,
        "status_ids": [act.comment_id],
        "category": "spam",
        "comment": REPORT_COMMENT,
        "forward": False,
    }
    result = plain_result(ask(_question("POST", "/api/v1/reports", endpoint, body)), now)
    answer = _answer_of(result)
    if answer is None or result.rests_seconds is not None:
        return result
    if answer.status in (403, 422):
        # The scope is missing, the account may not act, or the token is nobody's.
        return replace(result, problem=AtPlatform.TOKEN.value, refused=True)
    if _is_gone(answer):
        return replace(result, problem=AtPlatform.GONE.value, settled=True)
    if result.problem is not None:
        return result
    reference = _id_of(members_of(answer))
    return unreadable(result) if reference is None else replace(result, reference=reference)


def _resolve(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> Result:
    reference = act.reference
    if reference is None:
        found = _find(act, endpoint, ask, now)
        reference = found.reference
        if reference is None:
            return _of_moderator(found)
    result = plain_result(ask(_question("POST", f"{_REPORTS}/{reference}/resolve", endpoint)), now)
    answer = _answer_of(result)
    if answer is not None and _is_gone(answer):
        return replace(result, problem=AtPlatform.GONE.value, settled=True)
    return _of_moderator(result)


def _find(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> Result:
    """Look for an open report of this post that is ours; settled if there is none."""
    path = f"{_REPORTS}?target_account_id={act.account_id}&limit={_LOOKED_AT}"
    result = plain_result(ask(_question("GET", path, endpoint)), now)
    answer = _answer_of(result)
    if answer is None or result.problem is not None:
        return result
    try:
        listed = json.loads(answer.body)
    except (ValueError, RecursionError):
        return unreadable(result)
    if not isinstance(listed, list):
        return unreadable(result)
    for one in listed:
        if _is_ours(one, act) and (reference := _id_of(one)) is not None:
            return replace(result, reference=reference)
    return replace(result, problem=AtPlatform.NO_REPORT.value, settled=True)


def _may_go_on(found: Result) -> bool:
    """Say whether another report does no more harm than two of them: none was seen, or may be."""
    answer = _answer_of(found)
    return answer is not None and found.rests_seconds is None and answer.status in (200, 403)


def _of_moderator(result: Result) -> Result:
    """Return a result of what moderators alone may do: a token without that still reports."""
    answer = _answer_of(result)
    if answer is not None and answer.status == 403 and result.rests_seconds is None:
        return replace(result, problem=AtPlatform.NOT_ALLOWED.value, hopeless=True)
    return result


def _is_ours(report: object, act: PlatformAct) -> bool:
    if not isinstance(report, dict) or report.get("comment") != REPORT_COMMENT:
        return False
    statuses = report.get("statuses")
    return isinstance(statuses, list) and any(
        isinstance(one, dict) and one.get("id") == act.comment_id for one in statuses
    )


def _id_of(members: dict[str, object]) -> str | None:
    given = members.get("id")
    return given if isinstance(given, str) and _ID.fullmatch(given) else None


def _is_gone(answer: HttpAnswer) -> bool:
    if answer.status != 404:
        return False
    error = members_of(answer).get("error")
    return isinstance(error, str) and error != _NO_SUCH_PAGE


def _answer_of(result: Result) -> HttpAnswer | None:
    return result.said.answer if result.said else None


def _question(method: str, path: str, endpoint: Endpoint, body: object = None) -> Question:
    headers = {"Authorization": f"Bearer {endpoint.secrets[0]}", "Accept": "application/json"}
    if body is None:
        return Question(method=method, url=endpoint.url + path, headers=headers)
    return Question(
        method=method,
        url=endpoint.url + path,
        headers=headers | {"Content-Type": "application/json"},
        body=json.dumps(body).encode(),
    )
