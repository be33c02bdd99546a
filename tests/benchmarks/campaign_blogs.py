"""Measures which comments of real blogs are shown as campaigns, and how much ham is among them.

    python -m tests.benchmarks.campaign_blogs --data DIR --scores FILE [--cache FILE]

The scores are a line a comment, `{"id", "log_odds"}`, best of a version that learnt nothing from
the comment's blog; comments without one, and the authored campaigns that are mixed in, are judged
by the shipped version, which gives all embeddings. All blogs are one installation, in order of
time. Posts have no address here, so a blog's own domain has to be told by how it is used. In the
second row the owner rules on every comment that is not ham by verdict as soon as it is grouped.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from service.campaigns.grouping import Grouping
from service.campaigns.traits import traits_of
from service.domain.campaign import FEWEST_SHOWN, LOW_P_SPAM
from service.domain.comment import Comment, SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.domain.history import History
from service.moderation.judging.judgement import judge_comments
from service.reputation.ledger import Ledger
from service.scoring.conclude import logistic
from tests.benchmarks.campaign_grouping import Remembering
from tests.benchmarks.judging_model import current_folder, load_judging_model
from tests.benchmarks.retrain_data import read_rows
from training.data.dataset import DEFAULT_DATA, find_data_files

# Collections from platforms, and labels that are known to be wrong: nobody's blog.
_NO_BLOGS = {"janitr-x", "judol-id", "youtube", "tg-spam", "datacamp"}
_BATCH = 64
_SEED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """A comment that is not ham by its verdict; `campaign` is that of an authored one."""

    comment: Comment
    p_spam: float
    embedding: tuple[float, ...] | None
    is_spam: bool
    campaign: str | None


def read_comments(data: Path) -> list[tuple[Comment, bool, str | None]]:
    """Return the blogs' comments and the authored campaigns' in order of time, with labels."""
    found = []
    for path in find_data_files([data]):
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        if name in _NO_BLOGS or name.startswith("authored-"):
            continue
        for row in read_rows(path):
            if row["label"]:
                comment = replace(comment_from_row(row), site_id=SiteId(name))
                found.append((comment, row["label"] == "spam", None))
    rng = random.Random(_SEED)
    moments = [comment.received_at for comment, _, _ in found]
    for path in find_data_files([DEFAULT_DATA]):
        for row in read_rows(path):
            if row.get("campaign"):
                comment = replace(comment_from_row(row), received_at=rng.choice(moments))
                found.append((comment, row["label"] == "spam", row["campaign"]))
    return sorted(found, key=lambda one: (one[0].received_at, one[0].id))


def judge_all(comments: Sequence[Comment]) -> dict[str, tuple[float, tuple[float, ...] | None]]:
    """Return what the shipped version says of each comment: the probability and the embedding."""
    model = load_judging_model(current_folder())
    remembering = Remembering(model.classifier)
    model = replace(model, classifier=remembering)
    found = {}
    for start in range(0, len(comments), _BATCH):
        batch = comments[start : start + _BATCH]
        histories = [History()] * len(batch)
        verdicts = judge_comments(batch, model, histories=histories, now=datetime.now(UTC))
        for verdict, answer in zip(verdicts, remembering.answers, strict=True):
            found[verdict.comment_id] = (verdict.p_spam, answer.embedding)
    return found


def group(entering: Sequence[Entering], *, decides: bool) -> dict[str, list[Entering]]:
    """Return the campaigns, as they would be tied one comment after another."""
    grouping, ledger = Grouping(), Ledger()
    campaigns: defaultdict[str, list[Entering]] = defaultdict(list)
    of_id = {one.comment.id: one for one in entering}
    placed: dict[str, str] = {}
    for one in entering:
        now = one.comment.received_at
        [history] = ledger.gather([one.comment], now=now)
        traits = traits_of(
            one.comment,
            embedding=one.embedding,
            space="shipped",
            p_spam=one.p_spam,
            history=history if decides else History(),
        )
        met = grouping.find(traits)
        name = None
        if met is not None:
            name = placed.setdefault(met.comment_id, f"of-{met.comment_id}")
            if not campaigns[name]:
                campaigns[name].append(of_id[met.comment_id])
            placed[one.comment.id] = name
            campaigns[name].append(one)
        grouping.remember(traits, name)
        if decides:
            ledger.learn(one.comment, Ruling.REJECT if one.is_spam else Ruling.APPROVE, at=now)
    return campaigns


def to_row(campaigns: Mapping[str, Sequence[Entering]], n_pairs: int) -> str:
    """Return a table's cells: what is shown of the blogs, then pairs of authored members."""
    shown = [
        [one for one in members if one.campaign is None]
        for members in campaigns.values()
        if len(members) >= FEWEST_SHOWN
    ]
    members = [one for some in shown for one in some]
    ham = [one for one in members if not one.is_spam]
    ticked = sum(one.p_spam >= LOW_P_SPAM for one in ham)
    pairs = [a.is_spam and b.is_spam for some in shown for a, b in combinations(some, 2)]
    ours = [
        a.campaign == b.campaign
        for some in campaigns.values()
        for a, b in combinations([one for one in some if one.campaign], 2)
    ]
    cells = (
        sum(bool(some) for some in shown),
        len(members),
        len(members) - len(ham),
        f"{len(ham)} ({len(ham) / max(1, len(members)):.1%}), {ticked}",
        _largest_of_ham(shown),
        f"{sum(pairs) / max(1, len(pairs)):.3f} ({sum(pairs)} of {len(pairs)})",
        f"{sum(ours)} of {len(ours)}",
        f"{sum(ours)} of {n_pairs}",
    )
    return " | ".join(map(str, cells))


def _largest_of_ham(shown: Iterable[Sequence[Entering]]) -> int:
    """Return how many ham the campaign has that has most."""
    return max((sum(not one.is_spam for one in some) for some in shown), default=0)


def main() -> None:
    """Print the table of real blogs in `tests/benchmarks/RESULTS.md`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.campaign_blogs")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public corpora")
    parser.add_argument("--scores", type=Path, required=True, help="log-odds, a line a comment")
    parser.add_argument("--cache", type=Path, help="file to keep the judging in between runs")
    options = parser.parse_args()
    comments = read_comments(options.data)
    if options.cache and options.cache.exists():
        judged = json.loads(options.cache.read_text("utf-8"))
    else:
        judged = judge_all([comment for comment, _, _ in comments])
        if options.cache:
            options.cache.write_text(json.dumps(judged), "utf-8")
    frozen = {row["id"]: logistic(row["log_odds"]) for row in read_rows(options.scores)}
    ham_cutoff = load_judging_model(current_folder()).cutoffs.ham_cutoff
    entering = []
    for comment, is_spam, campaign in comments:
        p_spam, embedding = judged[comment.id]
        p_spam = frozen.get(comment.id, p_spam)
        if p_spam >= ham_cutoff:
            one = Entering(
                comment=comment,
                p_spam=p_spam,
                embedding=tuple(embedding) if embedding else None,
                is_spam=is_spam,
                campaign=campaign,
            )
            entering.append(one)
    sizes = Counter(campaign for _, _, campaign in comments if campaign)
    n_pairs = sum(n * (n - 1) // 2 for n in sizes.values())
    real = [one for one in entering if one.campaign is None]
    n_spam = sum(one.is_spam for one in real)
    print(f"{len(comments)} comments; entering from blogs: {n_spam} spam, {len(real) - n_spam} ham")
    for name, decides in (("nobody decides", False), ("the owner decides", True)):
        print(f"| {name} | {to_row(group(entering, decides=decides), n_pairs)} |")


if __name__ == "__main__":
    main()
