"""Measures what choosing the unsure comments to decide is worth to a retraining.

    python -m tests.benchmarks.active_selection --seeds 10 [--data PATH ...]

For each seed comments are split by post and campaign into what was learnt (half), what waits and
what is held out (a quarter each); of three kinds of spam nothing was learnt, so that something new
comes in. Of what waits, spam is thinned to 25 %. A linear model on n-grams, the cheap member of
the shipped classifier, is fitted on what was learnt; its cutoffs keep 1 % of the spam below and
1 % of the ham above, estimated on a fifth that it did not see. Of the comments between them k are
decided, in one of several orders, and the model is fitted again with them. Told is the recall at
1 % false positives on what is held out, of all spam and of the three new kinds alone, and the ROC
AUC of all. With `--wave N` three of the waiting spam come N times more, word for word, as a flood
does.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
from scipy import sparse

from models.features import count_features
from service.domain.comment import CommentId
from service.domain.decision import Mode
from service.domain.search_words import words_of
from service.domain.verdict import Outcome
from service.reputation.fingerprints import fingerprints_of
from service.reputation.linked_domains import linked_domains
from service.scoring.metrics import recall_at_false_positive_rate, roc_auc
from service.scoring.review_order import review_at
from service.scoring.select_for_labelling import Candidate, doubt_of, select_for_labelling
from tests.factories import NOW
from training.data.dataset import DEFAULT_DATA, Example, read_dataset
from training.data.split import group_examples
from training.fit.evidence import to_matrix
from training.fit.regression import fit_table

BUDGETS = (20, 40)
NEW_KINDS = 3
SPAM_SHARE = 0.25
_INVERSE_RIDGE = 4.0
_FEWEST_OF_KIND = 20
_MOST_LOST = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that was read, with what costs time to make."""

    examples: Sequence[Example]
    features: sparse.csr_matrix
    is_spam: np.ndarray
    groups: Sequence[int]
    candidates: Sequence[Candidate]


def read_world(paths: Sequence[Path]) -> World:
    """Return the labelled comments with their features."""
    examples = read_dataset(paths).examples
    return World(
        examples=examples,
        features=to_matrix([count_features(one.input) for one in examples]),
        is_spam=np.array([one.is_spam for one in examples]),
        groups=group_examples(examples),
        candidates=[_candidate(one) for one in examples],
    )


def _candidate(one: Example) -> Candidate:
    copies = {f"copy:{key}" for key in fingerprints_of(one.comment.text)}
    domains = {f"domain:{domain}" for domain in linked_domains(one.comment)}
    return Candidate(
        comment_id=one.comment.id,
        site_id=one.comment.site_id,
        p_spam=0.5,
        ham_cutoff=0.1,
        spam_cutoff=0.9,
        kinds=frozenset(
            copies | domains | ({f"campaign:{one.campaign}"} if one.campaign else set())
        ),
        words=frozenset(words_of(one.comment.text)[:200]),
        signals=frozenset(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Positions of what was learnt, of what waits, of what is held out, and the new kinds."""

    learnt: list[int]
    waiting: list[int]
    held_out: list[int]
    new_kinds: frozenset[str]


def split_world(world: World, seed: int, *, wave: int) -> Split:
    """Split by group at random; leave new kinds out of what was learnt and thin waiting spam."""
    draw = random.Random(seed)
    kinds = [one.kind for one in world.examples if one.is_spam and one.kind]
    common = sorted({kind for kind in kinds if kinds.count(kind) >= _FEWEST_OF_KIND})
    new_kinds = frozenset(draw.sample(common, NEW_KINDS))
    part_of = {group: draw.random() for group in sorted(set(world.groups))}
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for at, one in enumerate(world.examples):
        part = part_of[world.groups[at]]
        is_new = one.is_spam and one.kind in new_kinds
        if part < 0.5 and not is_new:
            parts[0].append(at)
        elif 0.5 <= part < 0.75:
            parts[1].append(at)
        elif part >= 0.75:
            parts[2].append(at)
    ham = [at for at in parts[1] if not world.is_spam[at]]
    spam = [at for at in parts[1] if world.is_spam[at]]
    kept = draw.sample(spam, min(len(spam), round(len(ham) * SPAM_SHARE / (1 - SPAM_SHARE))))
    waiting = [*ham, *kept, *draw.sample(kept, 3) * wave]
    draw.shuffle(waiting)
    return Split(learnt=parts[0], waiting=waiting, held_out=parts[2], new_kinds=new_kinds)


def fit(world: World, rows: Sequence[int]) -> Callable[[Sequence[int]], np.ndarray]:
    """Fit the linear member on these rows; return what gives others' log-odds."""
    table = fit_table(
        world.features[list(rows)],
        world.is_spam[list(rows)],
        inverse_ridge=_INVERSE_RIDGE,
        min_rows=2,
        seed=1,
    )
    kept = table.to_arrays("t")
    weights = np.zeros(world.features.shape[1])
    weights[kept["t_ids"]] = kept["t_coefficients"]
    intercept = float(kept["t_intercept"][0])
    return lambda some: world.features[list(some)] @ weights + intercept


def unsure_of(world: World, split: Split, seed: int) -> list[Candidate]:
    """Return the waiting comments between the cutoffs, with their probabilities."""
    draw = random.Random(seed)
    seen = [at for at in split.learnt if draw.random() < 0.8]
    unseen = sorted(set(split.learnt) - set(seen))
    score = fit(world, seen)
    of_unseen, unseen_is_spam = score(unseen), world.is_spam[unseen]
    low = float(np.quantile(of_unseen[unseen_is_spam], 0.01))
    high = max(low + 0.1, float(np.quantile(of_unseen[~unseen_is_spam], 0.99)))

    scores = score(split.waiting)

    def p(log_odds: float) -> float:
        return float(1 / (1 + np.exp(-log_odds)))

    found = []
    for place, at in enumerate(split.waiting):
        log_odds = scores[place]
        if low <= log_odds < high:
            one = world.candidates[at]
            values = {name: getattr(one, name) for name in ("site_id", "kinds", "words", "signals")}
            found.append(
                Candidate(
                    comment_id=CommentId(f"{at}.{place}"),
                    p_spam=p(log_odds),
                    ham_cutoff=p(low),
                    spam_cutoff=p(high),
                    **values,
                )
            )
    return found


def orders(seed: int) -> dict[str, Callable[[Sequence[Candidate], int], list[CommentId]]]:
    """Return the ways to choose k of the unsure ones."""

    def at_random(some: Sequence[Candidate], k: int) -> list[CommentId]:
        return random.Random(seed).sample([one.comment_id for one in some], min(k, len(some)))

    def by_review(some: Sequence[Candidate], k: int) -> list[CommentId]:
        draw = random.Random(seed)
        keys = {
            one.comment_id: review_at(
                NOW - timedelta(hours=72 * draw.random()),
                mode=Mode.HOLD,
                outcome=Outcome.UNSURE,
                p_spam=one.p_spam,
            )
            for one in some
        }
        return sorted(keys, key=lambda one: keys[one])[:k]

    def by_doubt(some: Sequence[Candidate], k: int) -> list[CommentId]:
        return [one.comment_id for one in sorted(some, key=doubt_of, reverse=True)[:k]]

    def by_teaching(some: Sequence[Candidate], k: int) -> list[CommentId]:
        return list(select_for_labelling(some, most=k))

    return {
        "random": at_random,
        "review order": by_review,
        "doubt alone": by_doubt,
        "teaches most": by_teaching,
    }


def recalls(world: World, split: Split, chosen: Sequence[int]) -> tuple[float, float, float]:
    """Return the recall at 1 % false positives after learning these: of all, of the new; AUC."""
    scores = fit(world, [*split.learnt, *chosen])(split.held_out)
    is_spam = world.is_spam[split.held_out]
    is_new = np.array([world.examples[at].kind in split.new_kinds for at in split.held_out])
    of_new = is_new & is_spam
    keep = of_new | ~is_spam
    whole = recall_at_false_positive_rate(is_spam, scores, max_false_positive_rate=_MOST_LOST)
    new = recall_at_false_positive_rate(
        is_spam[keep], scores[keep], max_false_positive_rate=_MOST_LOST
    )
    auc = roc_auc(is_spam, scores)
    return whole.spam_caught / whole.n_spam, new.spam_caught / new.n_spam, auc


def main() -> None:
    """Print a table of means and spreads over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--wave", type=int, default=0)
    parser.add_argument("--data", type=Path, nargs="*", default=[DEFAULT_DATA])
    given = parser.parse_args()
    world = read_world(given.data)
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    took: list[float] = []
    sizes = []
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        split = split_world(world, seed, wave=given.wave)
        unsure = unsure_of(world, split, seed)
        sizes.append(len(unsure))
        before = recalls(world, split, [])
        found.setdefault(("nothing decided", 0), []).append(before)
        for name, choose in orders(seed).items():
            for k in BUDGETS:
                started = time.perf_counter()
                chosen = choose(unsure, k)
                if name == "teaches most":
                    took.append(time.perf_counter() - started)
                after = recalls(world, split, [int(one.partition(".")[0]) for one in chosen])
                found.setdefault((name, k), []).append(after)
    print(
        f"{len(world.examples)} comments, {given.seeds} seeds, {min(sizes)} to {max(sizes)} "
        f"unsure; choosing took {1e3 * statistics.median(took):.0f} ms (median)"
    )
    heads = "".join(f"{head:>20}" for head in ("all spam", "new kinds", "AUC"))
    print(f"{'chosen by':<16}{'k':>4}{heads}{'AUC gained':>22}")
    first = [auc for _, _, auc in found["nothing decided", 0]]
    for (name, k), results in found.items():
        gains = [auc - base for (_, _, auc), base in zip(results, first, strict=True)]
        cells = [[one[n] for one in results] for n in range(3)]
        row = "".join(f"{_told(cell):>20}" for cell in cells)
        print(f"{name:<16}{k:>4}{row}{_told(gains, '.4f'):>22}")


def _told(values: Sequence[float], form: str = ".3f") -> str:
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):{form}} (sd {spread:{form}})"


if __name__ == "__main__":
    main()
