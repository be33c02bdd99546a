"""Offers comment-checks at a steady rate to a Slopsieve of its own, and counts what comes back.

`python -m tests.benchmarks.bench_load --rate 200 --seconds 60`. Every request comes at its
appointed moment, whether or not earlier ones are answered, and its latency counts from that
moment: what waits in line is not left out.

`--flood 3 10` measures how many verdicts a second the service gives to clients that each wait for
one (its capacity), then offers 3 and 10 times as many by clients that repeat what got no verdict,
each time followed by 0.8 times the capacity. A metastable failure would go on then (Bronson et al.
2021). The service has the first half of the processor cores, the clients have the others.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from service.domain.case import CaseFilter
from service.moderation.sites import add_site, issue_akismet_key
from service.wiring import open_services
from tests.benchmarks.own_service import cpu_seconds, data_dir, family, name_of, pss_mb, running

_DATA = Path(__file__).resolve().parents[2] / "data"
# A site key may call 6,000 times a minute; a flood comes to many sites.
_SITES = 50
_ANSWER_SECONDS = 15.0
# A provisional answer sooner than this did not wait for a verdict: the comment was shed.
_SHED_SECONDS = 0.4
_JUDGED_SECONDS = 300.0
_VERDICTS = (b"true", b"false")
# How often a client of a flood repeats a request, and after how many seconds.
_REPEATS, _REPEAT_SECONDS = 4, (1.0, 3.0)
_WINDOW_SECONDS = 5.0
_CAPACITY_CLIENTS, _CAPACITY_SECONDS = 16, 20.0
# A client that is refused at once sends no more than ten requests a second.
_LEAST_SECONDS = 0.1
_AFTERWARDS = 0.8


@dataclass(slots=True)
class Figures:
    """What came back."""

    seconds: list[float] = field(default_factory=list)
    bodies: Counter[bytes] = field(default_factory=Counter)
    guids: set[bytes] = field(default_factory=set)
    rechecks: int = 0
    shed: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    # When each verdict came, in seconds since the first request, and how long its request took.
    verdicts: list[tuple[float, float]] = field(default_factory=list)


def main() -> None:
    """Run the load and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200.0, help="checks a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--warm-up", type=float, default=5.0, help="seconds that are not counted")
    parser.add_argument("--flood", type=float, nargs="+", help="so many times the capacity")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slopsieve-load-") as folder, running(folder) as up:
        url = up["url"]
        requests = make_requests(url, site_keys(folder))
        warm = asyncio.run(offer(url, requests, rate=given.rate, seconds=given.warm_up))
        if given.flood:
            capacity = asyncio.run(_capacity(url, requests))
            print(f"capacity {capacity:.0f} verdicts/s")
            for times in given.flood:
                print(f"{times:g} times the capacity")
                used = _cpu(up["pid"])
                asyncio.run(_flood(url, requests, capacity, times, given.seconds))
                memory = {name_of(pid): round(pss_mb(pid)) for pid in family(up["pid"])}
                print(f"  processor seconds: {_cpu(up['pid']) - used}; memory in MB: {memory}")
                print(f"  {_wait_until_judged(folder)}", flush=True)
            return
        before = os.getloadavg()[0]
        began = time.monotonic()
        figures = asyncio.run(offer(url, requests, rate=given.rate, seconds=given.seconds))
        took = time.monotonic() - began
        load = (before, os.getloadavg()[0])
        afterwards = _wait_until_judged(folder)
        answered = len(warm.seconds) + len(figures.seconds)
    _print(figures, rate=given.rate, took=took, load=load)
    print(f"  {afterwards}, answers to them: {answered}")


def site_keys(folder: str) -> list[str]:
    """Return Akismet keys of new sites."""
    with open_services(data_dir=data_dir(folder)) as services:
        sites = [add_site(f"load {n}", services, actor="load")[0] for n in range(_SITES)]
        return [issue_akismet_key(site.id, services, actor="load").secret for site in sites]


def _cpu(root: int) -> Counter[str]:
    return Counter({name_of(pid): round(cpu_seconds(pid)) for pid in family(root)})


def make_requests(url: str, keys: Sequence[str]) -> Iterator[bytes]:
    """Yield requests as WordPress sends them, with texts of the authored corpus, shuffled.

    Each text ends in a number of its own: what repeats is remembered and costs next to nothing.
    """
    rows = [
        json.loads(line) for path in sorted(_DATA.glob("authored-*.jsonl")) for line in path.open()
    ]
    random.Random(20).shuffle(rows)
    for n in itertools.count():
        row = rows[n % len(rows)]
        yield _request(url, keys[n % len(keys)], row | {"text": f"{row['text']} {n}"})


def _request(url: str, key: str, row: Mapping[str, Any]) -> bytes:
    text = row["text"].replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    fields = {
        "comment_author": row["author_name"] or "",
        "comment_author_email": row["author_email"] or "",
        "comment_author_url": row["author_url"] or "",
        "comment_content": text,
        "comment_type": "comment",
        "user_ip": row["user_ip"] or "",
        "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        "referrer": "https://blog.example/",
        "blog": "https://blog.example/",
        "blog_lang": "en_US",
        "blog_charset": "UTF-8",
        "permalink": f"https://blog.example/?p={row['post_id']}",
        "POST_comment": text,
        "callback": "https://blog.example/wp-json/akismet/v1/webhook",
        "api_key": key,
    }
    body = urlencode(fields).encode()
    head = (
        "POST /1.1/comment-check HTTP/1.1\r\n"
        f"Host: {urlsplit(url).netloc}\r\n"
        "User-Agent: WordPress/6.1.9 | Akismet/5.7.2\r\n"
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _wait_until_judged(folder: str) -> str:
    """Wait until nothing is unjudged and say what is kept."""
    began = time.monotonic()
    with open_services(data_dir=data_dir(folder)) as services:
        unjudged = sum(services.comments.count_pending().values())
        at_end = unjudged
        while unjudged and time.monotonic() < began + _JUDGED_SECONDS:
            time.sleep(0.5)
            unjudged = sum(services.comments.count_pending().values())
        kept = services.cases.count(CaseFilter())
    took = time.monotonic() - began
    return f"unjudged at the end: {at_end}, {took:.1f} s later: {unjudged}; comments kept: {kept}"


async def _capacity(url: str, requests: Iterator[bytes]) -> float:
    """Return the verdicts a second that clients get which send the next request after each."""
    figures = Figures()
    ends = time.monotonic() + _CAPACITY_SECONDS

    async def client() -> None:
        while time.monotonic() < ends:
            due = time.monotonic()
            await _insist(url, next(requests), due, 0.0, 0, figures)
            await asyncio.sleep(max(0.0, due + _LEAST_SECONDS - time.monotonic()))

    await asyncio.gather(*(client() for _ in range(_CAPACITY_CLIENTS)))
    print(dict(figures.bodies), dict(figures.wrong), len(figures.seconds))
    return len(figures.verdicts) / _CAPACITY_SECONDS


async def _flood(
    url: str, requests: Iterator[bytes], capacity: float, times: float, seconds: float
) -> None:
    """Flood, go on below the capacity at once, and print both by windows."""
    flood = asyncio.create_task(
        offer(url, requests, rate=capacity * times, seconds=seconds, repeats=_REPEATS)
    )
    await asyncio.sleep(seconds)
    after = await offer(url, requests, rate=capacity * _AFTERWARDS, seconds=seconds)
    for name, figures in (("flood", await flood), ("after it", after)):
        print(f"  {name}: {len(figures.seconds)} answers, {dict(figures.bodies.most_common(4))}")
        print(f"    wrong {dict(figures.wrong)}")
        for start in range(0, round(seconds), round(_WINDOW_SECONDS)):
            took = [s for at, s in figures.verdicts if 0 <= at - start < _WINDOW_SECONDS]
            p99 = sorted(took)[int(0.99 * len(took))] if took else float("nan")
            print(
                f"    {start:3d} s: verdicts {len(took) / _WINDOW_SECONDS:6.1f}/s, p99 {p99:.2f} s"
            )


async def offer(
    url: str,
    requests: Iterator[bytes],
    *,
    rate: float,
    seconds: float,
    repeats: int = 0,
    figures: Figures | None = None,
) -> Figures:
    """Offer the next requests at that rate; return what came back, in `figures` if given.

    A request without a verdict is repeated at most `repeats` times.
    """
    figures = figures or Figures()
    began = time.monotonic()
    tasks = []
    for number in range(round(rate * seconds)):
        due = began + number / rate
        if (ahead := due - time.monotonic()) > 0:
            await asyncio.sleep(ahead)
        tasks.append(
            asyncio.create_task(_insist(url, next(requests), due, began, repeats, figures))
        )
    await asyncio.gather(*tasks)
    return figures


async def _insist(
    url: str, request: bytes, due: float, began: float, repeats: int, figures: Figures
) -> None:
    for attempt in range(repeats + 1):
        if attempt:
            await asyncio.sleep(random.uniform(*_REPEAT_SECONDS))
            due = time.monotonic()
        if await _ask(url, request, due, figures):
            figures.verdicts.append((time.monotonic() - began, time.monotonic() - due))
            return


async def _ask(url: str, request: bytes, due: float, figures: Figures) -> bool:
    """Ask once; return True if the answer is a verdict."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            answer = await _exchange(url, request)
    except (OSError, TimeoutError) as error:
        figures.wrong[type(error).__name__] += 1
        return False
    seconds = time.monotonic() - due
    figures.seconds.append(seconds)
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    headers = dict(line.split(b": ", 1) for line in lines[1:])
    figures.bodies[body[:60]] += 1
    if b"x-akismet-recheck-after" in headers:
        figures.rechecks += 1
        figures.shed += seconds < _SHED_SECONDS
    guid = headers.get(b"x-akismet-guid", b"")
    if b" 200 " not in lines[0] or body not in _VERDICTS:
        figures.wrong[f"{lines[0][:20].decode()} {body[:60]!r}"] += 1
    elif not guid or guid in figures.guids:
        figures.wrong["no guid of its own"] += 1
    figures.guids.add(guid)
    return body in _VERDICTS and b"x-akismet-recheck-after" not in headers


async def _exchange(url: str, request: bytes) -> bytes:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()


def _print(figures: Figures, *, rate: float, took: float, load: tuple[float, float]) -> None:
    ordered = sorted(figures.seconds)
    count = len(ordered)
    print(f"offered {rate:.0f}/s, answered {count} in {took:.1f} s ({count / took:.0f}/s)")
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    for name, share in shares.items():
        at = ordered[min(count - 1, int(share * count))]
        print(f"  {name:<6} {at * 1000:8.1f} ms")
    said = {body.decode("utf-8", "replace"): n for body, n in figures.bodies.most_common(5)}
    print(f"  bodies {said}; with recheck-after: {figures.rechecks}")
    print(f"    of these within {_SHED_SECONDS} s: {figures.shed}")
    print(f"  wrong bodies: {sum(figures.wrong.values())} {dict(figures.wrong)}")
    print(f"  load average {load[0]:.2f} before, {load[1]:.2f} after, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
