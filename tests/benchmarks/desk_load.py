"""Measures the moderators' pages over many stored comments: each page and act over HTTP, n times.

    python -m tests.benchmarks.desk_load --database sqlite
    python -m tests.benchmarks.desk_load --database postgresql

A server of its own on the loopback address, one moderator, one connection; every answer is read to
its end. Texts are authored comments with a running number; senders, links and verdicts are made up.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import http.cookies
import itertools
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import sqlalchemy as sa
from playwright.sync_api import sync_playwright

from service.campaigns.traits import Traits
from service.domain.case import CaseFilter, Order
from service.domain.comment import Comment, CommentId, Lane, Sender, SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Decision, Ruling
from service.domain.site import Site
from service.domain.verdict import Outcome, Verdict
from service.moderation.review.search import update_search_index
from service.ports.campaigns import Placement
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.migrations import migrate
from service.stores.sql import create_engine, sql_stores
from tests.benchmarks.screenshots import BROWSER_ARGS
from tests.factories import NOW, make_comment, make_verdict
from tests.fakes import make_services, with_ports
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving
from tests.servers import running_postgresql

DATA = Path(__file__).parents[2] / "data"
_PORTION = 1_000
SITES = tuple(SiteId(f"site-{number}") for number in range(1, 4))
# As on a blog that is judged by the shipped version: most spam is settled, a tenth waits.
SHARES = {Outcome.HAM: 0.55, Outcome.SPAM: 0.35, Outcome.UNSURE: 0.10}
_DECIDED = 0.05
_SIGNALS = ("bare_link", "keyword_author_name", "generic_praise", "own_detail")
_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_SEARCHES = (
    "radiator",
    "domain:shop-77.example",
    "outcome:spam signal:bare_link",
    "decision:reject from:2026-02-01",
    'cheap author:"Mara 12"',
)


@contextlib.contextmanager
def database(kind: str) -> Iterator[str]:
    """Give the URL of an empty database."""
    if kind == "postgresql":
        with running_postgresql() as server:
            yield server.url
        return
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/desk.db"


def made_services(engine: sa.Engine) -> Services:
    """Return services over this database; nothing else of them is real."""
    stores = sql_stores(engine)
    services = make_services(judges=False)
    return with_ports(services, **{f.name: getattr(stores, f.name) for f in fields(stores)})


def fill(services: Services, n_comments: int, n_campaigns: int, *, seed: int = 5) -> None:
    """Keep comments, their verdicts, some decisions, and campaigns of ten members each."""
    draw = random.Random(seed)
    for site in SITES:
        services.common.sites.add(Site(id=site, name=f"Blog {site}", created_at=NOW))
    texts = authored_rows()
    outcomes = list(SHARES)
    not_ham: list[CommentId] = []
    for first in range(0, n_comments, _PORTION):
        some = [made_comment(number, draw, texts) for number in range(first, first + _PORTION)]
        services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in some])
        drawn = draw.choices(outcomes, list(SHARES.values()), k=len(some))
        verdicts = [
            made_verdict(one, outcome, draw) for one, outcome in zip(some, drawn, strict=True)
        ]
        grouped = [one.comment_id for one in verdicts if one.outcome is not Outcome.HAM]
        services.judging.verdicts.add(
            verdicts,
            audit=frozenset(one.id for one in some if draw.random() < 0.02),
            traits=[traits_of(one) for one in grouped],
        )
        not_ham += grouped
        for one in some:
            if draw.random() < _DECIDED:
                ruling = draw.choice(list(Ruling))
                services.review.decisions.add(_decision(one.id, ruling, one.received_at))

    _group(services, not_ham, n_campaigns, draw)
    update_search_index(services.review, goes_on=lambda: True)


def authored_rows() -> list[dict[str, object]]:
    """Return the authored comments as their files have them."""
    return [
        json.loads(line)
        for path in sorted(DATA.glob("authored-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def traits_of(comment_id: CommentId) -> Traits:
    """Return traits by which nothing is like anything."""
    return Traits(
        comment_id=comment_id, embedding=None, space="made up", targets=frozenset(), copies=()
    )


def _group(services: Services, ids: list[CommentId], n_campaigns: int, draw: random.Random) -> None:
    """Put comments into campaigns of ten to thirty, the others stay alone."""
    draw.shuffle(ids)
    at = 0
    placements = []
    for number in range(n_campaigns):
        size = draw.randrange(10, 31)
        first, *others = ids[at : at + size]
        at += size
        for one in (first, *others):
            like = None if one == first else first
            placements.append(
                Placement(comment_id=one, like=like, new_campaign_id=f"cam_{number:06d}")
            )
    placements += [Placement(comment_id=one, like=None, new_campaign_id="") for one in ids[at:]]
    for start in range(0, len(placements), _PORTION):
        services.clusters.campaigns.place(placements[start : start + _PORTION], at=NOW)


def made_comment(number: int, draw: random.Random, texts: Sequence[dict[str, object]]) -> Comment:
    """Return an authored comment with a made-up sender, 25 s after the one before."""
    row = comment_from_row(texts[number % len(texts)])
    person = draw.randrange(20_000)
    shop = draw.randrange(2_000)
    return make_comment(
        f"{row.text} Number {number}, see https://shop-{shop}.example/offer",
        id=CommentId(f"com_{number:08d}"),
        site_id=SITES[number % len(SITES)],
        received_at=NOW - timedelta(seconds=25 * (100_000 - number)),
        author=replace(row.author, name=f"Mara {person % 500}"),
        post=replace(row.post, url=f"https://blog.example/{number % 900}"),
        sender=Sender(
            address_key=f"{person:032x}",
            network_key=f"{person // 50:032x}",
            email_key=f"{person // 2:032x}",
            email_domain=f"mail-{person // 100}.example",
            name_key=f"{person % 500:032x}",
        ),
    )


def made_verdict(comment: Comment, outcome: Outcome, draw: random.Random) -> Verdict:
    """Return a verdict of this outcome with one to three signals."""
    made = make_verdict(comment.id, outcome, judged_at=comment.received_at)
    weighed = made.signals[0]
    chosen = draw.sample(_SIGNALS, draw.randrange(1, 4))
    signals = tuple(replace(weighed, signal=replace(weighed.signal, name=name)) for name in chosen)
    low, high = {
        Outcome.HAM: (0.0, 0.1), Outcome.UNSURE: (0.1, 0.9), Outcome.SPAM: (0.9, 1.0),
    }[outcome]  # fmt: skip
    return replace(made, signals=signals, p_spam=draw.uniform(low, high), model_version="minilm-3")


def _decision(comment_id: CommentId, ruling: Ruling, at: datetime) -> Decision:
    return Decision(
        id=f"dec_{comment_id}",
        comment_id=comment_id,
        ruling=ruling,
        decided_by="Ola",
        decided_at=at + timedelta(minutes=9),
    )


class Client:
    """A moderator's browser as far as HTTP goes: one connection, its cookies."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = http.client.HTTPConnection(host, port)
        self._cookies = http.cookies.SimpleCookie()

    def call(
        self, method: str, path: str, form: dict[str, str] | None = None, *, script: bool = False
    ) -> tuple[int, str, str]:
        """Return the status, the place a redirect names, and the body; `script` asks for parts."""
        cookies = "; ".join(f"{name}={one.value}" for name, one in self._cookies.items())
        headers = {"Cookie": cookies} | ({"X-Parts": "1"} if script else {})
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form)
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        for cookie in answer.headers.get_all("Set-Cookie", ()):
            self._cookies.load(cookie)
        return answer.status, answer.getheader("Location") or "", text

    def get(self, path: str) -> str:
        """Return a page. Ends the program for anything but a page."""
        status, _, text = self.call("GET", path)
        if status != http.client.OK:
            sys.exit(f"GET {path} was answered with {status}")
        return text


def token_of(page: str) -> str:
    """Return the token that the page's forms carry."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found[1]


def sign_in(client: Client) -> str:
    """Sign in and return the session's token."""
    page = client.get("/sign-in")
    form = {"csrf_token": token_of(page), "name": "Ola", "password": PASSWORD}
    client.call("POST", "/sign-in", form)
    return token_of(client.get("/review"))


def timed(work: Callable[[], object]) -> float:
    """Return how many milliseconds it takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def table_row(name: str, milliseconds: Sequence[float]) -> str:
    """Return a row of the table: n, median, 95th percentile, longest."""
    ordered = sorted(milliseconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    p50 = statistics.median(ordered)
    return f"| {name} | {len(ordered)} | {p50:.0f} ms | {p95:.0f} ms | {ordered[-1]:.0f} ms |"


def measure(
    client: Client, token: str, services: Services, *, n: int, n_comments: int, n_campaigns: int
) -> Iterator[str]:
    """Yield the rows of the table. Decisions are made on comments that wait, and stay made."""
    draw = random.Random(1)
    page = client.get("/review")
    yield table_row("the queue", [timed(lambda: client.get("/review")) for _ in range(n)])
    deeper = re.search(r'href="(/review\?[^"]*cursor=[^"]+)"', page)
    assert deeper
    path = deeper[1].replace("&amp;", "&")
    yield table_row("its next page", [timed(lambda: client.get(path)) for _ in range(n)])
    some = [f"/review/comments/com_{draw.randrange(n_comments):08d}" for _ in range(n)]
    yield table_row("one comment", [timed(lambda one=one: client.get(one)) for one in some])
    for line in _SEARCHES:
        query = urlencode({"q": line})
        found = [timed(lambda q=query: client.get(f"/review/search?{q}")) for _ in range(n // 4)]
        yield table_row(f"search: `{line}`", found)
    yield table_row("a decision, with the page after it", list(_decide(client, token, services, n)))
    yield table_row(
        "campaigns", [timed(lambda: client.get("/review/campaigns")) for _ in range(n // 4)]
    )
    some = [f"/review/campaigns/cam_{draw.randrange(n_campaigns):06d}" for _ in range(n // 4)]
    yield table_row("one campaign", [timed(lambda one=one: client.get(one)) for one in some])
    yield table_row(
        "figures of 30 days, counted anew",
        [timed(lambda d=d: client.get(f"/figures?days={d}")) for d in (30, 7)],
    )


def _decide(client: Client, token: str, services: Services, n: int) -> Iterator[float]:
    """Yield what it takes until the comment after the one decided is on the page."""
    waiting = services.review.cases.page(
        CaseFilter(needs_review=True), order=Order.REVIEW, cursor=None, limit=n + 1
    ).cases
    for case, following in itertools.pairwise(waiting):
        form = {
            "csrf_token": token,
            "ruling": "reject",
            "seen": "",
            "then": following.comment.id,
        }
        address = f"/review/comments/{case.comment.id}/decision"

        def decide(address: str = address, form: dict[str, str] = form) -> None:
            status, location, _ = client.call("POST", address, form)
            assert status == http.client.SEE_OTHER, status
            client.call("GET", location, script=True)

        yield timed(decide)


def first_paints(address: str, n: int) -> list[float]:
    """Return when Chromium first painted the queue page, in milliseconds after it was asked for."""
    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        context = play.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), args=BROWSER_ARGS
        )
        page = context.new_page()
        page.goto(f"{address}/sign-in")
        page.fill("#name", "Ola")
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/review")
        painted = []
        for _ in range(n):
            page.goto(f"{address}/review")
            # Asked again and again from here, as the page's policy lets nothing be evaluated there.
            while (first := page.evaluate(_PAINTED)) is None:
                page.wait_for_timeout(5)
            painted.append(float(first))
        context.close()
    return painted


def main() -> None:
    """Fill a database, serve it, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--comments", type=int, default=100_000)
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--n", type=int, default=200, help="how often each page is asked for")
    given = parser.parse_args()
    with database(given.database) as url:
        engine = create_engine(url)
        migrate(engine)
        services = made_services(engine)
        add_moderator(services)
        took = timed(lambda: fill(services, given.comments, given.campaigns)) / 1000
        with engine.begin() as connection:
            # As a database does by itself some minutes after so much came in.
            connection.execute(sa.text("ANALYZE"))
        print(f"{given.comments:,} comments filled in within {took:.0f} s, {given.database}")
        print("| what | n | median | 95th percentile | longest |\n|---|--:|--:|--:|--:|")
        # Enough that a page left behind, whose live updates hold a thread, delays none.
        with serving(make_app(services), threads=32) as (host, port):
            client = Client(host, port)
            token = sign_in(client)
            counts = {"n_comments": given.comments, "n_campaigns": given.campaigns}
            for row in measure(client, token, services, n=given.n, **counts):
                print(row, flush=True)
            painted = first_paints(f"http://{host}:{port}", max(10, given.n // 10))
            print(table_row("first paint of the queue, in Chromium", painted))
        engine.dispose()


if __name__ == "__main__":
    main()
