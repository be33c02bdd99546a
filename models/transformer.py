"""The shipped classifier: a transformer and linear members, calibrated together."""

import hashlib
import heapq
import json
import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from models.author import count_name
from models.embedding import Projection, read_projection
from models.ends import without_ends
from models.engine import Engine, Rest, WindowScores
from models.features import Features, count_with_words
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput, ModelOutput
from models.linear import LinearTable, read_table
from models.log_odds import logistic
from models.promotion import promotion_by_words
from models.segments import Segment, join_segments, split_segments
from models.tokens import CommentTokeniser, Window

# Beyond the log-odds of any table of names.
UNBOUNDED = 1e6

# One number, or an array of them.
Number = TypeVar("Number", float, npt.NDArray[np.float64])

NETWORK_FILE, TOKENISER_FILE = "network.xml", "tokenizer.json"
# Optional: the second part of the network, for windows that the first part is unsure of.
REST_FILE, REST_WEIGHTS_FILE = "rest.xml", "rest.bin"
WEIGHTS_FILE, LINEAR_FILE, CALIBRATION_FILE = "network.bin", "linear.npz", "calibration.json"
# Optional: without it there are no embeddings.
EMBEDDING_FILE = "embedding.npz"
# Optional: without it names have no weight.
NAMES_FILE = "names.npz"
# Optional: without it the network alone marks promotion.
MARKS_FILE = "marks.npz"
# Torch weights before int8, which training writes next to the version. Serving ignores them.
TORCH_FILE = "network.safetensors"

# Two or three words after a comma ("thanks!") are too few to be judged alone. The F1 is the same
# for 1 to 8 tokens (0.757, n=2,801 marked by hand), but with 4 a remark is not cut in two.
_MIN_TOKENS = 4
# The log-odds of ordinary text: its median on the calibration part is -5.8, its least -7.5.
_NO_PROMOTION = -7.0
_CLAUSE_ENDS = (",", ";", ":")
# Floods repeat texts, so recent windows are cached, at most 17 MB.
_CACHED_WINDOWS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How the members' log-odds become one log-odds of spam, and how promotion is marked.

    The first five weigh log-odds. A segment is marked as promotion if its log-odds reach
    `marks_from` and are at most `marks_within` below the highest; they are a mean of its words'
    log-odds, with the share `marks_words`, and its tokens' mean. A name's log-odds are limited to
    between `names_from` and `names_to`. Versions without `promotion`, `names` or `marks_words` give
    them no weight; versions without limits have none.
    """

    offset: float
    network: float
    linear: float
    promotion: float = 0.0
    names: float = 0.0
    names_from: float = -UNBOUNDED
    names_to: float = UNBOUNDED
    linear_from: float = -UNBOUNDED
    linear_to: float = UNBOUNDED
    # The second part reads windows whose log-odds by the first are between these.
    open_above: float = 0.0
    open_below: float = 0.0
    # A comment with log-odds between these, and with words that promote more than this, is also
    # read without its ends.
    reread_above: float = 0.0
    reread_below: float = 0.0
    reread_promotion: float = 0.0
    marks_from: float
    # The distance of a remark next to promotion.
    marks_within: float = 2.5
    marks_words: float = 0.0

    def __post_init__(self) -> None:
        wrong = [name for name, number in asdict(self).items() if not math.isfinite(number)]
        if wrong:
            msg = f"calibration must be finite numbers: {', '.join(wrong)}"
            raise ValueError(msg)

    def log_odds(self, network: Number, linear: Number, promotion: Number, names: Number) -> Number:
        """Return one log-odds of spam, for numbers or for arrays.

        `promotion` is `strongest_promotion` of the network's tokens, `names` the log-odds of the
        author's name, 0 without a name.
        """
        bounded: Number = np.clip(names, self.names_from, self.names_to)
        of_words: Number = np.clip(linear, self.linear_from, self.linear_to)
        return (
            self.offset
            + self.network * network
            + self.linear * of_words
            + self.promotion * promotion
            + self.names * bounded
        )

    def is_reread(self, log_odds: float, promotion: float) -> bool:
        """Return True if a comment with these log-odds is also read without its ends."""
        return (
            self.reread_above < log_odds < self.reread_below and promotion > self.reread_promotion
        )


def calibration_bytes(calibration: Calibration) -> bytes:
    """Return a calibration as bytes, for `read_calibration`."""
    return json.dumps(asdict(calibration), indent=2).encode("utf-8")


def read_calibration(content: bytes) -> Calibration:
    """Return the calibration that these bytes hold. Raise `ValueError` for anything else."""
    try:
        numbers = json.loads(content)
        # Older versions had a head for LLM voice and a weight of homepages, always 0.
        for name in ("voice_offset", "voice_slope", "hosts", "hosts_from", "hosts_to"):
            numbers.pop(name, None)
        return Calibration(**numbers)
    except (TypeError, AttributeError) as error:
        msg = f"{CALIBRATION_FILE} does not hold the numbers of a calibration"
        raise ValueError(msg) from error


class TransformerClassifier:
    """Scores each comment alone: its output never depends on the rest of the batch.

    Instances are immutable and may be shared between threads.
    """

    KIND: ClassVar[str] = "transformer"
    FILES: ClassVar[tuple[str, ...]] = (
        NETWORK_FILE,
        WEIGHTS_FILE,
        TOKENISER_FILE,
        LINEAR_FILE,
        CALIBRATION_FILE,
    )
    # Optional files of a version.
    MORE_FILES: ClassVar[tuple[str, ...]] = (
        REST_FILE,
        REST_WEIGHTS_FILE,
        EMBEDDING_FILE,
        NAMES_FILE,
        MARKS_FILE,
    )

    def __init__(
        self,
        engine: Engine,
        tokeniser: CommentTokeniser,
        linear: LinearTable,
        calibration: Calibration,
        *,
        projection: Projection | None = None,
        names: LinearTable | None = None,
        marks: LinearTable | None = None,
    ) -> None:
        self._engine = engine
        self._tokeniser = tokeniser
        self._linear = linear
        self._calibration = calibration
        self._projection = projection
        self._names = names
        self._marks = marks
        self._lock = Lock()
        self._cache: OrderedDict[bytes, WindowScores] = OrderedDict()

    @classmethod
    def read(cls, folder: Path, files: Mapping[str, bytes]) -> Self:
        """Return the classifier of a version's folder, whose files were read and checked.

        The network is read from the folder itself, so that processes share its pages. Raises
        `ValueError` or `KeyError` for invalid content; no content is executed.
        """
        missing = [name for name in cls.FILES if name not in files]
        if missing:
            # The engine would read a network from the folder even if it was not checked.
            msg = f"the manifest does not list {', '.join(missing)}"
            raise ValueError(msg)
        with ThreadPoolExecutor(1) as executor:
            # The engine compiles the network outside Python, which can read the other files
            # meanwhile.
            members = executor.submit(cls._read_members, files)
            calibration = read_calibration(files[CALIBRATION_FILE])
            rest = rest_of(folder, calibration) if REST_FILE in files else None
            engine = Engine(folder / NETWORK_FILE, rest=rest)
            return members.result()(engine)

    @classmethod
    def _read_members(cls, files: Mapping[str, bytes]) -> Callable[[Engine], Self]:
        return partial(
            cls,
            tokeniser=CommentTokeniser(files[TOKENISER_FILE].decode("utf-8")),
            linear=read_table(files[LINEAR_FILE]),
            calibration=read_calibration(files[CALIBRATION_FILE]),
            projection=read_projection(files[EMBEDDING_FILE]) if EMBEDDING_FILE in files else None,
            names=read_table(files[NAMES_FILE]) if NAMES_FILE in files else None,
            marks=read_table(files[MARKS_FILE]) if MARKS_FILE in files else None,
        )

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one output per input, in order; equal inputs always get equal outputs.

        Raises `ClassifierError` if the engine fails.
        """
        windows = [self._tokeniser.windows(one) for one in inputs]
        words: list[bytes] = []
        linear: list[float] = []
        names: list[float] = []

        def count() -> None:
            for one in inputs:
                vectors, hashes = count_with_words(one)
                words.append(hashes)
                linear.append(self._linear.highest_of(vectors))
                names.append(log_odds_in(self._names, count_name(one)))

        scores = self._read(windows, count)
        log_odds = self._log_odds(inputs, scores, linear, names)
        rows = zip(inputs, windows, scores, log_odds, words, strict=True)
        return [self._answer(*row) for row in rows]

    def _log_odds(
        self,
        inputs: Sequence[ModelInput],
        scores: Sequence[Sequence[WindowScores]],
        linear: Sequence[float],
        names: Sequence[float],
    ) -> list[float]:
        """Return each comment's log-odds of spam.

        Harmless words next to an advertisement make the network unsure. So an unclear comment with
        promotional words is also read without its ends, and the network's highest score counts.
        """
        calibration = self._calibration
        network = [pool([s.spam for s in some]) for some in scores]
        strongest = [strongest_promotion([s.promotion for s in some]) for some in scores]
        rows = list(zip(network, linear, strongest, names, strict=True))
        log_odds = [float(calibration.log_odds(*row)) for row in rows]
        unclear = [
            i for i, found in enumerate(log_odds) if calibration.is_reread(found, strongest[i])
        ]
        again = read_without_ends([inputs[i] for i in unclear], self._tokeniser, self._read)
        for i, highest in zip(unclear, again, strict=True):
            network_score, *others = rows[i]
            log_odds[i] = float(calibration.log_odds(max(network_score, highest), *others))
        return log_odds

    def _read(
        self, windows: Sequence[Sequence[Window]], meanwhile: Callable[[], None] | None = None
    ) -> list[list[WindowScores]]:
        """Return the network's scores of each comment; windows of the same tokens are read once."""
        keys = [[_key(window) for window in some] for some in windows]
        wanted = dict(zip(chain(*keys), chain(*windows), strict=True))
        cache = self._cache
        with self._lock:
            known = {key: cache[key] for key in wanted if key in cache}
        fresh = {key: window for key, window in wanted.items() if key not in known}
        known.update(zip(fresh, self._engine.read(list(fresh.values()), meanwhile), strict=True))
        with self._lock:
            for key in fresh:
                cache[key] = known[key]
            while len(cache) > _CACHED_WINDOWS:
                cache.popitem(last=False)
        return [[known[key] for key in some] for some in keys]

    def _answer(
        self,
        one: ModelInput,
        windows: Sequence[Window],
        scores: Sequence[WindowScores],
        log_odds: float,
        word_hashes: bytes,
    ) -> ModelOutput:
        p_spam = logistic(log_odds)
        return ModelOutput(
            p_spam=p_spam,
            promo_spans=self._mark(one, windows, scores) if p_spam >= MIN_P_SPAM_TO_MARK else (),
            embedding=self._embed(scores),
            word_hashes=word_hashes,
        )

    def _embed(self, scores: Sequence[WindowScores]) -> tuple[float, ...] | None:
        if self._projection is None:
            return None
        return self._projection.embed([s.pooled for s in scores if s.pooled is not None])

    def _mark(
        self, one: ModelInput, windows: Sequence[Window], scores: Sequence[WindowScores]
    ) -> tuple[Segment, ...]:
        by_words = promotion_by_words(self._marks, one) if self._marks is not None else ()
        return mark_segments(
            one.text, windows, [s.promotion for s in scores], self._calibration, by_words
        )


def read_without_ends(
    inputs: Sequence[ModelInput],
    tokeniser: CommentTokeniser,
    read: Callable[[Sequence[Sequence[Window]]], Sequence[Sequence[WindowScores]]],
) -> list[float]:
    """Return the network's highest log-odds of each comment without an end of its text.

    `read` runs the network on each text's windows. It is -inf for a text without such an end.
    """
    shorter = [
        (i, tokeniser.windows(replace(one, text=text)))
        for i, one in enumerate(inputs)
        for text in without_ends(one.text)
    ]
    highest = [-math.inf] * len(inputs)
    for (i, _), some in zip(shorter, read([windows for _, windows in shorter]), strict=True):
        highest[i] = max(highest[i], pool([s.spam for s in some]))
    return highest


def log_odds_in(table: LinearTable | None, features: Features | None) -> float:
    """Return a table's log-odds of a name, 0 without a name or a table."""
    return 0.0 if table is None or features is None else table.sum_of(features)


def rest_of(folder: Path, calibration: Calibration) -> Rest:
    """Return the second part of a version's network, with the bounds of its use."""
    return Rest(
        network=folder / REST_FILE, above=calibration.open_above, below=calibration.open_below
    )


def _key(window: Window) -> bytes:
    """Return a digest of a window's inputs; the window itself takes 30 kB."""
    return hashlib.sha256(array("i", (window.n_context, *window.ids)).tobytes()).digest()


def pool(log_odds: Sequence[float]) -> float:
    """Return one log-odds for several windows: between their mean and their highest.

    It is the logarithm of the mean odds: one window that is clearly spam decides, and a further
    window of ordinary text changes little. No window gives 0.
    """
    if not log_odds:
        return 0.0
    highest = max(log_odds)
    return highest + math.log(sum(math.exp(x - highest) for x in log_odds) / len(log_odds))


def strongest_promotion(promotion: Sequence[Sequence[float]]) -> float:
    """Return the mean log-odds of the four most promotional tokens of all windows.

    Ordinary text next to an advertisement does not lower it. `promotion` has one number per token
    of each window's text; without tokens the result is that of no promotion.
    """
    highest = heapq.nlargest(_MIN_TOKENS, chain.from_iterable(promotion))
    return math.fsum(highest) / len(highest) if highest else _NO_PROMOTION


def mark_segments(
    text: str,
    windows: Sequence[Window],
    promotion: Sequence[Sequence[float]],
    calibration: Calibration,
    by_words: Sequence[float] = (),
) -> tuple[Segment, ...]:
    """Return the segments that promote by the bounds of `calibration`, joined.

    `promotion` has one number per token of each window's text. `by_words` has one per segment
    (`models.promotion.promotion_by_words`); without it only tokens count. Sentences and clauses are
    marked whole, because single words do not help a reader. Clauses of fewer than four tokens are
    counted together with the previous clause of their sentence. Segments far below the most
    promotional one are the remark around it and stay unmarked.
    """
    segments = split_segments(text)
    starts = [start for start, _ in segments]
    sums, counts = [0.0] * len(segments), [0] * len(segments)
    for window, numbers in zip(windows, promotion, strict=True):
        place = 0
        for (start, end), number in zip(window.spans, numbers, strict=True):
            if start == end:
                continue
            while place + 1 < len(starts) and starts[place + 1] <= start:
                place += 1
            if segments and start >= starts[place]:
                sums[place] += number
                counts[place] += 1
    means: list[float] = []
    for first, last in _judged_together(text, segments, counts):
        n = sum(counts[first:last])
        means += [sum(sums[first:last]) / n if n else -math.inf] * (last - first)
    if by_words:
        share = calibration.marks_words
        means = [
            (1.0 - share) * mean + share * words
            for mean, words in zip(means, by_words, strict=True)
        ]
    least = max(calibration.marks_from, max(means, default=0.0) - calibration.marks_within)
    return join_segments(segments, [mean >= least for mean in means])


def _judged_together(
    text: str, segments: Sequence[Segment], counts: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the segments as runs `[first, last)`: short clauses join the one before them."""
    runs: list[tuple[int, int]] = []
    for place, count in enumerate(counts):
        follows_clause = place > 0 and text[segments[place - 1][1] - 1] in _CLAUSE_ENDS
        first = runs.pop()[0] if follows_clause and count < _MIN_TOKENS else place
        runs.append((first, place + 1))
    return runs
