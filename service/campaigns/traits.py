"""Names the traits that comments of one campaign share: meaning, targets, copied words."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from service.campaigns.targets import own_words, targets_of
from service.domain.comment import Comment, CommentId
from service.domain.sender import History
from service.reputation.fingerprints import fingerprints_of

# A comment that has more is grouped by its first ones.
MAX_TARGETS = 24
MAX_TARGET_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What one comment is grouped by.

    `embedding` has unit length and can be compared only with those of the same `space`, which is
    the version of the model that made it; None where that model makes none. `targets` are what
    the comment leads to, each a kind, a colon and the thing itself (see `targets`); `copies` are
    the keys that near-copies of its own words share (`service.reputation.fingerprints`). `p_spam`
    is its verdict's; None where the classifier was away, and it speaks neither way. `has_sender`
    says that they were made while something was known of who sent the comment.
    """

    comment_id: CommentId
    embedding: tuple[float, ...] | None
    space: str
    targets: frozenset[str]
    copies: tuple[str, ...]
    p_spam: float | None = None
    has_sender: bool = False

    def __post_init__(self) -> None:
        if self.embedding is not None and not all(map(math.isfinite, self.embedding)):
            raise ValueError("an embedding must be finite numbers")


def traits_of(
    comment: Comment,
    *,
    embedding: tuple[float, ...] | None,
    space: str,
    p_spam: float | None = None,
    blog: str | None = None,
    history: History | None = None,
) -> Traits:
    """Return the traits of a comment; a pure function of what is given.

    `blog` is the address of the site's front page, `history` what is remembered of the comment,
    where they are known: what is the site's own or its regulars' is no target. At most
    `MAX_TARGETS` targets of at most `MAX_TARGET_CHARS` characters; whatever the text holds,
    nothing is raised. Raise `ValueError` for an embedding that is not finite.
    """
    targets = targets_of(comment, blog=blog, history=history or History())
    return Traits(
        comment_id=comment.id,
        embedding=embedding,
        space=space,
        targets=frozenset(islice(_bounded(targets), MAX_TARGETS)),
        copies=fingerprints_of(own_words(comment)),
        p_spam=p_spam,
        has_sender=comment.sender.is_known,
    )


def _bounded(targets: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for target in targets:
        if len(target) <= MAX_TARGET_CHARS and target not in seen:
            seen.add(target)
            yield target
