"""Plays platforms whose APIs decisions are applied through; they fail as the real ones do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from service.domain.delivery import DeliveryForm
from tests.factories import NOW
from tests.sites import Received, Site, with_status

TOKEN = "scoped-token-0123456789"
Answer = tuple[int, str, object]


@dataclass
class Platform:
    """A platform with one comment, one token for it, and what goes wrong there.

    `fails` answers in place of the platform as long as it is set; `said` lists what it was asked
    and what it answered.
    """

    form: DeliveryForm
    path: str
    site_comment_id: str
    token: str = TOKEN
    hidden: bool = False
    exists: bool = True
    fails: Callable[[], Answer] | None = None
    loses_answers: bool = False
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.site = Site(answer=self._answer)

    @property
    def url(self) -> str:
        """Return what an owner gives as its address."""
        return self.site.url(self.path)

    def go_away(self) -> None:
        """Take no connections any more."""
        self.site.close()

    def come_back(self) -> None:
        """Take connections again, at the same port."""
        self.site = Site(port=self.site.port, answer=self._answer)

    def close(self) -> None:
        """End it."""
        self.site.close()

    def limit(self) -> Answer:
        """Return how it asks for two minutes."""
        raise NotImplementedError

    def carry_out(self, received: Received) -> tuple[str, Answer]:
        """Return what a request asks for, in short, and what is answered."""
        raise NotImplementedError

    def unauthorized(self, received: Received) -> Answer | None:
        """Return how a wrong token is refused, None for the right one."""
        raise NotImplementedError

    def _answer(self, received: Received) -> Iterable[bytes]:
        asked, answer = self.carry_out(received)
        refused = self.unauthorized(received)
        if self.loses_answers:
            self.said.append(f"{asked} → no answer")
            return []
        status, headers, body = self.fails() if self.fails else refused or answer
        self.said.append(f"{asked} → {status}")
        sent = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json; charset=utf-8\r\n"
        return with_status(status, kind + headers, sent)(received)

    def _may(self, received: Received) -> bool:
        return self.fails is None and self.unauthorized(received) is None


@dataclass
class GitHub(Platform):
    """GitHub's GraphQL API: answers errors of a query with 200."""

    form: DeliveryForm = DeliveryForm.GITHUB
    path: str = "/graphql"
    site_comment_id: str = "github:IC_kwDO7"
    error: dict[str, Any] | None = None

    def unauthorized(self, received: Received) -> Answer | None:
        if received.headers.get("authorization") == f"Bearer {self.token}":
            return None
        body = {
            "message": "Bad credentials",
            "documentation_url": "https://docs.github.com/graphql",
        }
        return 401, "", body

    def limit(self) -> Answer:
        words = "You have exceeded a secondary rate limit. Please wait a few minutes."
        return 403, "Retry-After: 120\r\n", {"message": words}

    def carry_out(self, received: Received) -> tuple[str, Answer]:
        assert received.line == "POST /graphql HTTP/1.1"
        given = json.loads(received.body)
        name = re.match(r"mutation\(\$id:ID!\)\{(\w+)\(input:\{subjectId:\$id", given["query"])[1]
        spam = " SPAM" if "classifier:SPAM" in given["query"] else ""
        assert bool(spam) == (name == "minimizeComment")
        node = given["variables"]["id"]
        asked = f"{name} {node}{spam}"
        if self.error is not None:
            return asked, (200, "", {"data": {name: None}, "errors": [self.error]})
        if not self.exists or f"github:{node}" != self.site_comment_id:
            message = f"Could not resolve to a node with the global id of '{node}'"
            error = {"type": "NOT_FOUND", "path": [name], "message": message}
            return asked, (200, "", {"data": {name: None}, "errors": [error]})
        if self._may(received):
            self.hidden = name == "minimizeComment"
        member = {"minimizeComment": "minimizedComment", "unminimizeComment": "unminimizedComment"}
        return asked, (
            200,
            "X-RateLimit-Remaining: 4999\r\nX-RateLimit-Reset: 1893456000\r\n",
            {"data": {name: {member[name]: {"isMinimized": self.hidden}}}},
        )


@dataclass
class Discourse(Platform):
    """Discourse's API: a wrong key and a post out of bounds are both answered 403."""

    form: DeliveryForm = DeliveryForm.DISCOURSE
    path: str = ""
    site_comment_id: str = "discourse:9021"
    allows: bool = True

    def unauthorized(self, received: Received) -> Answer | None:
        if received.headers.get("api-key") == self.token:
            return None
        words = "You are not permitted to view the requested resource. The API key is invalid."
        return 403, "", {"errors": [words], "error_type": "invalid_access"}

    def limit(self) -> Answer:
        extras = {"wait_seconds": 120, "time_left": "2 minutes"}
        body = {"errors": ["Too many times."], "error_type": "rate_limit", "extras": extras}
        return 429, "Retry-After: 120\r\n", body

    def carry_out(self, received: Received) -> tuple[str, Answer]:
        method, path, _ = received.line.split(" ")
        asked = f"{method} {path}"
        assert received.body == b""
        if asked == "GET /posts.json":
            return asked, (200, "", {"latest_posts": []})
        hides = method == "DELETE"
        number = path.removeprefix("/posts/").removesuffix(".json").removesuffix("/recover")
        assert path == (f"/posts/{number}.json" if hides else f"/posts/{number}/recover.json")
        assert method in ("DELETE", "PUT")
        if not self.exists or f"discourse:{number}" != self.site_comment_id:
            words = "The requested URL or resource could not be found."
            return asked, (404, "", {"errors": [words], "error_type": "not_found"})
        if not self.allows or self.hidden is hides:
            words = "You are not permitted to view the requested resource."
            return asked, (403, "", {"errors": [words], "error_type": "invalid_access"})
        if self._may(received):
            self.hidden = hides
        return asked, (200, "", None if hides else {"id": int(number), "hidden": False})


@dataclass
class Mastodon(Platform):
    """Mastodon's API: a report of a post hides nothing and is open until it is resolved.

    Shapes from docs.joinmastodon.org/methods/reports and /methods/admin/reports; a wrong token is
    answered 401, one without the right 403, a used-up limit 429 (`app/lib/rate_limiter.rb`).
    `is_moderator` says that the token may read and resolve reports.
    """

    form: DeliveryForm = DeliveryForm.MASTODON
    path: str = ""
    site_comment_id: str = "mastodon:116001"
    account_id: str = "1093"
    is_moderator: bool = True
    reports: list[dict[str, Any]] = field(default_factory=list)

    def unauthorized(self, received: Received) -> Answer | None:
        if received.headers.get("authorization") == f"Bearer {self.token}":
            return None
        return 401, "", {"error": "The access token is invalid"}

    def limit(self) -> Answer:
        # The first message goes out when the undo time has passed.
        ends = NOW + timedelta(seconds=30 + 120)
        headers = (
            "X-RateLimit-Limit: 400\r\nX-RateLimit-Remaining: 0\r\n"
            f"X-RateLimit-Reset: {ends:%Y-%m-%dT%H:%M:%S.%fZ}\r\n"
        )
        return 429, headers, {"error": "Too many requests"}

    def carry_out(self, received: Received) -> tuple[str, Answer]:
        method, path, _ = received.line.split(" ")
        asked = f"{method} {path}"
        if asked == "POST /api/v1/reports":
            return self._file(asked, json.loads(received.body), received)
        assert received.body == b""
        number = re.match(
            r"/api/v1/admin/reports(?:/(\d+)/resolve|\?target_account_id=1093&)", path
        )
        if not self.is_moderator:
            return asked, (403, "", {"error": "This action is outside the authorized scopes"})
        if number[1] is None:
            assert method == "GET"
            newest = [one for one in self.reports[::-1] if one["action_taken_at"] is None]
            return asked, (200, "", newest[: int(path.rpartition("limit=")[2])])
        assert method == "POST"
        found = [one for one in self.reports if one["id"] == number[1]]
        if not found:
            return asked, (404, "", {"error": "Record not found"})
        if self._may(received):
            found[0] |= {"action_taken": True, "action_taken_at": f"{NOW:%FT%T.000Z}"}
        self._look()
        return f"{asked} of {found[0]['statuses'][0]['id']}", (200, "", found[0])

    def _file(self, asked: str, given: dict[str, Any], received: Received) -> tuple[str, Answer]:
        [status_id] = given["status_ids"]
        asked = f"{asked} {status_id} {given['category']}"
        assert given.keys() == {"account_id", "status_ids", "category", "comment", "forward"}
        assert given["forward"] is False
        known = self.exists and f"mastodon:{status_id}" == self.site_comment_id
        if not known or given["account_id"] != self.account_id:
            return asked, (404, "", {"error": "Record not found"})
        if self._may(received):
            self.add_report(given["comment"], status_id)
        self._look()
        filed = {"id": "none"} if not self.reports else self.reports[-1]
        of_entity = {name: value for name, value in filed.items() if name != "statuses"}
        return asked, (200, "", of_entity | {"status_ids": [status_id]})

    def add_report(self, comment: str, status_id: str = "116001") -> None:
        """Have a report of one post filed, by whomever."""
        report = {
            "id": str(48914 + len(self.reports)),
            "action_taken": False,
            "action_taken_at": None,
            "category": "spam",
            "comment": comment,
            "forwarded": False,
            "created_at": f"{NOW:%FT%T.000Z}",
            "target_account": {"id": self.account_id, "username": "mara"},
            "statuses": [{"id": status_id, "account": {"id": self.account_id}}],
        }
        self.reports.append(report)

    def _look(self) -> None:
        self.hidden = any(one["action_taken_at"] is None for one in self.reports)


PLATFORMS: dict[str, type[Platform]] = {
    "github": GitHub,
    "discourse": Discourse,
    "mastodon": Mastodon,
}
