"""A static host's build hook: one call has the site built anew.

Netlify, Cloudflare and Vercel take a POST without a body, at an address that is secret
(docs.netlify.com/configure-builds/build-hooks, developers.cloudflare.com/pages, "Deploy hooks").
GitHub takes a token and the name of an event at `/repos/OWNER/REPO/dispatches` and answers 204
(docs.github.com/rest/repos/repos, "Create a repository dispatch event").
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

from service.domain.applying import PlatformAct
from service.domain.delivery import Endpoint
from service.outbound.calls import CallOutcome
from service.outbound.platforms.results import Ask, AtPlatform, plain_result

EVENT = "slopsieve"
# A hook that was deleted, or a token without rights: GitHub answers 404 to that too.
_CLOSED = (401, 403, 404, 410)


def call_build_hook(_: PlatformAct, endpoint: Endpoint, ask: Ask, now: datetime) -> CallOutcome:
    """See `Apply`. A call more than is needed builds once more and does no harm."""
    headers = {"Accept": "application/json"}
    body = b""
    if endpoint.secrets[0] != endpoint.url:
        headers |= {
            "Authorization": f"Bearer {endpoint.secrets[0]}",
            "Content-Type": "application/json",
        }
        body = json.dumps({"event_type": EVENT}).encode()
    result = plain_result(ask(endpoint.url, headers, body), now)
    answer = result.answer
    if answer is not None and answer.status in _CLOSED and result.rests_seconds is None:
        return replace(result, problem=AtPlatform.CLOSED.value, refused=True)
    return result
