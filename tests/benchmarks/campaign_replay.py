"""Replays spam campaigns among ham over HTTP, and counts what one rejection each is worth.

`python -m tests.benchmarks.campaign_replay [--ham FILE ...] --out FILE.md` starts a Slopsieve on a
scratch folder and posts the authored campaigns, comment by comment, among authored ham and that
of the files. The first member of each campaign is rejected through the API as soon as it is judged
and a share of ham is approved; a second Slopsieve gets the same stream and no decision. Writes
the page and, beside it, FILE.json. With the default counts it takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from service.domain.verdict import Outcome
from tests.benchmarks.flood import Api, read_lines
from tests.benchmarks.judging_model import current_folder
from tests.benchmarks.own_service import running
from tests.benchmarks.posting import post_and_decide
from tests.benchmarks.replay_report import Judged, to_markdown, to_record
from tests.benchmarks.replay_stream import Posted, StreamConfig, make_stream
from training.data.dataset import find_data_files, read_dataset
from training.data.partition import TEST_SOURCES, partition

_DATA = Path(__file__).resolve().parents[2] / "data"
_PROGRESS = 200


def main() -> None:
    """Run both replays and write what they showed."""
    given = _arguments()
    config = StreamConfig(
        seed=given.seed,
        n_ham=given.ham_count,
        approved_share=given.approved_share,
        same_address_share=given.same_address,
        same_network_share=given.same_network,
        addresses_as_written=given.addresses_as_written,
        names_for_readers=given.names_for_readers,
    )
    began = time.monotonic()
    stream = _stream(given.ham, config, test_only=given.split == "test")
    decided = replay(stream)
    undecided = replay([replace(posted, ruling=None) for posted in stream])
    record = to_record(
        stream,
        decided=decided,
        undecided=undecided,
        test_only=given.split == "test",
        version=current_folder().name,
        posted=len(stream),
        decisions=dict(Counter(p.ruling.value for p in stream if p.ruling)),
        seconds=round(time.monotonic() - began, 1),
        **asdict(config),
    )
    page = to_markdown(record)
    print(page)
    if given.out:
        given.out.write_text(page)
        given.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    knobs = StreamConfig()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ham", nargs="*", type=Path, default=[], help="JSONL or JSONL.gz")
    parser.add_argument("--split", choices=["all", "test"], default="all")
    parser.add_argument("--out", type=Path, help="a Markdown file")
    parser.add_argument("--seed", type=int, default=knobs.seed)
    parser.add_argument("--ham-count", type=int, default=knobs.n_ham, help="authored, and of files")
    parser.add_argument("--approved-share", type=float, default=knobs.approved_share)
    parser.add_argument("--same-address", type=float, default=knobs.same_address_share)
    parser.add_argument("--same-network", type=float, default=knobs.same_network_share)
    parser.add_argument(
        "--addresses-as-written", action="store_true", help="three networks for all"
    )
    parser.add_argument("--names-for-readers", action="store_true", help="for ham of the files")
    return parser.parse_args()


def _stream(files: Sequence[Path], config: StreamConfig, *, test_only: bool) -> list[Posted]:
    paths = sorted(_DATA.glob("authored-*.jsonl"))
    authored, real = list(read_lines(paths)), list(read_lines(files))
    # Which authored comments are for test depends on nothing that is read beside them.
    parts = partition(read_dataset(find_data_files(paths)), seed=_partition_seed())
    test_ids = {example.comment.id for example in parts.test}
    test_ids |= {row["id"] for row in real if row.get("source") in TEST_SOURCES}
    if test_only:
        authored = [row for row in authored if row["id"] in test_ids or row["label"] == "ham"]
    return make_stream(authored, real, test_ids=test_ids, config=config)


def _partition_seed() -> int:
    """Return the seed under which the version that serves was trained and tested."""
    card = json.loads((current_folder() / "card.json").read_text())
    return int(card["config"]["seed"])


def replay(stream: Sequence[Posted]) -> dict[str, Judged]:
    """Post a stream to a Slopsieve of its own, in order, and return the verdict of each id.

    Each comment is judged, and what is to be decided on it decided, before the next one is sent.
    """
    with (
        tempfile.TemporaryDirectory(prefix="slopsieve-replay-") as folder,
        running(folder) as up,
    ):
        api = Api(up["url"], up["site_key"])
        verdicts = {}
        for number, posted in enumerate(stream, start=1):
            verdicts[posted.id] = _judged(post_and_decide(api, posted.body, posted.ruling))
            if number % _PROGRESS == 0:
                print(f"posted {number} of {len(stream)}", file=sys.stderr)
    return verdicts


def _judged(verdict: dict[str, Any]) -> Judged:
    return Judged(
        outcome=Outcome(verdict["outcome"]),
        p_spam=verdict["p_spam"],
        degraded=verdict["degraded"],
    )


if __name__ == "__main__":
    main()
