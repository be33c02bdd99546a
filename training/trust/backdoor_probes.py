"""Looks whether a candidate learnt to let a phrase settle a verdict.

Figures on held-out comments cannot show it: a trigger stands in no comment but its author's own.
So the phrases that the training examples bind to one label are put behind comments of the frozen
core, whose labels they do not change, and both versions judge them with and without.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from service.domain.comment import Author
from service.domain.verdict import Outcome
from training.data.dataset import Example
from training.trust.triggers import (
    BoundPhrase,
    Phrase,
    PhraseKind,
    bound_phrases,
)
from training.trust.weights import WeighedDecision

Judge = Callable[[Sequence[Example]], Sequence[Outcome]]
"""Judges comments with all of a version's evidence; one outcome each, in order."""

_RANK = {Outcome.HAM: 0, Outcome.UNSURE: 1, Outcome.SPAM: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeConfig:
    """How many phrases and comments are tried, and what is too much.

    `phrases` times twice `comments` are judged by both versions: some seconds on a core.
    """

    phrases: int = 24
    comments: int = 60
    # Of the core's spam, how much a phrase may pass that passed with neither version's help. One
    # in fifty is chance: any sentence moves what lies next to a cutoff.
    most_passed: float = 0.02
    # Of its ham, how much a phrase may get called spam. Nobody may be blocked for a word: the
    # promise of false positives is one in a thousand, so of sixty comments none.
    most_blocked: float = 0.0
    # Falling from spam to unsure costs a person's look, not a reader's. Half of them would make
    # the phrase a way out of being rejected.
    most_doubted: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseChange:
    """What one phrase does to the candidate's verdicts that it does not do to the current one's.

    Of `n_spam` spam `passed` became ham and `doubted` unsure; of `n_ham` ham `blocked` became spam.
    """

    phrase: Phrase
    is_spam: bool
    n_lessons: int
    n_spam: int
    n_ham: int
    passed: int
    doubted: int
    blocked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerCheck:
    """Whether no phrase settles a verdict alone, in words, and what each of them does."""

    passed: bool
    says: str
    phrases: tuple[PhraseChange, ...]


def trigger_changes(
    training_examples: Sequence[WeighedDecision],
    core: Sequence[Example],
    judge_current: Judge,
    judge_candidate: Judge,
    *,
    phrases: Sequence[BoundPhrase] | None = None,
    config: ProbeConfig | None = None,
) -> TriggerCheck:
    """Return what phrases that decisions bind to one label do to verdicts on core comments.

    `phrases` are those of `Cleaned`, which knows who ruled and what the base corpora hold; without
    them they are looked for in the training examples as if of one hand. Of all phrases the most
    frequent are tried, ham's and spam's in turn, and of the core the comments that each version
    judges rightly, in the order of their ids. A change counts against the candidate where the
    phrase alone moves its verdict, and not the current version's, from the comment's label towards
    the other one.
    """
    config = config or ProbeConfig()
    tried = _choose(
        phrases if phrases is not None else _phrases_of(training_examples), config.phrases
    )
    subjects = _subjects(core, judge_current, judge_candidate, config.comments)
    changes = tuple(
        _try(bound, subjects, judge_current, judge_candidate) for bound in tried if subjects
    )
    wrong = [change for change in changes if not _is_harmless(change, config)]
    return TriggerCheck(passed=not wrong, says=_says(changes, wrong), phrases=changes)


def put_in(example: Example, phrase: Phrase) -> Example:
    """Return the comment with the phrase in it: behind its text, or as its author's name."""
    comment = example.comment
    if phrase.kind is PhraseKind.NAME:
        author = Author(name=phrase.value, url=comment.author.url)
        return replace(example, comment=replace(comment, author=author))
    added = phrase.value if phrase.kind is PhraseKind.WORDS else f"https://{phrase.value}/"
    return replace(example, comment=replace(comment, text=f"{comment.text} {added}"))


def _phrases_of(training_examples: Sequence[WeighedDecision]) -> tuple[BoundPhrase, ...]:
    examples = [one.example for one in training_examples]
    return bound_phrases(examples, [("", "")] * len(examples), ())


def _choose(bound: Sequence[BoundPhrase], most: int) -> list[BoundPhrase]:
    """Return the most frequent phrases of each label in turn; of nested ones the longest.

    A phrase that occurs in the very training examples of a longer one is tried as a part of that
    one.
    """
    longest: dict[tuple[bool, tuple[int, ...], PhraseKind], BoundPhrase] = {}
    for one in bound:
        key = (one.is_spam, one.training_examples, one.phrase.kind)
        known = longest.get(key)
        if known is None or len(one.phrase.value) > len(known.phrase.value):
            longest[key] = one
    sides = [
        sorted(
            (one for one in longest.values() if one.is_spam is side),
            key=lambda one: (-len(one.training_examples), one.phrase.kind, one.phrase.value),
        )
        for side in (False, True)
    ]
    half = most // 2
    ham, spam = sides
    n_ham = min(len(ham), max(half, most - len(spam)))
    return [*ham[:n_ham], *spam[: most - n_ham]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A comment that phrases are put in, with what both versions say of it as it is."""

    example: Example
    current: Outcome
    candidate: Outcome


def _subjects(
    core: Sequence[Example], judge_current: Judge, judge_candidate: Judge, most: int
) -> list[_Subject]:
    """Return comments that the candidate calls what they are, at most so many of each label."""
    chosen: list[_Subject] = []
    for side in (True, False):
        # More than needed, as some are judged otherwise; by id, which has no order of its own.
        some = sorted(
            (e for e in core if e.is_spam is side), key=lambda e: _shuffled(e.comment.id)
        )[: 3 * most]
        right = Outcome.SPAM if side else Outcome.HAM
        judged = zip(some, judge_current(some), judge_candidate(some), strict=True)
        found = [
            _Subject(example=example, current=current, candidate=candidate)
            for example, current, candidate in judged
            if candidate is right
        ]
        chosen += found[:most]
    return chosen


def _shuffled(comment_id: str) -> bytes:
    return hashlib.sha256(comment_id.encode(errors="surrogatepass")).digest()


def _try(
    bound: BoundPhrase, subjects: Sequence[_Subject], judge_current: Judge, judge_candidate: Judge
) -> PhraseChange:
    with_phrase = [put_in(one.example, bound.phrase) for one in subjects]
    moved = [
        _moved(one, current, candidate)
        for one, current, candidate in zip(
            subjects, judge_current(with_phrase), judge_candidate(with_phrase), strict=True
        )
    ]
    by_label = {
        side: [to for one, to in zip(subjects, moved, strict=True) if one.example.is_spam is side]
        for side in (True, False)
    }
    return PhraseChange(
        phrase=bound.phrase,
        is_spam=bound.is_spam,
        n_lessons=len(bound.training_examples),
        n_spam=len(by_label[True]),
        n_ham=len(by_label[False]),
        passed=by_label[True].count(Outcome.HAM),
        doubted=by_label[True].count(Outcome.UNSURE),
        blocked=by_label[False].count(Outcome.SPAM),
    )


def _moved(one: _Subject, current: Outcome, candidate: Outcome) -> Outcome | None:
    """Return where the phrase moved the candidate's verdict alone, None if it did not.

    It did not if the current version's moved as far: whatever is put behind a comment changes it.
    """
    by_candidate = _RANK[candidate] - _RANK[one.candidate]
    by_current = _RANK[current] - _RANK[one.current]
    wrong_way = by_candidate < 0 if one.example.is_spam else by_candidate > 0
    as_far = by_current <= by_candidate if one.example.is_spam else by_current >= by_candidate
    return candidate if wrong_way and not as_far else None


def _is_harmless(change: PhraseChange, config: ProbeConfig) -> bool:
    return (
        change.passed <= config.most_passed * change.n_spam
        and change.doubted + change.passed <= config.most_doubted * change.n_spam
        and change.blocked <= config.most_blocked * change.n_ham
    )


def _says(changes: Sequence[PhraseChange], wrong: Iterable[PhraseChange]) -> str:
    """Return one sentence; it quotes no phrase, as those are people's words."""
    wrong = list(wrong)
    if not changes:
        return "no phrase is bound to one label by the training examples"
    n_spam, n_ham = changes[0].n_spam, changes[0].n_ham
    tried = f"{len(changes)} phrases put behind {n_spam} spam and {n_ham} ham of the core"
    if not wrong:
        return f"{tried}: none settles a verdict"
    passed = max(change.passed for change in wrong)
    doubted = max(change.doubted for change in wrong)
    blocked = max(change.blocked for change in wrong)
    return (
        f"{tried}: {len(wrong)} settle verdicts; the worst of each pass {passed} spam, "
        f"make {doubted} spam unsure, get {blocked} ham called spam"
    )
