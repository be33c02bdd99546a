"""Measures what learning at once is worth to blogs in order of time, over frozen scores.

    python -m tests.benchmarks.learning_streams --scores frozen.jsonl --data DIR [--json FILE]

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import load_version
from service.domain.comment import SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.verdict import Outcome, Verdict
from service.moderation.insight.replay import (
    Archived,
    Played,
    moment_of,
    play,
)
from service.scoring.conclude import logistic
from service.scoring.metrics import recall_at_false_positive_rate, roc_auc
from service.scoring.policy import decide
from service.scoring.weights import Cutoffs
from service.settings import load_settings
from tests.benchmarks.judging_model import current_folder
from training.data.dataset import find_data_files

# Collections from platforms: they have dates and labels, and are nobody's blog.
_NO_BLOGS = {"janitr-x", "judol-id", "youtube"}
_LEAST_OF_EACH = 5
_NOT_COUNTED = 0.1
# Fewer say nothing about their share.
_LEAST_LLM_SPAM = 20
_DECISIONS = 200
_LLM_SPAM = "llm-spam"
# It only decides which features share a slot.
_SALT = 20_260


def main() -> int:
    """Play all blogs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--blogs", nargs="+", default=[], help="these alone")
    options = parser.parse_args()
    began = time.monotonic()
    version = load_version(current_folder())
    cutoffs = Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff)
    log_odds = {row["id"]: row["log_odds"] for row in read_rows(options.scores)}
    archive, kinds, n_without = read_blogs(options.data, log_odds, options.blogs)
    # As the command does: by date, then by id.
    archive.sort(key=lambda one: (moment_of(one), one.comment.id))
    judged = ((one, verdict_of(one, log_odds[one.comment.id], cutoffs)) for one in archive)
    share = load_settings().audit_share
    streams: dict[str, list[Played]] = defaultdict(list)
    for played in play(judged, cutoffs, decides_all=False, audit_share=share, salt=_SALT):
        streams[played.archived.comment.site_id].append(played)
    blogs = {
        name: measure(stream, kinds)
        for name, stream in sorted(streams.items(), key=lambda item: -len(item[1]))
    }
    figures = {
        "model_version": version.version,
        "cutoffs": [cutoffs.ham_cutoff, cutoffs.spam_cutoff],
        "comments_without_a_score": n_without,
        "seconds": round(time.monotonic() - began, 1),
        "blogs": blogs,
        "all": sum_up(list(blogs.values())),
    }
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print("\n".join(table(figures)))
    return 0


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one data file."""
    with gzip.open(path, "rt") if path.name.endswith(".gz") else path.open() as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_blogs(
    data: Sequence[Path], scores: Mapping[str, float], names: Sequence[str]
) -> tuple[list[Archived], dict[str, str], int]:
    """Return the comments of all blogs, each comment's kind, and how many have no score."""
    archive: list[Archived] = []
    kinds: dict[str, str] = {}
    n_without = 0
    for path in find_data_files(data):
        rows = [row for row in read_rows(path) if row["label"] and row.get("date")]
        labels = Counter(row["label"] for row in rows)
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        too_few = min(labels["spam"], labels["ham"]) < _LEAST_OF_EACH
        if too_few or name in _NO_BLOGS or (names and name not in names):
            continue
        for row in rows:
            if row["id"] not in scores:
                n_without += 1
                continue
            kinds[row["id"]] = row["kind"]
            comment = replace(comment_from_row(row), site_id=SiteId(name))
            archive.append(Archived(comment=comment, is_spam=row["label"] == "spam"))
    return archive, kinds, n_without


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One way of judging some comments, by the version alone or with learning."""

    scores: Any
    outcomes: Sequence[Outcome]
    is_spam: Any

    def figures(self) -> dict[str, Any]:
        """Return counts, and what the ranking is worth."""
        both = 0 < self.is_spam.sum() < len(self.is_spam)
        outcomes = Counter(zip(self.is_spam.tolist(), self.outcomes, strict=True))
        return {
            "roc_auc": roc_auc(self.is_spam, self.scores) if both else None,
            "recall_at_0.1": self._point(0.001).recall if both else None,
            "recall_at_0.5": self._point(0.005).recall if both else None,
            "unsure": sum(outcome is Outcome.UNSURE for outcome in self.outcomes),
            "ham_called_spam": outcomes[False, Outcome.SPAM],
            "spam_called_ham": outcomes[True, Outcome.HAM],
        }

    def recall_of(self, which: Any, rate: float) -> float:
        """Return the share of these spam that is caught at a rate of ham called spam."""
        return float((self.scores[which] >= self._point(rate).threshold).mean())

    def _point(self, rate: float) -> Any:
        return recall_at_false_positive_rate(
            self.is_spam, self.scores, max_false_positive_rate=rate
        )


def measure(stream: Sequence[Played], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return one blog's figures."""
    counted = stream[int(len(stream) * _NOT_COUNTED) :]
    is_spam = np.array([one.archived.is_spam for one in counted])
    is_llm = np.array([kinds[one.archived.comment.id] == _LLM_SPAM for one in counted]) & is_spam
    ways = {
        name: _Way(
            scores=np.array([verdict.score for verdict in verdicts]),
            outcomes=[verdict.outcome for verdict in verdicts],
            is_spam=is_spam,
        )
        for name, verdicts in (
            ("frozen", [one.frozen for one in counted]),
            ("learning", [one.learning for one in counted]),
        )
    }
    asked = np.cumsum([one.asked for one in stream])
    later = [one for one, n in zip(stream, asked, strict=True) if n > _DECISIONS]
    figures: dict[str, Any] = {
        "comments": len(stream),
        "asked": int(asked[-1]),
        "counted": len(counted),
        "spam": int(is_spam.sum()),
        "llm_spam": int(is_llm.sum()),
        "after_200": len(later),
    }
    for name, way in ways.items():
        figures[name] = way.figures() | {
            "unsure_after_200": sum(getattr(one, name).outcome is Outcome.UNSURE for one in later)
        }
        if figures["llm_spam"] >= _LEAST_LLM_SPAM:
            for rate in (0.001, 0.005):
                key = f"llm_recall_at_{rate * 100:.1f}"
                figures[name][key] = way.recall_of(is_llm, rate)
    return figures


def sum_up(blogs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of all blogs: counts added up, ranks as means over the blogs."""
    counts = ("comments", "asked", "counted", "spam", "after_200")
    total: dict[str, Any] = {key: sum(blog[key] for blog in blogs) for key in counts}
    for way in ("frozen", "learning"):
        total[way] = {
            key: _mean([blog[way][key] for blog in blogs])
            for key in ("roc_auc", "recall_at_0.1", "recall_at_0.5")
        } | {
            key: sum(blog[way][key] for blog in blogs)
            for key in ("unsure", "ham_called_spam", "spam_called_ham", "unsure_after_200")
        }
    return total


def _mean(values: Sequence[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))


def table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table's lines: by blog, then all together."""
    low, high = figures["cutoffs"]
    yield (
        f"{figures['model_version']}, cutoffs {low:.4f} and {high:.4f}; "
        f"{figures['comments_without_a_score']} comments without a score left out; "
        f"{figures['seconds']} s"
    )
    yield ""
    yield (
        "| blog (comments, decisions asked) | ROC AUC | recall at 0.1 % | at 0.5 % | left unsure "
        "| after 200 decisions | ham called spam | spam called ham |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, blog in (*figures["blogs"].items(), ("all together", figures["all"])):
        yield _row(name, blog)
        if blog.get("llm_spam", 0) >= _LEAST_LLM_SPAM:
            cells = [_pair(blog, f"llm_recall_at_{rate}", "{:.2f}") for rate in ("0.1", "0.5")]
            yield f"| its {blog['llm_spam']} LLM-written spam | | {' | '.join(cells)} | | | | |"


def _row(name: str, blog: Mapping[str, Any]) -> str:
    cells = [
        f"{name} ({blog['comments']:,}, {blog['asked']:,})",
        _pair(blog, "roc_auc", "{:.3f}"),
        _pair(blog, "recall_at_0.1", "{:.2f}"),
        _pair(blog, "recall_at_0.5", "{:.2f}"),
        _pair(blog, "unsure", "{:.1f}", of=blog["counted"]) + " %",
        _pair(blog, "unsure_after_200", "{:.1f}", of=blog["after_200"]) + " %"
        if blog["after_200"]
        else "",
        _pair(blog, "ham_called_spam", "{}"),
        f"{_pair(blog, 'spam_called_ham', '{}')} of {blog['spam']:,}",
    ]
    return f"| {' | '.join(cells)} |"


def _pair(blog: Mapping[str, Any], key: str, form: str, *, of: int | None = None) -> str:
    """Return a figure by the version alone and with learning; `of` makes it a percentage."""
    values = [blog[way][key] for way in ("frozen", "learning")]
    if of is not None:
        values = [100 * value / of for value in values]
    return " / ".join("-" if value is None else form.format(value) for value in values)


if __name__ == "__main__":
    sys.exit(main())
