"""Applies decisions at platforms through their APIs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from service.domain.delivery import Act, DeliveryForm, Endpoint, PlatformAct
from service.outbound.exchange import CallOutcome, Failure, HttpAnswer, seconds_given

# The pause if a platform asks for one without a duration.
_MIN_REST_SECONDS = 60.0
_MAX_REST_SECONDS = 24 * 3600.0
_MAX_MOMENT_CHARS = 64

Ask = Callable[..., CallOutcome]
"""`HttpSiteNotifier.call`."""
Apply = Callable[[PlatformAct, Endpoint, Ask, datetime], CallOutcome]
"""Asks a platform for one act, now; returns the result of the last call."""


def plain_result(outcome: CallOutcome, now: datetime) -> CallOutcome:
    """Return the result of a response from any HTTP API.

    A request whose response was lost, or was a 5xx, may have been carried out.
    """
    answer = outcome.answer
    if answer is None:
        return replace(outcome, uncertain=outcome.was_sent)
    if answer.status == 401:
        return replace(outcome, problem=Failure.TOKEN.value, refused=True)
    asks_for_time = answer.status in (403, 503) and _given_rest(answer, now) is not None
    if asks_for_time or answer.status == 429:
        return limited(outcome, now)
    return replace(outcome, uncertain=answer.status >= 500)


def limited(result: CallOutcome, now: datetime) -> CallOutcome:
    """Return the result for a response that asks for a pause, perhaps without a duration."""
    asked = _given_rest(result.answer, now) if result.answer else None
    rests = _MIN_REST_SECONDS if asked is None else asked
    return replace(result, problem=Failure.LIMITED.value, retry_after_seconds=rests)


def members_of(answer: HttpAnswer) -> dict[str, Any]:
    """Return the members of a response's JSON object, {} for anything else."""
    try:
        given = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _given_rest(answer: HttpAnswer, now: datetime) -> float | None:
    """Return the seconds until `Retry-After`, or until a used-up rate limit is reset."""
    seconds = seconds_given(answer.headers.get("retry-after"), now)
    if seconds is None and answer.headers.get("x-ratelimit-remaining", "").strip() == "0":
        # GitHub sends the time in seconds since 1970.
        ends = answer.headers.get("x-ratelimit-reset", "")[:_MAX_MOMENT_CHARS].strip()
        if ends.isascii() and ends.isdigit():
            seconds = float(ends) - now.timestamp()
    return None if seconds is None else min(max(seconds, 1.0), _MAX_REST_SECONDS)


# A deleted hook, or a token without rights, for which GitHub also returns 404.
_CLOSED = (401, 403, 404, 410)


def call_build_hook(_: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> CallOutcome:
    """Have a static host build the site; see `Apply`. Repeated calls are harmless.

    Netlify, Cloudflare and Vercel accept a POST without a body at a secret URL. GitHub requires a
    token and the name of an event at `/repos/OWNER/REPO/dispatches`.
    """
    headers = {"Accept": "application/json"}
    body = b""
    if endpoint.secrets[0] != endpoint.url:
        headers |= {
            "Authorization": f"Bearer {endpoint.secrets[0]}",
            "Content-Type": "application/json",
        }
        body = json.dumps({"event_type": "slopsieve"}).encode()
    result = plain_result(ask(endpoint.url, headers, body), now)
    answer = result.answer
    if answer is not None and answer.status in _CLOSED and result.retry_after_seconds is None:
        return replace(result, problem=Failure.CLOSED.value, refused=True)
    return result


_MAX_POST_DIGITS = 20


def apply_at_discourse(
    act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime
) -> CallOutcome:
    """Delete or recover a post; see `Apply`. A second deletion returns 403.

    Requires the scopes `posts: delete` and `posts: recover` of a granular API key. No scope covers
    flags, the review queue or hiding alone.
    """
    number = act.comment_id
    if not (number.isascii() and number.isdigit() and len(number) <= _MAX_POST_DIGITS):
        return CallOutcome(problem=Failure.NO_ID.value, hopeless=True)
    if act.act is Act.HIDE:
        outcome = _call_discourse("DELETE", f"/posts/{number}.json", endpoint, ask)
    else:
        outcome = _call_discourse("PUT", f"/posts/{number}/recover.json", endpoint, ask)
    result = plain_result(outcome, now)
    answer = result.answer
    if answer is None or result.retry_after_seconds is not None:
        return result
    if answer.status == 404 and members_of(answer).get("error_type") == "not_found":
        return replace(result, problem=Failure.GONE.value, settled=True)
    return _whose_fault(result, act, endpoint, ask, now) if answer.status == 403 else result


def _whose_fault(
    result: CallOutcome, act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime
) -> CallOutcome:
    """Distinguish an expired API key from a post that its owner may not delete; both return 403.

    A key that can list posts (scope `posts: list`) has not expired. After a lost response the post
    may be deleted already.
    """
    listed = plain_result(_call_discourse("GET", "/posts.json", endpoint, ask), now)
    answer = listed.answer
    asks_for_time = listed.retry_after_seconds is not None
    if answer is None or asks_for_time or answer.status not in (200, 401, 403):
        return replace(listed, uncertain=False)
    if answer.status == 200 and act.asked_before:
        return listed
    if answer.status == 200:
        return replace(result, problem=Failure.NOT_ALLOWED.value, hopeless=True)
    return replace(result, problem=Failure.TOKEN.value, refused=True)


def _call_discourse(method: str, path: str, endpoint: Endpoint, ask: Ask) -> CallOutcome:
    headers = {"Api-Key": endpoint.secrets[0], "Accept": "application/json"}
    return ask(endpoint.url + path, headers, method=method)


_MUTATIONS = {
    Act.HIDE: "minimizeComment(input:{subjectId:$id,classifier:SPAM}){minimizedComment",
    Act.RESTORE: "unminimizeComment(input:{subjectId:$id}){unminimizedComment",
}
# Stored by a hook if GitHub did not send the comment's node id.
_NO_NODE = (
    "issue_comment-",
    "discussion_comment-",
    "commit_comment-",
    "pull_request_review-",
    "pull_request_review_comment-",
)


def apply_at_github(act: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> CallOutcome:
    """Minimize a comment as spam, or undo that; see `Apply`. Both can be repeated.

    A rate limit returns 200, 403 or 429.
    """
    if act.comment_id.startswith(_NO_NODE):
        return CallOutcome(problem=Failure.NO_ID.value, hopeless=True)
    mutation = _MUTATIONS[act.act]
    query = f"mutation($id:ID!){{{mutation}{{isMinimized}}}}}}"
    outcome = ask(
        endpoint.url,
        {
            "Authorization": f"Bearer {endpoint.secrets[0]}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
        json.dumps({"query": query, "variables": {"id": act.comment_id}}).encode(),
    )
    return _github_result(outcome, mutation.partition("(")[0], now)


def _github_result(outcome: CallOutcome, name: str, now: datetime) -> CallOutcome:
    result = plain_result(outcome, now)
    answer = result.answer
    if answer is None or result.refused or result.retry_after_seconds is not None:
        return result
    members = members_of(answer)
    if answer.status == 403:
        if "rate limit" in str(members.get("message", "")).lower():
            return limited(result, now)
        return replace(result, problem=Failure.TOKEN.value, refused=True)
    if result.problem is not None:
        return result
    errors = members.get("errors")
    if isinstance(errors, list) and errors:
        return _github_errors(result, errors, now)
    data = members.get("data")
    if isinstance(data, dict) and isinstance(data.get(name), dict):
        return result
    # The status is 200 but the body is unreadable.
    return replace(result, problem=Failure.UNREADABLE.value, uncertain=True)


def _github_errors(result: CallOutcome, errors: list[object], now: datetime) -> CallOutcome:
    """Return the result of the errors in a response of status 200.

    FORBIDDEN refers to one comment's repository; an expired token returns 401.
    """
    first = errors[0] if isinstance(errors[0], dict) else {}
    kind, message = first.get("type"), str(first.get("message", "")).lower()
    if kind == "NOT_FOUND":
        return replace(result, problem=Failure.GONE.value, settled=True)
    if kind in ("RATE_LIMITED", "RATE_LIMIT") or "rate limit" in message:
        return limited(result, now)
    if kind == "INSUFFICIENT_SCOPES":
        return replace(result, problem=Failure.TOKEN.value, refused=True)
    if kind == "FORBIDDEN":
        return replace(result, problem=Failure.NOT_ALLOWED.value, hopeless=True)
    return replace(result, problem=Failure.REFUSED.value)


PLATFORMS: Mapping[DeliveryForm, Apply] = {
    DeliveryForm.GITHUB: apply_at_github,
    DeliveryForm.DISCOURSE: apply_at_discourse,
    DeliveryForm.BUILD_HOOK: call_build_hook,
}
