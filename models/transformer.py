"""The shipped classifier: a small transformer beside a linear member, calibrated together."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from models.embedding import Projection, read_projection
from models.engine import Engine, WindowScores
from models.features import count_with_words
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput, ModelOutput
from models.linear import LinearTable, read_table
from models.log_odds import logistic
from models.stretches import Stretch, join_stretches, split_stretches
from models.tokens import CommentTokeniser, Window

# One number, or an array of them.
Number = TypeVar("Number", float, npt.NDArray[np.float64])

NETWORK_FILE, TOKENISER_FILE = "network.xml", "tokenizer.json"
WEIGHTS_FILE, LINEAR_FILE, CALIBRATION_FILE = "network.bin", "linear.npz", "calibration.json"
# A version may lack it; its answers then have no embedding.
EMBEDDING_FILE = "embedding.npz"

# Two or three words after a comma ("thanks!") are too few to be judged alone. 2026-11-21, words of
# spam marked alike by hand and by `minilm-1`, F1 without and with this: 0.7567 and 0.7570 on the
# calibration part (n=2,801 marked by hand; 2 to 8 tokens differ by less than 0.001), 0.7387 and
# 0.7384 on the test part (n=4,477): no better on the whole, but a remark is no longer cut in two.
_MIN_TOKENS = 4
# A remark around promotion lies so many log-odds below it. Of the authored spam of the calibration
# part with a remark first, 29 of 119 marks then begin in the remark (59 without a bound), 70 begin
# where the promotion does (50), at an F1 of 0.766 (0.739); with 2 / 3 / 4 it is 0.753 / 0.762 /
# 0.750 (`minilm-6`, 2026-11-22).
_MARKS_WITHIN = 2.5
# What words of plain talk say (the median of the calibration part is -5.8, its least -7.5).
_NO_PROMOTION = -7.0
_CLAUSE_ENDS = (",", ";", ":")
# A flood repeats itself: windows read lately are remembered, 17 MB at most.
_REMEMBERED_WINDOWS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """`p_spam` is the logistic of `log_odds`; a version older than `promotion` gives it no weight.

    A stretch is marked as promotion where the mean log-odds of its tokens reach `marks_from`.
    `voice_slope` and `voice_offset` calibrate the head for LLM voice; a slope of 0 says that it
    was taught nothing.
    """

    offset: float
    network: float
    linear: float
    marks_from: float
    voice_offset: float
    voice_slope: float
    promotion: float = 0.0

    def __post_init__(self) -> None:
        wrong = [name for name in self.__slots__ if not math.isfinite(getattr(self, name))]
        if wrong:
            msg = f"calibration must be finite numbers: {', '.join(wrong)}"
            raise ValueError(msg)

    def log_odds(self, network: Number, linear: Number, promotion: Number) -> Number:
        """Return one log-odds of spam from what the members say, each in log-odds.

        `promotion` is what `strongest_promotion` makes of the network's words. Numbers and arrays
        of them alike.
        """
        return (
            self.offset + self.network * network + self.linear * linear + self.promotion * promotion
        )


class TransformerClassifier:
    """Scores each comment alone: its answer never depends on what else is in the batch.

    An instance never changes what it answers and may be shared between threads.
    """

    KIND: ClassVar[str] = "transformer"
    FILES: ClassVar[tuple[str, ...]] = (
        NETWORK_FILE,
        WEIGHTS_FILE,
        TOKENISER_FILE,
        LINEAR_FILE,
        CALIBRATION_FILE,
    )

    def __init__(
        self,
        engine: Engine,
        tokeniser: CommentTokeniser,
        linear: LinearTable,
        calibration: Calibration,
        projection: Projection | None = None,
    ) -> None:
        self._engine = engine
        self._tokeniser = tokeniser
        self._linear = linear
        self._calibration = calibration
        self._projection = projection
        self._lock = Lock()
        self._remembered: OrderedDict[bytes, WindowScores] = OrderedDict()

    @classmethod
    def read(cls, folder: Path, files: Mapping[str, bytes]) -> Self:
        """Return the classifier of a version's folder, whose files were read and checked.

        The network is read from the folder itself, so that processes share its pages. Raise
        `ValueError` or `KeyError` for content that is not one; nothing in it is ever executed.
        """
        missing = [name for name in cls.FILES if name not in files]
        if missing:
            # The engine would read a network that lies in the folder, checked or not.
            msg = f"the manifest does not list {', '.join(missing)}"
            raise ValueError(msg)
        calibration = json.loads(files[CALIBRATION_FILE])
        try:
            numbers = Calibration(**calibration)
        except TypeError as error:
            msg = f"{CALIBRATION_FILE} does not hold the numbers of a calibration"
            raise ValueError(msg) from error
        return cls(
            Engine(folder / NETWORK_FILE),
            CommentTokeniser(files[TOKENISER_FILE].decode("utf-8")),
            read_table(files[LINEAR_FILE]),
            numbers,
            read_projection(files[EMBEDDING_FILE]) if EMBEDDING_FILE in files else None,
        )

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer.

        Raise `ClassifierError` if the engine can't answer.
        """
        windows = [self._tokeniser.windows(one) for one in inputs]
        scores = self._read([window for some in windows for window in some])
        answers = []
        start = 0
        for one, some in zip(inputs, windows, strict=True):
            mine = scores[start : start + len(some)]
            start += len(some)
            answers.append(self._answer(one, some, mine))
        return answers

    def _read(self, windows: Sequence[Window]) -> list[WindowScores]:
        """Return the network's scores; windows of the same tokens are read once."""
        keys = [_key(window) for window in windows]
        with self._lock:
            known = {key: self._remembered[key] for key in keys if key in self._remembered}
        fresh = {k: w for k, w in zip(keys, windows, strict=True) if k not in known}
        known.update(zip(fresh, self._engine.read(list(fresh.values())), strict=True))
        with self._lock:
            for key in fresh:
                self._remembered[key] = known[key]
            while len(self._remembered) > _REMEMBERED_WINDOWS:
                self._remembered.popitem(last=False)
        return [known[key] for key in keys]

    def _answer(
        self, one: ModelInput, windows: Sequence[Window], scores: Sequence[WindowScores]
    ) -> ModelOutput:
        features, word_hashes = count_with_words(one)
        linear = self._linear.sum_of(features)
        network = pool([s.spam for s in scores])
        promotion = strongest_promotion([s.promotion for s in scores])
        p_spam = logistic(self._calibration.log_odds(network, linear, promotion))
        return ModelOutput(
            p_spam=p_spam,
            promo_spans=self._mark(one, windows, scores) if p_spam >= MIN_P_SPAM_TO_MARK else (),
            llm_voice=self._voice(scores),
            embedding=self._embed(scores),
            word_hashes=word_hashes,
        )

    def _embed(self, scores: Sequence[WindowScores]) -> tuple[float, ...] | None:
        if self._projection is None:
            return None
        return self._projection.embed([s.pooled for s in scores if s.pooled is not None])

    def _voice(self, scores: Sequence[WindowScores]) -> float | None:
        c = self._calibration
        if c.voice_slope == 0.0:
            return None
        return logistic(c.voice_offset + c.voice_slope * pool([s.llm_voice for s in scores]))

    def _mark(
        self, one: ModelInput, windows: Sequence[Window], scores: Sequence[WindowScores]
    ) -> tuple[Stretch, ...]:
        return mark_stretches(
            one.text, windows, [s.promotion for s in scores], self._calibration.marks_from
        )


def _key(window: Window) -> bytes:
    """Return a digest of all that the network reads of a window; the window itself takes 30 kB."""
    return hashlib.sha256(array("i", (window.n_context, *window.ids)).tobytes()).digest()


def pool(log_odds: Sequence[float]) -> float:
    """Return one log-odds for several windows: between their mean and their highest.

    The logarithm of the mean odds: one window that is surely spam makes the comment so, while
    a window more of plain talk changes little. No window gives 0.
    """
    if not log_odds:
        return 0.0
    highest = max(log_odds)
    return highest + math.log(sum(math.exp(x - highest) for x in log_odds) / len(log_odds))


def strongest_promotion(promotion: Sequence[Sequence[float]]) -> float:
    """Return the mean log-odds of the four words that promote most, of all windows together.

    However much plain talk stands beside an advertisement, it lowers nothing here. `promotion`
    holds for each window one number a token of its text; a text without any promotes nothing.
    """
    highest = heapq.nlargest(_MIN_TOKENS, chain.from_iterable(promotion))
    return math.fsum(highest) / len(highest) if highest else _NO_PROMOTION


def mark_stretches(
    text: str,
    windows: Sequence[Window],
    promotion: Sequence[Sequence[float]],
    marks_from: float,
) -> tuple[Stretch, ...]:
    """Return the stretches whose tokens' mean log-odds of promotion reach `marks_from`, joined.

    `promotion` holds for each window one number a token of its text. Sentences and clauses are
    marked whole: single words are no help to a reader. A clause of less than four tokens is judged
    together with the one before it in its sentence. What lies far below the stretch that promotes
    most is the remark around it and stays unmarked.
    """
    stretches = split_stretches(text)
    starts = [start for start, _ in stretches]
    sums, counts = [0.0] * len(stretches), [0] * len(stretches)
    for window, numbers in zip(windows, promotion, strict=True):
        place = 0
        for (start, end), number in zip(window.spans, numbers, strict=True):
            if start == end:
                continue
            while place + 1 < len(starts) and starts[place + 1] <= start:
                place += 1
            if stretches and start >= starts[place]:
                sums[place] += number
                counts[place] += 1
    means: list[float] = []
    for first, last in _judged_together(text, stretches, counts):
        n = sum(counts[first:last])
        means += [sum(sums[first:last]) / n if n else -math.inf] * (last - first)
    least = max(marks_from, max(means, default=0.0) - _MARKS_WITHIN)
    return join_stretches(stretches, [mean >= least for mean in means])


def _judged_together(
    text: str, stretches: Sequence[Stretch], counts: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the stretches as runs `[first, last)`: short clauses with the one before them."""
    runs: list[tuple[int, int]] = []
    for place, count in enumerate(counts):
        follows_clause = place > 0 and text[stretches[place - 1][1] - 1] in _CLAUSE_ENDS
        first = runs.pop()[0] if follows_clause and count < _MIN_TOKENS else place
        runs.append((first, place + 1))
    return runs
