"""Sends comments to a service at a steady rate over HTTP, each waiting for its verdict."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_DATA = Path(__file__).resolve().parents[2] / "data"
_WAIT_SECONDS = 15
_THREADS = 64

Check = Callable[[Mapping[str, Any]], str | None]
"""Says what is wrong with a verdict, None for nothing."""


@dataclass(slots=True)
class Seen:
    """What came back, and what was wrong with it. `ids` are the comments answered for."""

    by_version: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def print(self) -> None:
        """Print it in three lines."""
        ordered = sorted(self.milliseconds)
        p50, p99 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.99))
        print(f"  verdicts by version: {dict(self.by_version)}")
        print(f"  wrong: {dict(self.wrong) or 'none'}")
        print(f"  p50 {p50:.0f} ms, p99 {p99:.0f} ms, longest {ordered[-1]:.0f} ms")


@contextmanager
def offering(url: str, key: str, *, rate: float, seconds: float, check: Check) -> Iterator[Seen]:
    """Offer `rate` comments a second while the block runs; its end waits for the last answer.

    Every request comes at its appointed moment on a connection of its own, whether or not earlier
    ones are answered, and its time counts from that moment. The texts are authored ones, each with
    a number of its own.
    """
    texts = [
        json.loads(line)["text"]
        for path in sorted(_DATA.glob("authored-*.jsonl"))
        for line in path.open(encoding="utf-8")
    ]
    random.Random(3).shuffle(texts)
    seen = Seen()
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        begins = time.monotonic() + 1.0
        for n in range(round(rate * seconds)):
            text = f"{texts[n % len(texts)]} {n}"
            pool.submit(_ask, url, key, text, begins + n / rate, check, seen)
        yield seen


def _ask(url: str, key: str, text: str, at: float, check: Check, seen: Seen) -> None:
    """Send one comment at its moment, wait for its verdict, and note what came."""
    time.sleep(max(0.0, at - time.monotonic()))
    try:
        status, body = _post(url, key, text)
    except (OSError, http.client.HTTPException) as error:
        status, body = 0, {"problem": f"no answer ({type(error).__name__})"}
    except ValueError:
        # A proxy speaks for a service that it cannot reach.
        status, body = 0, {"problem": "an answer that is not ours"}
    verdict = body.get("verdict") if status == http.client.ACCEPTED else None
    problem = check(verdict) if verdict else body.get("problem") or f"{status} without a verdict"
    with seen.lock:
        seen.milliseconds.append((time.monotonic() - at) * 1000)
        if verdict:
            seen.by_version[verdict["model_version"]] += 1
            seen.ids.append(body["id"])
        if problem:
            seen.wrong[problem] += 1


def _post(url: str, key: str, text: str) -> tuple[int, Mapping[str, Any]]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_WAIT_SECONDS + 10)
    try:
        connection.request(
            "POST",
            f"/v1/comments?wait={_WAIT_SECONDS}",
            body=json.dumps({"text": text}),
            headers={
                "Authorization": f"Bearer {key}",
                "Content-Type": "application/json",
                "Connection": "close",
            },
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()
