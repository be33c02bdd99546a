"""What a classifier reads and what it answers; built the same way in training and in serving."""

from __future__ import annotations

from dataclasses import dataclass, field

# Hardly any comment of which a classifier thinks less is left to a person, and only those and spam
# show what it marked (`service.scoring.conclude`).
MIN_P_SPAM_TO_MARK = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInput:
    """One comment in its post's context, as far as words tell. Absent fields are empty strings.

    `author_host` is the host of the author's URL in lower case, without scheme, path or port.
    """

    text: str
    post_title: str = ""
    post_excerpt: str = ""
    author_name: str = ""
    author_host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """A classifier's answer: a calibrated probability and, if it can tell, where the promotion is.

    `promo_spans` are half-open `(start, end)` offsets into `ModelInput.text`. `embedding` has unit
    length: comments of one campaign lie close together in it; None if the classifier has none. It
    says nothing about spam, and can be compared only with those of the same version. `word_hashes`
    is what `models.features.hash_words` returns for the text, handed on so that nobody reads it
    twice; None if the classifier didn't.
    """

    p_spam: float
    promo_spans: tuple[tuple[int, int], ...] = ()
    embedding: tuple[float, ...] | None = None
    word_hashes: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_spam <= 1.0:
            msg = f"p_spam must be in [0, 1], got {self.p_spam}"
            raise ValueError(msg)
