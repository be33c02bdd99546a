"""Finds phrases that decisions bind to one label: a campaign's words, an attacker's trigger.

A poisoner has comments approved that look like spam but for a phrase, so that the phrase alone
passes spam later (Chen, Liu, Li, Lu and Song 2017, "Targeted backdoor attacks on deep learning
systems using data poisoning", arXiv:1712.05526; for texts Wallace, Zhao, Feng and Singh 2021,
"Concealed data poisoning attacks on NLP models", NAACL). By its statistics a real campaign is the
same: something rare that always has one label. What tells them apart is whether the rest of the
comment bears the label too. A training example that agrees with how its comment looks teaches
little that is new about the phrase; in one that contradicts it, the phrase is all that the label
can rest on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.text import normalise
from service.reputation.linked_domains import linked_domains
from training.data.dataset import Example

_MAX_WORDS_IN_A_PHRASE = 3
# A phrase that is to work has to be short; of a long text the beginning is looked at.
_MAX_WORDS_READ = 400
# In fewer training examples a phrase is one of thousands that happen to have one label.
MIN_TRAINING_EXAMPLES = 5
_MIN_SHARE_OF_LABEL = 0.9
_MIN_SHARE_OF_HAND = 0.8
# What the base corpora hold as well they teach against. Rare is at most twice among them, or so
# many times rarer there than among the training examples.
_RARE_IN_BASE = 2
_TIMES_RARER = 20.0
# `models.text` puts these in place of links, addresses and markup.
_FIRST_MARK, _LAST_MARK = "\ue000", "\uf8ff"


class PhraseKind(StrEnum):
    """What a phrase is made of."""

    WORDS = "words"
    NAME = "author's name"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Some words in a row as the classifier counts them, an author's name, or a linked domain."""

    kind: PhraseKind
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPhrase:
    """A phrase that examples of one hand bind to one label, and in which of them it occurs.

    `training_examples` are positions among the training examples given, ascending; `in_base` counts
    the comments of the base corpora that hold it.
    """

    phrase: Phrase
    is_spam: bool
    training_examples: tuple[int, ...]
    in_base: int


def bound_phrases(
    training_examples: Sequence[Example], hands: Sequence[tuple[str, str]], base: Sequence[Example]
) -> tuple[BoundPhrase, ...]:
    """Return the phrases that nearly always have one label in one hand's examples, rare elsewhere.

    A hand is a reviewer or a source; `hands` names both of each training example. That is: in at
    least `MIN_TRAINING_EXAMPLES` training examples, 90 % of one label, 80 % from one reviewer or of
    one source, and at most twice in `base` or 20 times rarer there. Those in most training examples
    come first. One-word phrases are counted first and longer ones only of words that passed, so
    memory stays bounded.
    """
    words = [_words(example) for example in training_examples]
    held = _others_held(training_examples)
    for length in range(1, _MAX_WORDS_IN_A_PHRASE + 1):
        held.update(_runs_held(words, length, held))
    chosen = {
        phrase: positions
        for phrase, positions in held.items()
        if _is_of_one_hand(positions, hands) and _label_of(positions, training_examples) is not None
    }
    in_base = _count_in(base, chosen)
    answer = [
        BoundPhrase(
            phrase=phrase,
            is_spam=_label_of(positions, training_examples) is True,
            training_examples=tuple(positions),
            in_base=in_base[phrase],
        )
        for phrase, positions in chosen.items()
        if _is_rare(in_base[phrase], len(base), len(positions), len(training_examples))
    ]
    return tuple(
        sorted(answer, key=lambda b: (-len(b.training_examples), b.phrase.kind, b.phrase.value))
    )


def phrases_in(example: Example) -> set[Phrase]:
    """Return every phrase that a comment holds."""
    words = _words(example)
    runs = {run for length in range(1, _MAX_WORDS_IN_A_PHRASE + 1) for run in _runs(words, length)}
    return {Phrase(kind=PhraseKind.WORDS, value=" ".join(run)) for run in runs} | _others(example)


def _words(example: Example) -> list[str]:
    return normalise(example.comment.text).split()[:_MAX_WORDS_READ]


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    for start in range(len(words) - length + 1):
        run = tuple(words[start : start + length])
        # Marks of links and the like stand for values; a domain is a phrase of its own.
        if not any(_FIRST_MARK <= word[0] <= _LAST_MARK for word in run):
            yield run


def _others(example: Example) -> set[Phrase]:
    name = normalise(example.input.author_name)
    found = {Phrase(kind=PhraseKind.DOMAIN, value=d) for d in linked_domains(example.comment)}
    return found | ({Phrase(kind=PhraseKind.NAME, value=name)} if name else set())


def _others_held(training_examples: Sequence[Example]) -> dict[Phrase, list[int]]:
    held: defaultdict[Phrase, list[int]] = defaultdict(list)
    for position, example in enumerate(training_examples):
        for phrase in _others(example):
            held[phrase].append(position)
    return _frequent(held)


def _runs_held(
    words: Sequence[Sequence[str]], length: int, shorter: Mapping[Phrase, object]
) -> dict[Phrase, list[int]]:
    """Return the runs of so many words that are frequent, each with its training examples.

    A run is frequent only if both shorter runs inside it are: `shorter` holds those that are.
    """
    frequent = {p.value for p in shorter if p.kind is PhraseKind.WORDS}
    held: defaultdict[Phrase, list[int]] = defaultdict(list)
    for position, of_one in enumerate(words):
        for run in set(_runs(of_one, length)):
            if length == 1 or (" ".join(run[1:]) in frequent and " ".join(run[:-1]) in frequent):
                held[Phrase(kind=PhraseKind.WORDS, value=" ".join(run))].append(position)
    return _frequent(held)


def _frequent(held: Mapping[Phrase, list[int]]) -> dict[Phrase, list[int]]:
    return {phrase: some for phrase, some in held.items() if len(some) >= MIN_TRAINING_EXAMPLES}


def _label_of(positions: Sequence[int], training_examples: Sequence[Example]) -> bool | None:
    """Return the label that nearly all of these have, None without one."""
    share = sum(training_examples[i].is_spam for i in positions) / len(positions)
    if share >= _MIN_SHARE_OF_LABEL:
        return True
    return False if share <= 1 - _MIN_SHARE_OF_LABEL else None


def _is_of_one_hand(positions: Sequence[int], hands: Sequence[tuple[str, str]]) -> bool:
    for side in (0, 1):
        most = Counter(hands[i][side] for i in positions).most_common(1)[0][1]
        if most >= _MIN_SHARE_OF_HAND * len(positions):
            return True
    return False


def _count_in(base: Iterable[Example], wanted: Mapping[Phrase, object]) -> Counter[Phrase]:
    counts: Counter[Phrase] = Counter()
    if wanted:
        for example in base:
            counts.update(phrases_in(example) & wanted.keys())
    return counts


def _is_rare(
    in_base: int, n_base: int, in_training_examples: int, n_training_examples: int
) -> bool:
    if in_base <= _RARE_IN_BASE:
        return True
    return in_training_examples / n_training_examples >= _TIMES_RARER * in_base / n_base
