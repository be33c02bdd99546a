"""Presses 1,000 keys at the review page while the server fails, and reconciles them.

    python -m tests.benchmarks.fast_hands

First some keys without faults, to measure what it takes from a key to the painted next comment.
Then a key every 60 ms while answers are refused, dropped or late at random, the browser is offline
twice, and a second moderator decides. Each key must be one decision in the audit log, in the order
of the keys, or a refusal that the page tells because the other moderator's ruling stands.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator

from playwright.sync_api import Page, sync_playwright

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.moderation.review.decide import decide_comment
from service.ports.audit import AuditFilter
from service.ports.services import Services
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from tests.benchmarks.desk_load import database, fill, made_services
from tests.benchmarks.screenshots import BROWSER_ARGS
from tests.faulty_server import AWAY, BAD_GATEWAY, DROPPED, HANGS, Faults
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving

_RULED = {"a": "approve", "r": "reject"}
# Of a hundred acts; nine of ten faults of a bad afternoon are one of these.
_FAULTS = {AWAY: 3.0, BAD_GATEWAY: 2.0, DROPPED: 3.0, HANGS: 0.2}
_LATE_SECONDS = 3.0
_OFFLINE_SECONDS = 5.0
_ENDS_SECONDS = 600.0
_IS_SENDING = "document.querySelector('.sending').textContent !== ''"
# What a frame shows is painted when the task after it runs.
_WATCH = """
window.painted = [];
window.pressed = [];
document.addEventListener("keydown", (event) => {
  if (event.key === "a" || event.key === "r") window.pressed.push(event.timeStamp);
}, true);
document.addEventListener("DOMContentLoaded", () => {
  let last = document.querySelector("[data-opened]")?.dataset.opened;
  new MutationObserver(() => {
    const now = document.querySelector("#opened [data-opened]")?.dataset.opened;
    if (!now || now === last) return;
    last = now;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.painted.push(performance.now());
      port2.postMessage(0);
    });
  }).observe(document.getElementById("opened"), { childList: true, subtree: true });
});
"""


def plan_faults(draw: random.Random) -> Faults:
    """Return faults that most acts are spared."""
    kinds = [*_FAULTS, None]
    weights = [*_FAULTS.values(), 100 - sum(_FAULTS.values())]
    return Faults(
        plan=lambda _number, _path: draw.choices(kinds, weights)[0],
        others=lambda path: AWAY if path == "/review/ahead" and draw.random() < 0.03 else None,
        hang_seconds=_LATE_SECONDS,
    )


def press(page: Page, n: int, every_ms: int, draw: random.Random) -> Iterator[str]:
    """Press so many keys, each at its time, and yield them."""
    began = time.monotonic()
    for number in range(n):
        late_by = time.monotonic() - began - number * every_ms / 1000
        page.wait_for_timeout(max(0.0, -1000 * late_by))
        key = draw.choice("ar")
        page.keyboard.press(key)
        yield key


def sign_in(page: Page, address: str) -> None:
    """Sign in and wait for the queue."""
    page.goto(f"{address}/sign-in")
    page.fill("#name", "Ola")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review")
    page.locator("html[data-ready]").wait_for(state="attached")


def latency(page: Page, n: int, every_ms: int, draw: random.Random) -> list[float]:
    """Return the milliseconds from each key to the painted next comment."""
    page.wait_for_timeout(2_000)
    for _ in press(page, n, every_ms, draw):
        pass
    # Asked again and again from here, as the page's policy lets nothing be evaluated there.
    while page.evaluate("window.painted.length") < n:
        page.wait_for_timeout(100)
    pressed, painted = page.evaluate("[window.pressed, window.painted]")
    return [after - before for before, after in zip(pressed, painted, strict=False)]


def colleague_decides(services: Services, draw: random.Random) -> None:
    """Let the second moderator rule on one of the next comments."""
    waiting = services.review.cases.page(
        CaseFilter(needs_review=True), order=Order.REVIEW, cursor=None, limit=12
    ).cases
    if waiting:
        comment_id = draw.choice(waiting).comment.id
        try:
            decide_comment(
                comment_id, draw.choice(list(Ruling)), services, decided_by="Mara", instead_of=()
            )
        except ConflictError:
            # Ola was quicker by a moment.
            return


def reconcile(keys: list[str], faults: Faults, services: Services, refused: int) -> Counter[str]:
    """Return what became of the keys. Ends the program if one is lost, double or out of order."""
    ruled_on = dict.fromkeys(path.split("/")[3] for path in faults.posts)
    comments = [CommentId(one) for one in ruled_on]
    found: Counter[str] = Counter(keys=len(keys), acts=len(comments), requests=len(faults.posts))
    page = services.common.audit_log.page(
        AuditFilter(actor="Ola"), after=None, limit=10 * len(keys)
    )
    log = [one for one in reversed(page.entries) if one.subject in ruled_on]
    made = {one.subject: one.act for one in log}
    if len(made) != len(log):
        sys.exit("a decision is double")
    if [one.subject for one in log] != [one for one in comments if one in made]:
        sys.exit("decisions are out of order")
    if len(comments) != len(keys):
        sys.exit(f"{len(keys)} keys were pressed, {len(comments)} comments were ruled on")
    for key, one in zip(keys, comments, strict=True):
        case = services.review.cases.get(one)
        if one in made:
            found["decided"] += 1
            if made[one] != _RULED[key] or len(case.decisions) != 1:
                sys.exit(f"{one} was not decided as its key says, once")
        elif case.decision is None or case.decision.decided_by != "Mara":
            sys.exit(f"the decision on {one} is lost")
        else:
            same = case.decision.ruling.value == _RULED[key]
            found["colleague ruled the same" if same else "refused and told"] += 1
    if found["refused and told"] != refused:
        sys.exit(f"{refused} refusals were told, {found['refused and told']} made")
    return found


def main() -> None:
    """Measure, press, reconcile and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comments", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--every-ms", type=int, default=60)
    parser.add_argument("--latency-keys", type=int, default=150)
    parser.add_argument("--latency-every-ms", type=int, default=400)
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    with database("sqlite") as url, sync_playwright() as play, tempfile.TemporaryDirectory() as at:
        engine = create_engine(url)
        migrate(engine)
        services = made_services(engine)
        add_moderator(services)
        fill(services, given.comments, given.comments // 100)
        context = play.chromium.launch_persistent_context(
            at,
            executable_path=shutil.which("chromium"),
            args=BROWSER_ARGS,
            viewport={"width": 1280, "height": 800},
        )
        page = context.new_page()
        page.add_init_script(_WATCH)
        app, faults = make_app(services), Faults()
        with serving(faults.put_before(app), threads=16) as (host, port):
            sign_in(page, f"http://{host}:{port}")
            took = sorted(latency(page, given.latency_keys, given.latency_every_ms, draw))
            p95 = took[int(len(took) * 0.95)]
            print(
                f"key to painted next comment, n={len(took)}: p50 {statistics.median(took):.0f} ms,"
                f" p95 {p95:.0f} ms, longest {took[-1]:.0f} ms; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            while page.evaluate(_IS_SENDING):
                page.wait_for_timeout(100)
            planned = plan_faults(draw)
            faults.plan, faults.others = planned.plan, planned.others
            faults.hang_seconds = planned.hang_seconds
            faults.posts.clear()
            run(page, services, faults, draw, given.keys, given.every_ms)
        context.close()
        engine.dispose()


def run(
    page: Page,
    services: Services,
    faults: Faults,
    draw: random.Random,
    n: int,
    every_ms: int,
) -> None:
    """Press the keys among faults, wait until all is sent, and print what became of them."""
    offline = {n // 3, 2 * n // 3}
    back_at = 0.0
    told = 0
    keys = []
    began = time.monotonic()
    for key in press(page, n, every_ms, draw):
        keys.append(key)
        if len(keys) in offline:
            page.context.set_offline(True)
            back_at = time.monotonic() + _OFFLINE_SECONDS
        if back_at and time.monotonic() > back_at:
            page.context.set_offline(False)
            back_at = 0.0
        if len(keys) % 25 == 0:
            colleague_decides(services, draw)
            told += _take_told(page)
    pressed = time.monotonic() - began
    page.context.set_offline(False)
    while time.monotonic() - began < _ENDS_SECONDS:
        told += _take_told(page)
        done = len(set(faults.posts)) >= n
        if done and not page.evaluate(_IS_SENDING):
            break
        page.wait_for_timeout(200)
    page.wait_for_timeout(1_000)
    told += _take_told(page)
    found = reconcile(keys, faults, services, told)
    print(f"{n} keys in {pressed:.0f} s, all answered after {time.monotonic() - began:.0f} s:")
    print(", ".join(f"{name} {number:,}" for name, number in found.items()))


def _take_told(page: Page) -> int:
    """Return how many refusals the page tells by now, and take them off it."""
    count: int = page.evaluate(
        "(() => { const told = document.querySelectorAll('.refused .conflict');"
        " told.forEach((one) => one.remove()); return told.length; })()"
    )
    return count


if __name__ == "__main__":
    main()
