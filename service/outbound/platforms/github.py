"""GitHub: minimizes comments on issues and discussions as spam, and takes that back.

`minimizeComment` and `unminimizeComment` follow docs.github.com/graphql/reference/mutations, limits
docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api: a limit answers
200, 403 or 429.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

from service.domain.applying import Act, PlatformAct
from service.domain.delivery import Endpoint
from service.outbound.calls import CallOutcome, Failure
from service.outbound.platforms.results import (
    Ask,
    AtPlatform,
    limited,
    members_of,
    plain_result,
)

_MUTATIONS = {
    Act.HIDE: "minimizeComment(input:{subjectId:$id,classifier:SPAM}){minimizedComment",
    Act.RESTORE: "unminimizeComment(input:{subjectId:$id}){unminimizedComment",
}
# What a hook keeps of a comment whose node id GitHub did not tell.
_NO_NODE = (
    "issue_comment-",
    "discussion_comment-",
    "commit_comment-",
    "pull_request_review-",
    "pull_request_review_comment-",
)


def apply_at_github(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> CallOutcome:
    """See `Apply`. Both mutations may be repeated."""
    if act.comment_id.startswith(_NO_NODE):
        return CallOutcome(problem=AtPlatform.NO_ID.value, hopeless=True)
    mutation = _MUTATIONS[act.act]
    query = f"mutation($id:ID!){{{mutation}{{isMinimized}}}}}}"
    said = ask(
        endpoint.url,
        {
            "Authorization": f"Bearer {endpoint.secrets[0]}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
        json.dumps({"query": query, "variables": {"id": act.comment_id}}).encode(),
    )
    return _result(said, mutation.partition("(")[0], now)


def _result(said: CallOutcome, name: str, now: datetime) -> CallOutcome:
    result = plain_result(said, now)
    answer = result.answer
    if answer is None or result.refused or result.rests_seconds is not None:
        return result
    members = members_of(answer)
    if answer.status == 403:  # a status by its number
        if "rate limit" in str(members.get("message", "")).lower():
            return limited(result, now)
        return replace(result, problem=AtPlatform.TOKEN.value, refused=True)
    if result.problem is not None:
        return result
    errors = members.get("errors")
    if isinstance(errors, list) and errors:
        return _of_errors(result, errors, now)
    data = members.get("data")
    done = isinstance(data, dict) and isinstance(data.get(name), dict)
    if done:
        return result
    # It says yes and cannot be understood.
    return replace(result, problem=Failure.UNREADABLE.value, uncertain=True)


def _of_errors(result: CallOutcome, errors: list[object], now: datetime) -> CallOutcome:
    """Return what errors in an answer of status 200 mean.

    FORBIDDEN is about one comment, in a repository out of the token's reach; a token that ended is
    answered 401.
    """
    first = errors[0] if isinstance(errors[0], dict) else {}
    kind, message = first.get("type"), str(first.get("message", "")).lower()
    if kind == "NOT_FOUND":
        return replace(result, problem=AtPlatform.GONE.value, settled=True)
    if kind in ("RATE_LIMITED", "RATE_LIMIT") or "rate limit" in message:
        return limited(result, now)
    if kind == "INSUFFICIENT_SCOPES":
        return replace(result, problem=AtPlatform.TOKEN.value, refused=True)
    if kind == "FORBIDDEN":
        return replace(result, problem=AtPlatform.NOT_ALLOWED.value, hopeless=True)
    return replace(result, problem=Failure.REFUSED.value)
