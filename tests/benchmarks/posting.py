"""Posts rows of data files to a Slopsieve over its API, and decides on them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from service.domain.comment import MAX_EXCERPT_CHARS, MAX_TITLE_CHARS
from service.domain.decision import Ruling
from tests.benchmarks.flood import Api

_WAIT_SECONDS = 10
_JUDGED_SECONDS = 60.0


def body_of(row: Mapping[str, Any], address: str | None = None) -> dict[str, Any]:
    """Return what the API takes of a row; without an address its own is sent, if it has one."""
    title, excerpt = row.get("post_title"), row.get("post_excerpt")
    post = {
        "title": title and title[:MAX_TITLE_CHARS],
        "excerpt": excerpt and excerpt[:MAX_EXCERPT_CHARS],
    }
    author = {
        "name": row.get("author_name"),
        "email": row.get("author_email"),
        "url": row.get("author_url"),
    }
    return {
        "text": row["text"],
        "site_comment_id": row["id"],
        "address": address or row.get("user_ip"),
        "post": {key: value for key, value in post.items() if value},
        "author": {key: value for key, value in author.items() if value},
    }


def post_and_decide(api: Api, body: Mapping[str, Any], ruling: Ruling | None = None) -> Any:
    """Post a comment, wait for its verdict, rule if a ruling is given, and return the verdict.

    Ends the program for a comment that is not judged within a minute.
    """
    answer = api.call("POST", f"/v1/comments?wait={_WAIT_SECONDS}", body)
    path = f"/v1/comments/{answer['id']}"
    deadline = time.monotonic() + _JUDGED_SECONDS
    while not answer["verdict"]:
        if time.monotonic() > deadline:
            sys.exit(f"{body['site_comment_id']} was not judged within {_JUDGED_SECONDS:.0f} s")
        time.sleep(0.2)
        answer = api.call("GET", path)
    if ruling:
        api.call("POST", f"{path}/decision", {"ruling": ruling.value, "decided_by": "benchmark"})
    return answer["verdict"]
