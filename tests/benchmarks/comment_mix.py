"""Makes the comments that the scoring benchmarks read: a sample, and the same with near-copies."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

COPIED_SHARE = 0.3
_AUTHORED = Path(__file__).resolve().parents[2] / "data"
_ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
# A link up to the end of its path, with at least a slash after its host.
_LINK = re.compile(r"(?P<host>https?://[^\s/<>\"']{1,200})/[^\s<>\"']{0,2000}", re.IGNORECASE)
_WORD = re.compile(r"\w{4,40}")
_PATH_LETTERS = "bcdfghklmnprstvz"


def sample_records(count: int, *, data: Path | None = None, seed: int = 7) -> list[Record]:
    """Return a seeded sample of the authored comments, or of another file of the data card's keys.

    Raise `ValueError` if the file holds fewer comments than asked for.
    """
    paths = [data] if data else sorted(_AUTHORED.glob("authored-*.jsonl"))
    rows = [row for path in paths for row in _read(path) if row.get("id") and row.get("text")]
    if len(rows) < count:
        msg = f"{count} comments asked for, the data hold {len(rows)}: lower --comments"
        raise ValueError(msg)
    return random.Random(seed).sample(rows, count)


def with_near_copies(records: Sequence[Record], *, seed: int = 7) -> list[Record]:
    """Return as many comments, of which `COPIED_SHARE` are near-copies of an earlier one.

    A near-copy keeps everything of a comment that is no copy itself (the post, the author, the
    words) and changes one of four things, drawn evenly from those that change anything: the case
    of all letters, the spaces between words (doubled), a zero-width space inside each word of
    four letters or more, or the path of each link, which becomes another word.
    """
    rng = random.Random(seed)
    copied = set(rng.sample(range(1, len(records)), int(COPIED_SHARE * len(records))))
    mixed: list[Record] = []
    originals: list[Record] = []
    for place, record in enumerate(records):
        if place in copied:
            earlier = rng.choice(originals)
            mixed.append({**earlier, "id": f"copy-{place}", "text": _vary(earlier["text"], rng)})
        else:
            mixed.append(record)
            originals.append(record)
    return mixed


def _read(path: Path) -> list[Record]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [json.loads(line) for line in text.splitlines()]


def _vary(text: str, rng: random.Random) -> str:
    ways: list[Callable[[str, random.Random], str]] = [_other_case, _other_spaces, _invisible]
    if _LINK.search(text):
        ways.append(_other_path)
    rng.shuffle(ways)
    varied = (way(text, rng) for way in ways)
    return next((other for other in varied if other != text), text)


def _other_case(text: str, _: random.Random) -> str:
    return text.lower() if text.upper() == text else text.upper()


def _other_spaces(text: str, _: random.Random) -> str:
    return text.replace(" ", "  ")


def _invisible(text: str, _: random.Random) -> str:
    return _WORD.sub(lambda word: f"{word[0][:2]}{_ZERO_WIDTH_SPACE}{word[0][2:]}", text)


def _other_path(text: str, rng: random.Random) -> str:
    return _LINK.sub(
        lambda link: f"{link['host']}/{''.join(rng.choices(_PATH_LETTERS, k=8))}", text
    )
