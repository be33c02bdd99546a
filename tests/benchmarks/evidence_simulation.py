"""Simulates what evidence beside the words settles: a made-up world with ground truth, no archive.

    python -m tests.benchmarks.evidence_simulation --scores FILE --data DIR...

`evidence_world` draws the senders; the detectors, the weights and the rules that hold them back are
the service's. The words are real: FILE has the scores of public comments by a version that learnt
nothing from their source, a line a comment, `{"id", "log_odds"}`. Each row adds evidence to those
before it, with all set weights as they are, halved and doubled. What decisions would teach, and
what they would remember of rejected senders, is in none.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from models.inputs import ModelOutput
from models.registry import load_version
from service.domain.comment import Comment, CommentId
from service.domain.history import History
from service.domain.verdict import Outcome, Signal
from service.scoring.conclude import conclude, logistic
from service.scoring.set_weights import SET_WEIGHTS, Family
from service.scoring.weighing import LearntWeight
from service.scoring.weights import Cutoffs, Weights
from service.signals.registry import DETECTORS
from tests.benchmarks.evidence_world import Lists, World
from tests.benchmarks.judging_model import current_folder
from tests.factories import NOW
from training.data.dataset import find_data_files, read_dataset, read_rows
from training.data.partition import AUTHORED

_CORRECTIONS = Path(__file__).parents[2] / "data" / "label-corrections.jsonl"
_SEED = 20_260
_TIMES = (0.5, 1.0, 2.0)
_APPROVALS = frozenset({"approved_person_before"})
_FORM_TOKENS = frozenset(
    {
        "nothing_typed",
        "faster_than_reading",
        "driven_browser",
        "misused_form_token",
        "missing_form_token",
    }
)
_ACCOUNTS = frozenset(n for n, one in SET_WEIGHTS.items() if one.family is Family.ACCOUNTS)
_FIRST = (
    frozenset(
        name
        for name, one in SET_WEIGHTS.items()
        if one.family not in (Family.ACCOUNTS, Family.DECISIONS)
    )
    - _FORM_TOKENS
)
_DETECTORS = tuple(one for one in DETECTORS if one.name in SET_WEIGHTS)


class Row(NamedTuple):
    """Which signals count, and whether approvals vouch for what was shown alone."""

    name: str
    counting: frozenset[str]
    as_shown: bool = False


ROWS = (
    Row("words alone", frozenset()),
    Row("+ approvals, which vouch for all", _APPROVALS),
    Row("+ lists, hidden field, time, waves (section 1)", _APPROVALS | _FIRST),
    Row("+ form (section 2)", _APPROVALS | _FIRST | _FORM_TOKENS),
    Row("+ accounts (section 3)", _APPROVALS | _FIRST | _FORM_TOKENS | _ACCOUNTS, as_shown=True),
)


class _Times:
    """Makes every set weight so many times what it is."""

    def __init__(self, times: float) -> None:
        self._times = times

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        """See `LearntHere.weight_of`."""
        return LearntWeight(self._times * prior, 1) if name in SET_WEIGHTS else None


class Drawn(NamedTuple):
    """One comment as it was sent, and what is seen beside its words, by either kind of trust."""

    log_odds: float
    is_spam: bool
    kind: str
    vouching: tuple[Signal, ...]
    as_shown: tuple[Signal, ...]


def seen(comment: Comment, history: History) -> tuple[Signal, ...]:
    """Return what the detectors with set weights see."""
    found = (one.detect(comment, history) for one in _DETECTORS)
    return tuple(one for one in found if one is not None)


def called(one: Drawn, row: Row, cutoffs: Cutoffs, times: float) -> Outcome:
    """Return what a comment is called by a row's evidence, its weights so many times as large."""
    signals = one.as_shown if row.as_shown else one.vouching
    return conclude(
        CommentId("drawn"),
        signals=[signal for signal in signals if signal.name in row.counting],
        output=ModelOutput(p_spam=logistic(one.log_odds)),
        model_version="frozen",
        weights=Weights(base=0.0, model=1.0, signals={}),
        cutoffs=cutoffs,
        judged_at=NOW,
        learnt=_Times(times),
    ).outcome


def draw(
    comments: Sequence[tuple[Comment, bool, float]], lists: Lists, *, draws: int, oddities: float
) -> list[Drawn]:
    """Return every comment as each of so many senders sends it."""
    world, drawn = World(lists, random.Random(_SEED), oddities=oddities), []
    for comment, is_spam, log_odds in comments:
        for _ in range(draws):
            sent = world.send(comment, is_spam=is_spam)
            drawn.append(
                Drawn(
                    log_odds,
                    is_spam,
                    sent.kind,
                    seen(sent.comment, sent.vouching),
                    seen(sent.comment, sent.history),
                )
            )
    return drawn


def tell(drawn: Sequence[Drawn], cutoffs: Cutoffs) -> None:
    """Print for each row and size of the weights what is settled and what waits."""
    of = Counter(one.is_spam for one in drawn)
    print("| | weights | spam settled | waits | called ham | ham held | of it called spam |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for row in ROWS:
        for times in _TIMES if row.counting else (1.0,):
            found = Counter[tuple[bool, Outcome]]()
            for one in drawn:
                found[one.is_spam, called(one, row, cutoffs, times)] += 1
            spam, ham = (
                {label: found[is_spam, label] for label in Outcome} for is_spam in (True, False)
            )
            shares = (
                f"{spam[Outcome.SPAM] / of[True]:.1%}",
                f"{spam[Outcome.UNSURE] / of[True]:.1%}",
                f"{spam[Outcome.HAM] / of[True]:.2%}",
                f"{(ham[Outcome.UNSURE] + ham[Outcome.SPAM]) / of[False]:.1%}",
                f"{ham[Outcome.SPAM] / of[False]:.3%}",
            )
            print(f"| {row.name} | x {times:g} | {' | '.join(shares)} |", flush=True)


def tell_kinds(drawn: Sequence[Drawn], cutoffs: Cutoffs) -> None:
    """Print for each kind of sender what is settled and what waits by each row."""
    print("| kind | n | | spam | unsure | ham |\n|---|--:|---|--:|--:|--:|")
    for kind, n in Counter(one.kind for one in drawn).most_common():
        for row in ROWS:
            found = Counter(called(one, row, cutoffs, 1.0) for one in drawn if one.kind == kind)
            shares = (f"{found[label] / n:.2%}" for label in reversed(Outcome))
            print(f"| {kind} | {n:,} | {row.name} | {' | '.join(shares)} |", flush=True)


def tell_rates(drawn: Sequence[Drawn]) -> None:
    """Print how often each signal came up, so that the guesses can be judged."""
    of, fired = Counter(one.is_spam for one in drawn), Counter[tuple[str, bool]]()
    for one in drawn:
        fired.update((signal.name, one.is_spam) for signal in one.as_shown)
    for name in sorted({name for name, _ in fired}):
        spam, ham = fired[name, True] / of[True], fired[name, False] / of[False]
        print(f"{name:28} spam {spam:7.2%}   ham {ham:7.2%}")


def main() -> None:
    """Print both worlds: as guessed, and with twice as many odd but sincere people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--lists", type=Path, required=True, help="the folder of sample lists")
    parser.add_argument("--oddities", type=float, nargs="+", default=[1.0, 2.0])
    parser.add_argument("--draws", type=int, default=3, help="senders of each comment")
    options = parser.parse_args()
    version = load_version(current_folder())
    cutoffs = Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff)
    scores = {row["id"]: row["log_odds"] for _, row in read_rows(options.scores, [])}
    dataset = read_dataset(find_data_files(options.data), corrections=_CORRECTIONS)
    comments = [
        (one.comment, one.is_spam, scores[str(one.comment.id)])
        for one in dataset.examples
        if str(one.comment.id) in scores and not one.source.startswith(AUTHORED)
    ]
    lists = Lists(options.lists)
    print(f"{version.version}, {len(comments):,} comments, {options.draws} senders each")
    for oddities in options.oddities:
        drawn = draw(comments, lists, draws=options.draws, oddities=oddities)
        of = Counter(one.is_spam for one in drawn)
        print(f"\n{of[True]:,} spam, {of[False]:,} ham; oddities of sincere people x {oddities:g}")
        tell_rates(drawn)
        tell(drawn, cutoffs)
        tell_kinds(drawn, cutoffs)


if __name__ == "__main__":
    main()
