"""Measures what learning at once costs: a comment, a decision, a site's memory, a rebuild.

Judging with and without it is measured in turns. `--decisions 1000` gives a quick look.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from models.features import hash_words
from service.domain.comment import Comment, CommentId, Lane, SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Decision, Ruling
from service.domain.history import History
from service.domain.verdict import Verdict
from service.learning.features import copy_keys, count_features
from service.learning.judging import lean_on, make_example
from service.learning.taught import Taught, learn_all
from service.learning.training_example import Hand, TrainingExample
from service.moderation.judging.judgement import judge_comments
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.scoring.weights import Cutoffs
from service.stores.migrations import migrate
from service.stores.sql import create_engine, sql_stores
from service.stores.taught import TaughtKeeper
from tests.benchmarks.comment_mix import sample_records
from tests.benchmarks.judging_model import current_folder, forget_windows, load_judging_model
from tests.fakes import make_site

_COMMENTS = 1_024
_BATCH = 64
_REPEATS = 5
_SITE = SiteId("site-1")
_SALT = 20_260
_NOW = datetime(2026, 11, 22, tzinfo=UTC)
_CUTOFFS = Cutoffs(ham_cutoff=0.034, spam_cutoff=0.93)


def main() -> None:
    """Print one figure a line, each the median of repeats in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=10_000)
    options = parser.parse_args()
    comments = [replace(comment_from_row(row), site_id=_SITE) for row in sample_records(_COMMENTS)]
    model = load_judging_model(current_folder())
    verdicts = judge(comments, model, None)
    examples = make_examples(comments, verdicts, options.decisions)
    taught = learn_all(examples, salt=_SALT)
    pure(comments, verdicts, examples, taught)
    judging(comments, model, taught)
    from_the_database(comments, verdicts, options.decisions)


def judge(comments: Sequence[Comment], model: JudgingModel, taught: Taught | None) -> list[Verdict]:
    """Judge in batches as a worker does."""
    forget_windows(model.classifier)
    found: list[Verdict] = []
    for start in range(0, len(comments), _BATCH):
        some = comments[start : start + _BATCH]
        found += judge_comments(
            some, model, histories=[History()] * len(some), now=_NOW, taught=taught
        )
    return found


def make_examples(
    comments: Sequence[Comment], verdicts: Sequence[Verdict], count: int
) -> list[TrainingExample]:
    """Return so many decisions of one owner, on comments with some words of their own."""
    made = []
    for number in range(count):
        verdict = verdicts[number % len(comments)]
        comment = _again(comments[number % len(comments)], number)
        made.append(
            make_example(
                number + 1,
                comment,
                replace(verdict, comment_id=comment.id),
                _decision(comment, verdict, number),
                hand=Hand.OWNER,
                teacher="owner",
                audited=False,
                audit_share=0.0,
                salt=_SALT,
            )
        )
    return made


def _again(comment: Comment, number: int) -> Comment:
    """Return a comment with words of its own, so that it is no copy of an earlier one."""
    own = " ".join(f"word{number}{letter}" for letter in "abcdefgh")
    return replace(comment, id=CommentId(f"c{number}"), text=f"{comment.text} {own}")


def _decision(comment: Comment, verdict: Verdict, number: int) -> Decision:
    ruling = Ruling.REJECT if verdict.score > 0.0 else Ruling.APPROVE
    # One in ten is ruled otherwise, so that there is always something to learn.
    if number % 10 == 0:
        ruling = Ruling.APPROVE if ruling is Ruling.REJECT else Ruling.REJECT
    return Decision(
        id=f"d{number}", comment_id=comment.id, ruling=ruling, decided_by="import", decided_at=_NOW
    )


def pure(
    comments: Sequence[Comment],
    verdicts: Sequence[Verdict],
    examples: Sequence[TrainingExample],
    taught: Taught,
) -> None:
    """Time the pure functions, in turns."""
    hashes = [hash_words(comment.text) for comment in comments]
    before = learn_all(examples[:-1], salt=_SALT)
    few = range(20)

    def lean_all() -> None:
        for comment, verdict, words in zip(comments, verdicts, hashes, strict=True):
            lean_on(verdict, comment, taught, word_hashes=words, promised=_CUTOFFS)

    tasks: dict[str, tuple[Callable[[], object], int]] = {
        "a comment: features": (
            lambda: [count_features(c, h, _SALT) for c, h in zip(comments, hashes, strict=True)],
            len(comments),
        ),
        "a comment: features, look-up and verdict": (lean_all, len(comments)),
        "a training example more for its features: words hashed, near-copies": (
            lambda: [copy_keys(hash_words(c.text)) for c in comments],
            len(comments),
        ),
        f"a decision, learnt after {len(examples) - 1:,}": (
            lambda: [before.after(examples[-1:]) for _ in few],
            len(few),
        ),
        f"all {len(examples):,} learnt anew": (lambda: learn_all(examples, salt=_SALT), 1),
    }
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(_REPEATS):
        for name, (task, count) in tasks.items():
            began = time.process_time()
            task()
            seconds[name].append((time.process_time() - began) / count)
    for name, measured in seconds.items():
        print(f"{name}: {_microseconds(measured)}")
    site = taught.sites[_SITE]
    tables = site.residual.n_bytes
    print(
        f"a site's tables at {len(examples):,} decisions: {tables:,} bytes; "
        f"those of all sites together: {taught.shared.n_bytes:,} bytes"
    )
    kept = sum(one.features.ids.nbytes + one.features.values.nbytes for one in examples)
    print(f"its training examples, kept to be learnt again: {kept:,} bytes of features")


def judging(comments: Sequence[Comment], model: JudgingModel, taught: Taught) -> None:
    """Time judging with and without learning, batch by batch in turns; processor time."""
    ways: dict[str, Taught | None] = {"without": None, "with": taught}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(_REPEATS):
        for start in range(0, len(comments), _BATCH):
            some = comments[start : start + _BATCH]
            for name in sorted(ways, reverse=bool((turn + start // _BATCH) % 2)):
                began = time.process_time()
                judge(some, model, ways[name])
                seconds[name].append((time.process_time() - began) / len(some))
    for name, measured in seconds.items():
        print(f"judging a comment {name} learning, batches of {_BATCH}: {_microseconds(measured)}")
    more = [a - b for a, b in zip(seconds["with"], seconds["without"], strict=True)]
    slower = statistics.median(more) / statistics.median(seconds["without"])
    print(f"judging slowed by {100 * slower:.1f} %, median of {len(more)} batches; {model.version}")


def from_the_database(comments: Sequence[Comment], verdicts: Sequence[Verdict], count: int) -> None:
    """Time a worker's start, one decision and one undoing over SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder, 'slopsieve.db')}")
        migrate(engine)
        stores = sql_stores(engine)
        stores.sites.add(make_site(id=_SITE))
        for start in range(0, count, 500):
            numbers = range(start, min(start + 500, count))
            some = [_again(comments[n % len(comments)], n) for n in numbers]
            stores.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in some])
            judged = [
                replace(verdicts[n % len(comments)], comment_id=one.id)
                for n, one in zip(numbers, some, strict=True)
            ]
            stores.verdicts.add(judged, audit=frozenset())
            made = [
                _decision(one, verdict, n)
                for n, one, verdict in zip(numbers, some, judged, strict=True)
            ]
            for ruling in Ruling:
                stores.decisions.add_many([one for one in made if one.ruling is ruling])
        keeper = TaughtKeeper(
            stores.decisions,
            stores.cases,
            stores.sites,
            stores.users,
            audit_share=0.02,
            salt=_SALT,
            recheck_seconds=0,
        )
        _say(f"a worker that starts reads and learns {count:,}", keeper.current)
        _say("it asks again, nothing new", keeper.current)
        first = _again(comments[0], 0)
        stores.decisions.add(
            replace(_decision(first, verdicts[0], 0), id="d-again", ruling=Ruling.REJECT)
        )
        _say("one of them is ruled on anew, all others learnt again", keeper.current)
        engine.dispose()


def _say(what: str, task: Callable[[], object]) -> None:
    wall, began = time.perf_counter(), time.process_time()
    task()
    seconds = time.process_time() - began
    print(f"{what}: {seconds:.3f} s of the processor, {time.perf_counter() - wall:.3f} s")


def _microseconds(seconds: Sequence[float]) -> str:
    low, middle, high = (
        1e6 * one for one in (min(seconds), statistics.median(seconds), max(seconds))
    )
    return f"{middle:,.0f} microseconds of the processor ({low:,.0f} to {high:,.0f})"


if __name__ == "__main__":
    main()
