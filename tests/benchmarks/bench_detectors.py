"""Measures what all detectors cost a comment, on real lengths and on hostile texts."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

from service.domain.comment import Comment
from service.domain.dataset_row import comment_from_row
from service.domain.history import History
from service.signals.registry import DETECTORS, detect_all
from tests.factories import make_comment

DATA = Path(__file__).parents[2] / "data"
_LENGTHS = ((0, 150), (150, 300), (300, 600), (600, 65_536))
_SIZES = (65_536, 262_144, 1_048_576)
_PIECES = (
    "a",
    "a.",
    "a@",
    "[a](",
    "<a href=",
    "http://a.bet/)",
    "1 ",
    "buy now! ",
    "网址。",
    "\u200b",
)


def _microseconds(comment: Comment) -> float:
    # Processor time: what other programs do meanwhile does not count.
    start = time.thread_time_ns()
    detect_all(comment, History())
    return (time.thread_time_ns() - start) / 1_000


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _authored() -> list[Comment]:
    paths = sorted(DATA.glob("authored-*.jsonl"))
    lines = (line for path in paths for line in path.read_text().splitlines())
    return [comment_from_row(json.loads(line)) for line in lines]


def main() -> None:
    """Print microseconds a comment by length, then seconds on repeated worst cases by size."""
    comments = _authored()
    for comment in comments[:200]:
        detect_all(comment, History())
    print(f"{len(DETECTORS)} detectors on {len(comments)} comments, microseconds each")
    print(f"{'chars':>12} {'n':>6} {'mean':>8} {'p50':>8} {'p99':>8}")
    for least, most in _LENGTHS:
        times = [_microseconds(c) for c in comments if least <= len(c.text) < most]
        row = (statistics.mean(times), _percentile(times, 0.5), _percentile(times, 0.99))
        print(f"{least:>5}-{most:<6} {len(times):>6} " + " ".join(f"{t:8.0f}" for t in row))
    print("\nworst cases, seconds for all detectors together")
    print(f"{'piece':>16} " + " ".join(f"{size // 1024:>6} KiB" for size in _SIZES))
    for piece in _PIECES:
        texts = [(piece * (size // len(piece) + 1))[:size] for size in _SIZES]
        seconds = [_microseconds(make_comment(text)) / 1e6 for text in texts]
        print(f"{piece!r:>16} " + " ".join(f"{s:10.2f}" for s in seconds))


if __name__ == "__main__":
    main()
