"""Names hashed features while the comment that has them is at hand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from models.features import hash_each_word
from service.domain.comment import Comment
from service.domain.verdict import Span
from service.learning.features import hash_others, scatter
from service.learning.numbers import MOST_WORDS
from service.learning.training_example import Features, FloatArray
from service.signals.view import TextView, view_of

# What a reason names at most, and among how many of the heaviest features that is looked for: some
# are marks without a word in them, others a word and a pair that it stands in.
MOST_NAMED = 3
_LOOKED_AT = 12


class Kind(StrEnum):
    """What a feature is of: words of the text, a linked domain, or what stands beside the text."""

    WORDS = "words"
    DOMAIN = "domain"
    NAME = "name"
    AUTHOR = "author"
    POST = "post"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A feature in words; `span` is where it stands in the text, if it does."""

    kind: Kind
    says: str
    span: Span | None = None


def name_heaviest(
    comment: Comment, features: Features, parts: FloatArray, salt: int
) -> tuple[Named, ...]:
    """Return the few things of a comment that add most; `parts` is what each feature adds."""
    heaviest = np.argsort(-parts, kind="stable")[:_LOOKED_AT]
    wanted = {int(features.ids[at]): float(parts[at]) for at in heaviest if parts[at] > 0.0}
    known = name_features(comment, wanted, salt)
    # Of those that weigh alike a longer one says more.
    most_first = sorted(known, key=lambda key: (-round(wanted[key], 2), -len(known[key].says), key))
    named: list[Named] = []
    for one in map(known.__getitem__, most_first):
        if len(named) < MOST_NAMED and not any(_overlap(one, other) for other in named):
            named.append(one)
    return tuple(named)


def name_features(comment: Comment, wanted: Collection[int], salt: int) -> dict[int, Named]:
    """Return what those of the wanted features stand for that can be read in this comment."""
    view = view_of(comment)
    words = view.words[:MOST_WORDS]
    ids = scatter(hash_each_word([word.text for word in words]), salt)
    sought = np.array([*wanted], dtype=np.uint32)
    named: dict[int, Named] = {}
    for at in np.flatnonzero((ids[:, np.newaxis] == sought).any(axis=1)):
        first = words[at % len(words)]
        last = first if at < len(words) else words[at % len(words) + 1]
        start, end = view.original(first)[0], view.original(last)[1]
        says = first.text if last is first else f"{first.text} {last.text}"
        stands = Named(kind=Kind.WORDS, says=says, span=Span(start=start, end=end))
        named.setdefault(int(ids[at]), stands)
    if len(named) == len(sought):
        return named
    for key, other in hash_others(comment, salt).items():
        if key in wanted:
            kind, _, says = other.partition(":")
            span = _domain_span(view, says) if kind == Kind.DOMAIN else None
            named[key] = Named(kind=Kind(kind), says=says, span=span)
    return named


def _domain_span(view: TextView, domain: str) -> Span | None:
    """Return where a link to this domain stands, its own letters where it is spelled so."""
    for link in view.links:
        if link.domain == domain and not link.shielded:
            at = view.text[link.start : link.end].lower().rfind(domain)
            if at < 0 or link.start + at + len(domain) > link.end:
                return Span(start=link.start, end=link.end)
            return Span(start=link.start + at, end=link.start + at + len(domain))
    return None


def _overlap(one: Named, other: Named) -> bool:
    if one.span is None or other.span is None:
        return (one.kind, one.says) == (other.kind, other.says)
    return one.span.start < other.span.end and other.span.start < one.span.end
