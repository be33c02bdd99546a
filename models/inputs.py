"""The inputs and outputs of a classifier; training and serving build them alike."""

from dataclasses import dataclass, field

# Few comments below this are shown to a moderator, and marks are shown only in those and in spam
# (`service.scoring.conclude`).
MIN_P_SPAM_TO_MARK = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInput:
    """One comment and its post, as far as text goes. Missing fields are empty strings.

    `author_host` is the host of the author's URL in lower case, without scheme, path or port.
    """

    text: str
    post_title: str = ""
    post_excerpt: str = ""
    author_name: str = ""
    author_host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """A classifier's output: a calibrated probability and, if it can, the promotion's place.

    `promo_spans` are half-open `(start, end)` offsets into `ModelInput.text`. `embedding` has unit
    length: comments of one campaign are close to each other. It is no evidence of spam, and is
    comparable only within a version; None if the classifier has none. `word_hashes` is
    `models.features.hash_words` of the text, so that no one has to compute it again; None if the
    classifier didn't.
    """

    p_spam: float
    promo_spans: tuple[tuple[int, int], ...] = ()
    embedding: tuple[float, ...] | None = None
    word_hashes: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_spam <= 1.0:
            msg = f"p_spam must be in [0, 1], got {self.p_spam}"
            raise ValueError(msg)
