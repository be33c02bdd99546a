"""Measures what learning at once is worth to blogs in order of time, over frozen scores.

    python -m tests.benchmarks.learning_streams --scores frozen.jsonl --data DIR

The scores are a line a comment, `{"id", "log_odds"}`, best of a version that learnt nothing from
the comment's blog. Every blog of the data folder with dates and enough of both labels is a site of
one installation; their comments come interleaved by date, through the code of `slopsieve replay`.
The owner decides what is left unsure and the audit sample. The first tenth of each blog is played
and not counted. Nothing here chooses a knob.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.comment import SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.verdict import Outcome, Verdict
from service.moderation.replay import (
    Archived,
    Played,
    moment_of,
    play,
)
from service.scoring.conclude import decide, logistic
from service.scoring.metrics import recall_at_false_positive_rate, roc_auc
from service.scoring.weights import Cutoffs
from service.settings import load_settings
from training.data.dataset import find_data_files

# Collections from platforms: they have dates and labels, and are nobody's blog.
_NO_BLOGS = {"janitr-x", "judol-id", "youtube"}
_LEAST_OF_EACH = 5
_NOT_COUNTED = 0.1
# It only decides which features share a slot.
_SALT = 20_260


def main() -> int:
    """Play all blogs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    began = time.monotonic()
    version = load_version(SHIPPED_DIR / read_current_name())
    cutoffs = Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff)
    log_odds = {row["id"]: row["log_odds"] for row in read_rows(options.scores)}
    # As the command does: by date, then by id.
    archive = sorted(
        read_blogs(options.data, log_odds), key=lambda one: (moment_of(one), one.comment.id)
    )
    judged = ((one, verdict_of(one, log_odds[one.comment.id], cutoffs)) for one in archive)
    share = load_settings().audit_share
    streams: dict[str, list[Played]] = defaultdict(list)
    for played in play(judged, cutoffs, decides_all=False, audit_share=share, salt=_SALT):
        streams[played.archived.comment.site_id].append(played)
    blogs = {
        name: measure(stream)
        for name, stream in sorted(streams.items(), key=lambda item: -len(item[1]))
    }
    print(f"{version.version}; {time.monotonic() - began:.0f} s\n")
    print(
        "| blog (comments, decisions) | ROC AUC | recall at 0.1 % | unsure | ham called spam "
        "| spam called ham |\n|---|---|---|---|---|---|"
    )
    for name, blog in (*blogs.items(), ("all together", sum_up(list(blogs.values())))):
        print(_row(name, blog))
    return 0


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one data file."""
    with gzip.open(path, "rt") if path.name.endswith(".gz") else path.open() as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_blogs(data: Sequence[Path], scores: Mapping[str, float]) -> Iterator[Archived]:
    """Yield the comments of all blogs that have a score."""
    for path in find_data_files(data):
        rows = [row for row in read_rows(path) if row["label"] and row.get("date")]
        labels = Counter(row["label"] for row in rows)
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        if min(labels["spam"], labels["ham"]) < _LEAST_OF_EACH or name in _NO_BLOGS:
            continue
        for row in rows:
            if row["id"] in scores:
                comment = replace(comment_from_row(row), site_id=SiteId(name))
                yield Archived(comment=comment, is_spam=row["label"] == "spam")


def verdict_of(archived: Archived, log_odds: float, cutoffs: Cutoffs) -> Verdict:
    """Return the verdict of a version that gives a comment these log-odds, and says no more."""
    p_spam = logistic(log_odds)
    return Verdict(
        comment_id=archived.comment.id,
        outcome=decide(p_spam, cutoffs, degraded=False),
        p_spam=p_spam,
        score=log_odds,
        base=0.0,
        model_p_spam=p_spam,
        model_contribution=log_odds,
        signals=(),
        promo_spans=(),
        model_version="frozen",
        ham_cutoff=cutoffs.ham_cutoff,
        spam_cutoff=cutoffs.spam_cutoff,
        judged_at=moment_of(archived),
    )


def measure(stream: Sequence[Played]) -> dict[str, Any]:
    """Return one blog's figures, each by the version alone and with learning."""
    counted = stream[int(len(stream) * _NOT_COUNTED) :]
    is_spam = np.array([one.archived.is_spam for one in counted])
    figures: dict[str, Any] = {
        "comments": len(stream),
        "asked": sum(one.asked for one in stream),
        "counted": len(counted),
        "spam": int(is_spam.sum()),
    }
    for way in ("frozen", "learning"):
        verdicts = [getattr(one, way) for one in counted]
        scores = np.array([verdict.score for verdict in verdicts])
        outcomes = Counter(zip(is_spam.tolist(), (v.outcome for v in verdicts), strict=True))
        point = recall_at_false_positive_rate(is_spam, scores, max_false_positive_rate=0.001)
        figures[way] = {
            "roc_auc": roc_auc(is_spam, scores),
            "recall": point.recall,
            "unsure": outcomes[False, Outcome.UNSURE] + outcomes[True, Outcome.UNSURE],
            "ham_called_spam": outcomes[False, Outcome.SPAM],
            "spam_called_ham": outcomes[True, Outcome.HAM],
        }
    return figures


def sum_up(blogs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of all blogs: counts added up, ranks as means over the blogs."""
    counts = ("comments", "asked", "counted", "spam")
    total: dict[str, Any] = {key: sum(blog[key] for blog in blogs) for key in counts}
    for way in ("frozen", "learning"):
        total[way] = {
            key: (np.mean if key in ("roc_auc", "recall") else sum)([b[way][key] for b in blogs])
            for key in blogs[0][way]
        }
    return total


def _row(name: str, blog: Mapping[str, Any]) -> str:
    cells = [
        f"{name} ({blog['comments']:,}, {blog['asked']:,})",
        _pair(blog, "roc_auc", "{:.3f}"),
        _pair(blog, "recall", "{:.2f}"),
        _pair(blog, "unsure", "{:.1f}", scale=100 / blog["counted"]) + " %",
        _pair(blog, "ham_called_spam", "{}"),
        f"{_pair(blog, 'spam_called_ham', '{}')} of {blog['spam']:,}",
    ]
    return f"| {' | '.join(cells)} |"


def _pair(blog: Mapping[str, Any], key: str, form: str, *, scale: float = 1) -> str:
    """Return a figure by the version alone and with learning."""
    return " / ".join(form.format(scale * blog[way][key]) for way in ("frozen", "learning"))


if __name__ == "__main__":
    sys.exit(main())
