"""Counts a comment's features as keyed hashes, and names them again from the comment's text.

Every hash is keyed by the installation's own salt, so that nobody outside can compute which words
share a slot. The state holds hashes alone, no words.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import numpy as np
import numpy.typing as npt

from models.features import hash_each_word, hash_words
from service.domain.comment import Comment, CommentId, SiteId
from service.domain.verdict import Span
from service.learning.evidence import Piece
from service.learning.numbers import MOST_DOMAINS, MOST_WORDS, NAME_SHAPE_COUNTS
from service.signals.hosts import host_of, registered_domain
from service.signals.view import TextView, linked_domains, view_of

IdArray = npt.NDArray[np.uint32]
FloatArray = npt.NDArray[np.float64]


class DecisionSource(StrEnum):
    """Who made a decision, as far as trust goes."""

    OWNER = "owner"
    ACCOUNT = "account"
    IMPORT = "import"
    SITE = "site"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Hashed features, each once, with values, and keys that near-copies of the text share."""

    ids: IdArray
    values: FloatArray
    copies: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """One decision in force. They are learnt in the order of `number`, which is the database's.

    `teacher` names an account, or a site and its `source`. `day` is the decision's, in
    days of the calendar. `frozen` is the log-odds that the version gave the comment without any
    learning, and `confident` says that these alone had called it ham or spam. `drawn` is by how
    many comments like it this one was drawn: 1 for what was left unsure, the inverse of the share
    for the audit sample, 0 for what a person went and looked for. `pieces` are its evidence whose
    weights decisions move.
    """

    number: int
    decision_id: str
    comment_id: CommentId
    site_id: SiteId
    is_spam: bool
    source: DecisionSource
    teacher: str
    day: int
    features: Features
    frozen: float
    confident: bool
    drawn: float
    pieces: tuple[Piece, ...] = ()

    @property
    def contradicts(self) -> bool:
        """Return True if the label contradicts a confident verdict of the frozen version."""
        return self.confident and self.is_spam != (self.frozen > 0.0)


# Near-copies share one of two keys with high probability, strangers seldom (minima of hashed words
# and pairs, joined in twos: Broder, 1997). Fewer words are said alike by honest people.
_MIN_FOR_COPIES = 12
_PERMUTATIONS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
_FINISH = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_UPPER_HALF = np.uint64(32)
_SHAPE_CHARS = 40
_LONG_NAME = 20
_NAME = "name:"


def count_features(comment: Comment, word_hashes: bytes | None, salt: int) -> Features:
    """Return a comment's features; `word_hashes` come from the classifier, if it worked.

    Words and pairs are a vector of length 1 together, all others one of 1 at most.
    """
    hashes = np.frombuffer(
        hash_words(comment.text) if word_hashes is None else word_hashes, dtype=np.uint64
    )
    words = np.unique(scatter(hashes[:MOST_WORDS], salt))
    named = hash_others(comment, salt)
    others = np.array(sorted(named), dtype=np.uint32)
    ids = np.concatenate([words, others])
    values = np.empty(len(ids))
    values[: len(words)] = 1.0 / np.sqrt(max(1, len(words)))
    counts = [NAME_SHAPE_COUNTS if named[one].startswith(_NAME) else 1.0 for one in sorted(named)]
    values[len(words) :] = 1.0 / np.sqrt(max(1, len(others))) * np.array(counts)
    return Features(ids=ids, values=values)


def hash_others(comment: Comment, salt: int) -> dict[int, str]:
    """Return the other features by their hash: each is a kind, a colon and the thing itself."""
    others = [f"domain:{domain}" for domain in linked_domains(comment)[:MOST_DOMAINS]]
    others.append(f"{_NAME}{name_shape(comment.author.name)}")
    if comment.author.url:
        others.append(f"author:{registered_domain(host_of(comment.author.url))}")
    others.append(f"post:{comment.post.title or comment.post.url or ''}")
    return {_keyed(one, salt): one for one in others}


def copy_keys(word_hashes: bytes) -> tuple[int, ...]:
    """Return keys of which near-copies of a text share one; empty for a short text."""
    hashes = np.unique(np.frombuffer(word_hashes, dtype=np.uint64))
    if len(hashes) < _MIN_FOR_COPIES:
        return ()
    least = [int(np.min(hashes * np.uint64(odd))) for odd in _PERMUTATIONS]
    return tuple(hash((n, least[n], least[n + 1])) for n in (0, 2))


def scatter(hashes: npt.NDArray[np.uint64], salt: int) -> IdArray:
    """Return 32 bits of each hash, mixed with the salt (the finish of splitmix64)."""
    mixed = hashes ^ np.uint64(salt)
    # In place, as new arrays would take as long as the arithmetic.
    for shift, odd in _FINISH:
        mixed ^= mixed >> shift
        mixed *= odd
    mixed >>= _UPPER_HALF
    return mixed.astype(np.uint32)


def name_shape(name: str | None) -> str:
    """Return the shape of a name without its letters: `Ul Ul` for two plain words."""
    if not name:
        return "none"
    kinds = "".join(kind for kind, _ in groupby(map(_kind, name[:_SHAPE_CHARS])))
    return f"{kinds} long" if len(name) > _LONG_NAME else kinds


def _kind(character: str) -> str:
    if character.isalpha():
        return "U" if character.isupper() else "l" if character.islower() else "o"
    return "9" if character.isdigit() else " " if character.isspace() else "."


def _keyed(feature: str, salt: int) -> int:
    key = salt.to_bytes(8, "little")
    named = feature.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(named, digest_size=4, key=key).digest(), "little")


# What a reason names at most, and among how many of the heaviest features that is looked for: some
# are marks without a word in them, others a word and a pair that it stands in.
MOST_NAMED = 3
_LOOKED_AT = 12


class Kind(StrEnum):
    """The kind of a feature."""

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
    """Return the few features that add most; `parts` has the log-odds that each adds."""
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
    """Return the wanted features that this comment has, in words, by hash."""
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
