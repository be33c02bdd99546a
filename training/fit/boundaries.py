"""Compares boundaries in verdicts with known ones between remark and advertisement."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.inputs import ModelOutput
from service.domain.comment import Comment
from service.domain.sender import History
from service.scoring.classifier import place_seam
from service.signals.detectors.seam import abrupt_shift
from service.signals.view import view_of
from training.data.dataset import Example
from training.fit.promotion import word_starts


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBoundaries:
    """For spam with a known boundary, the distances of found ones; for ham, how many were found.

    `exact` means in the same word.
    """

    n: int
    within_one_sentence: int
    exact: int
    n_ham: int
    ham_with_one: int


def compare_boundaries(
    examples: Sequence[Example], outputs: Sequence[ModelOutput]
) -> FoundBoundaries:
    """Compare the first boundary in each comment's verdict with the known one."""
    n = near = exact = n_ham = alarmed = 0
    for example, output in zip(examples, outputs, strict=True):
        if not example.is_spam:
            n_ham += 1
            alarmed += first_boundary(example.comment, output) is not None
        elif example.boundary is not None:
            n += 1
            found = first_boundary(example.comment, output)
            if found is not None:
                sentences, words = _apart(example.comment, found, example.boundary)
                near += sentences <= 1
                exact += words == 0
    return FoundBoundaries(
        n=n, within_one_sentence=near, exact=exact, n_ham=n_ham, ham_with_one=alarmed
    )


def first_boundary(comment: Comment, output: ModelOutput) -> int | None:
    """Return the offset of the first boundary in a verdict, None if there is none."""
    fired = abrupt_shift(comment, History())
    signals = place_seam(comment, (fired,) if fired else (), output)
    return min((b for signal in signals for b in signal.boundaries), default=None)


def _apart(comment: Comment, found: int, known: int) -> tuple[int, int]:
    """Return the sentences and words between two offsets; blanks belong to the next word."""
    text = comment.text
    a, b = sorted((_past_blanks(text, found), _past_blanks(text, known)))
    sentences = (start for start, _ in view_of(comment).sentences)
    return (
        sum(a < start <= b for start in sentences),
        sum(a < start <= b for start in word_starts(text).tolist()),
    )


def _past_blanks(text: str, offset: int) -> int:
    return len(text) - len(text[offset:].lstrip())
