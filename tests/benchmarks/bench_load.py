"""Floods a Slopsieve of its own with comment-checks, and counts what comes back.

`python -m tests.benchmarks.bench_load --flood 3 10` measures how many verdicts a second the service
gives to clients that each wait for one (its capacity), then offers 3 and 10 times as many by
clients that repeat what got no verdict, each time followed by 0.8 times the capacity. A metastable
failure would go on then (Bronson et al. 2021). Every request comes at its appointed moment, whether
or not earlier ones are answered, and its latency counts from that moment. A flood comes from
several processes, as one alone would be late itself.
"""

import argparse
import asyncio
import itertools
import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from service.moderation.sites import add_site, issue_key
from service.stores.sql import create_engine
from service.wiring import open_services
from tests.benchmarks.faults import wait_until_quiet
from tests.benchmarks.own_service import authored, cpu_seconds, pss_mb, running

# A site key may call 6,000 times a minute; a flood comes to many sites.
_SITES = 50
# The processes of a flood, and the time in which they start.
_PROCESSES, _START_SECONDS = 3, 5.0
_ANSWER_SECONDS = 15.0
_VERDICTS = (b"true", b"false")
# How often a client of a flood repeats a request, and after how many seconds.
_REPEATS, _REPEAT_SECONDS = 4, (1.0, 3.0)
_WINDOW_SECONDS = 5.0
_WARM_RATE, _WARM_SECONDS = 40.0, 5.0
_CAPACITY_CLIENTS, _CAPACITY_SECONDS = 16, 20.0
# A client that is refused at once sends no more than ten requests a second.
_LEAST_SECONDS = 0.1
_AFTERWARDS = 0.8


@dataclass(slots=True)
class Figures:
    """What came back."""

    bodies: Counter[bytes] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    # When each verdict came, in seconds since the first request, and how long its request took.
    verdicts: list[tuple[float, float]] = field(default_factory=list)
    # When the last response came.
    ended: float = 0.0

    def add(self, other: "Figures") -> None:
        """Count what came back elsewhere too."""
        self.bodies += other.bodies
        self.wrong += other.wrong
        self.verdicts += other.verdicts
        self.ended = max(self.ended, other.ended)


def main() -> None:
    """Run the load and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--flood", type=float, nargs="+", default=[3.0, 10.0], help="so many times the capacity"
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="of a flood, and after it")
    given = parser.parse_args()
    with running() as up:
        url, keys = up["url"], add_sites(up)
        requests = make_requests(url, keys)
        database = create_engine(f"sqlite:///{up['data_dir']}/slopsieve.db")
        asyncio.run(offer(url, requests, rate=_WARM_RATE, seconds=_WARM_SECONDS))
        capacity = asyncio.run(_capacity(url, requests))
        print(f"capacity {capacity:.0f} verdicts/s")
        for times in given.flood:
            print(f"{times:g} times the capacity")
            before = cpu_seconds(up["pid"])
            asyncio.run(_flood(url, keys, capacity, times, given.seconds))
            after = cpu_seconds(up["pid"])
            used = {name: round(after[pid, name] - before[pid, name]) for pid, name in after}
            memory = {name: round(pss_mb(pid)) for pid, name in after}
            print(f"  processor seconds: {used}; memory in MB: {memory}")
            judged = wait_until_quiet(database, seconds=300.0, sent=False)
            print(f"  all judged after {judged} s", flush=True)


def add_sites(up: Mapping[str, Any]) -> list[str]:
    """Add the sites that the requests come to; return their Akismet keys."""
    with open_services(data_dir=up["data_dir"]) as services:
        sites = [add_site(f"load {n}", services, actor="load")[0] for n in range(_SITES)]
        return [issue_key(s.id, services, actor="load", is_akismet=True).secret for s in sites]


def make_requests(url: str, keys: Sequence[str]) -> Iterator[bytes]:
    """Return requests as WordPress sends them, with authored texts.

    Each text ends in a number of its own: what repeats is remembered and costs next to nothing.
    """
    rows = authored()
    return (
        _request(url, keys[n % _SITES], rows[n % len(rows)], random.randrange(10**12))
        for n in itertools.count(random.randrange(len(rows)))
    )


def _request(url: str, key: str, row: Mapping[str, Any], number: int) -> bytes:
    text = f"{row['text']} {number}".replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
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
    print(f"for the capacity: {dict(figures.bodies.most_common(4))}, wrong {dict(figures.wrong)}")
    return len(figures.verdicts) / _CAPACITY_SECONDS


async def _flood(
    url: str, keys: Sequence[str], capacity: float, times: float, seconds: float
) -> None:
    """Flood, go on below the capacity at once, and print both by windows."""
    began = time.monotonic() + _START_SECONDS
    with ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn")) as pool:
        rate = capacity * times / _PROCESSES
        parts = [
            pool.submit(_offer_part, url, keys, rate, seconds, began) for _ in range(_PROCESSES)
        ]
        await asyncio.sleep(began + seconds - time.monotonic())
        after = await offer(
            url, make_requests(url, keys), rate=capacity * _AFTERWARDS, seconds=seconds
        )
        flood = Figures()
        for part in parts:
            flood.add(part.result())
    for name, figures in (("flood", flood), ("after it", after)):
        print(f"  {name}: {dict(figures.bodies.most_common(4))}, wrong {dict(figures.wrong)}")
        print(f"    last response after {figures.ended:.0f} s")
        for start in range(0, round(seconds), round(_WINDOW_SECONDS)):
            took = [s for at, s in figures.verdicts if 0 <= at - start < _WINDOW_SECONDS]
            rate = len(took) / _WINDOW_SECONDS
            print(f"    {start:3d} s: verdicts {rate:6.1f}/s, p99 {p99(took):.2f} s")


def _offer_part(
    url: str, keys: Sequence[str], rate: float, seconds: float, began: float
) -> Figures:
    """Offer a process's part of a flood from `began` on, by the machine's monotonic clock."""
    requests = make_requests(url, keys)
    return asyncio.run(
        offer(url, requests, rate=rate, seconds=seconds, repeats=_REPEATS, began=began)
    )


def p99(seconds: list[float]) -> float:
    """Return the 99th percentile, or NaN without values."""
    return sorted(seconds)[int(0.99 * len(seconds))] if seconds else float("nan")


async def offer(
    url: str,
    requests: Iterator[bytes],
    *,
    rate: float,
    seconds: float,
    repeats: int = 0,
    figures: Figures | None = None,
    began: float | None = None,
) -> Figures:
    """Offer the next requests at that rate; return what came back, in `figures` if given.

    The first comes at `began` of the monotonic clock, or now. A request without a verdict is
    repeated at most `repeats` times.
    """
    figures = figures or Figures()
    began = time.monotonic() if began is None else began
    tasks = []
    for number in range(round(rate * seconds)):
        due = began + number / rate
        if (ahead := due - time.monotonic()) > 0:
            await asyncio.sleep(ahead)
        tasks.append(
            asyncio.create_task(_insist(url, next(requests), due, began, repeats, figures))
        )
    await asyncio.gather(*tasks)
    figures.ended = time.monotonic() - began
    return figures


async def _insist(
    url: str, request: bytes, due: float, began: float, repeats: int, figures: Figures
) -> None:
    for attempt in range(repeats + 1):
        if attempt:
            await asyncio.sleep(random.uniform(*_REPEAT_SECONDS))
            due = time.monotonic()
        if await _ask(url, request, figures):
            figures.verdicts.append((time.monotonic() - began, time.monotonic() - due))
            return


async def _ask(url: str, request: bytes, figures: Figures) -> bool:
    """Ask once; return True if the answer is a verdict."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            answer = await _exchange(url, request)
    except (OSError, TimeoutError) as error:
        figures.wrong[type(error).__name__] += 1
        return False
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    headers = dict(line.split(b": ", 1) for line in lines[1:])
    later = b"x-akismet-recheck-after" in headers
    figures.bodies[body[:60] + later * b", verdict later"] += 1
    if b" 200 " not in lines[0] or body not in _VERDICTS:
        figures.wrong[f"{lines[0][:20].decode()} {body[:60]!r}"] += 1
    return body in _VERDICTS and not later


async def _exchange(url: str, request: bytes) -> bytes:
    parts = urlsplit(url)
    # One address has too few ports for thousands of connections a second.
    source = f"127.0.0.{1 + os.getpid() % 250}"
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port, local_addr=(source, 0)
    )
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()


if __name__ == "__main__":
    main()
