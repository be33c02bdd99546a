"""Names what a comment has that others of its campaign have too: meaning, targets, copied words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from service.campaigns.targets import targets_of
from service.domain.comment import Comment, CommentId
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
    the keys that near-copies of its text share (`service.reputation.fingerprints`).
    """

    comment_id: CommentId
    embedding: tuple[float, ...] | None
    space: str
    targets: frozenset[str]
    copies: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.comment_id:
            msg = "traits need the id of their comment"
            raise ValueError(msg)
        if self.embedding is not None and not all(map(math.isfinite, self.embedding)):
            msg = "an embedding must be finite numbers"
            raise ValueError(msg)


def traits_of(comment: Comment, *, embedding: tuple[float, ...] | None, space: str) -> Traits:
    """Return the traits of a comment; a pure function of the comment and the model's embedding.

    At most `MAX_TARGETS` targets of at most `MAX_TARGET_CHARS` characters; whatever the text
    holds, nothing is raised. Raise `ValueError` for an embedding that is not finite.
    """
    return Traits(
        comment_id=comment.id,
        embedding=embedding,
        space=space,
        targets=frozenset(islice(_bounded(targets_of(comment)), MAX_TARGETS)),
        copies=fingerprints_of(comment.text),
    )


def _bounded(targets: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for target in targets:
        if len(target) <= MAX_TARGET_CHARS and target not in seen:
            seen.add(target)
            yield target
