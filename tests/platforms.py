"""Plays platforms whose APIs decisions are applied through; they fail as the real ones do."""

import ipaddress
import itertools
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from models.inputs import ModelOutput
from service.domain.comment import Comment
from service.domain.decision import Mode, Ruling
from service.domain.delivery import Delivery, DeliveryForm, DeliveryState
from service.domain.site import SiteSettings
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.delivering import deliver, take_deliveries
from service.outbound.guard import OutboundRules
from service.outbound.sender import HttpSiteNotifier
from tests.factories import SITE
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site, submit_one
from tests.sites import Received, Site, with_status

TOKEN = "scoped-token-0123456789"
UNDO_SECONDS = 30
Answer = tuple[int, str, object]


class ToldSite:
    """A site of which a server on this machine is told, and what happens to its comments."""

    ruling: Ruling  # What is decided where a test does not say.
    step_seconds: int  # In which time passes where a test does not say.

    def __init__(self, port: int, *, mode: Mode = Mode.HOLD) -> None:
        self.clock, self.classifier = FixedClock(), FixedClassifier()
        self.numbers = itertools.count(1)
        rules = OutboundRules(
            ports=frozenset({port}),
            plain_http=True,
            allow_networks=(ipaddress.ip_network("127.0.0.0/8"),),
        )
        self.services = make_services(
            sites=[make_site(settings=SiteSettings(undo_seconds=UNDO_SECONDS, mode=mode))],
            clock=self.clock,
            classifier=self.classifier,
            notifier=HttpSiteNotifier(rules, clock=self.clock, seconds=5),
        )

    def submit(self, p_spam: float = 0.5, **changes: Any) -> Comment:
        """Have a comment judged, with this probability of spam."""
        self.classifier.answer = ModelOutput(p_spam=p_spam)
        text = f"It is number {next(self.numbers)}."
        return submit_one(self.services, **({"text": text} | changes))

    def decide(self, comment: Comment, ruling: Ruling | None = None) -> None:
        decide_comment(comment.id, ruling or self.ruling, self.services, decided_by="ada")

    def decided(self, *, wait: int, step: int | None = None, **changes: Any) -> Comment:
        """Have a comment held and decided, and so many seconds pass."""
        comment = self.submit(**changes)
        self.decide(comment)
        self.wait(wait, step=step)
        return comment

    def undo(self, comment: Comment) -> None:
        undo_decision(comment.id, self.services, undone_by="ada")

    def wait(self, seconds: int, *, step: int | None = None) -> None:
        """Let time pass, and send what becomes due in it, four at a time as the dispatcher does."""
        step = step or self.step_seconds
        for passed in (0, *([step] * (seconds // step))):
            self.clock.advance(seconds=passed)
            while due := take_deliveries(self.services, limit=4):
                for one in due:
                    deliver(one, self.services)

    def messages(self, state: DeliveryState | None = None) -> list[Delivery]:
        """Return the messages for the site, newest first."""
        return self.services.deliveries.recent(state=state, site_id=SITE, limit=99)


@dataclass
class Platform:
    """A platform with one comment, one token for it, and what goes wrong there.

    `fails` answers in place of the platform as long as it is set; `said` lists what it was asked
    and what it answered. A kind of platform has three methods: `unauthorized` refuses a wrong token
    (None for the right one), `limit` asks for two minutes, `carry_out` returns what a request asks
    for, in short, and the answer.
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
        """Return the URL that an owner enters."""
        return self.site.url(self.path)

    def go_away(self) -> None:
        self.site.close()

    def come_back(self) -> None:
        """Take connections again, at the same port."""
        self.site = Site(port=self.site.port, answer=self._answer)

    def close(self) -> None:
        self.site.close()

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


PLATFORMS: dict[str, type[Platform]] = {
    "github": GitHub,
    "discourse": Discourse,
}
