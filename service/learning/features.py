"""Counts what is learnt by: hashed words and pairs, linked domains, the shape of a name, the post.

Every hash is keyed by the installation's own salt, so that nobody outside can tell which words
share a slot. The state is made of these alone: it holds no word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from models.features import hash_words
from service.domain.comment import Comment
from service.learning.numbers import MOST_DOMAINS, MOST_WORDS, NAME_SHAPE_COUNTS
from service.learning.training_example import Features, IdArray
from service.reputation.linked_domains import linked_domains
from service.signals.hosts import host_of, registered_domain

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
    """Return a comment's features; `word_hashes` is what the classifier handed on, if it did.

    Words and pairs together count as a vector of length 1, and all else as one of 1 at most.
    """
    hashes = np.frombuffer(
        hash_words(comment.text) if word_hashes is None else word_hashes, dtype=np.uint64
    )
    words = _each_once(scatter(hashes[:MOST_WORDS], salt))
    named = hash_others(comment, salt)
    others = np.array(sorted(named), dtype=np.uint32)
    ids = np.concatenate([words, others])
    values = np.empty(len(ids))
    values[: len(words)] = 1.0 / np.sqrt(max(1, len(words)))
    counts = [NAME_SHAPE_COUNTS if named[one].startswith(_NAME) else 1.0 for one in sorted(named)]
    values[len(words) :] = 1.0 / np.sqrt(max(1, len(others))) * np.array(counts)
    return Features(ids=ids, values=values)


def _each_once(ids: IdArray) -> IdArray:
    """Return the ids in rising order, each once: what `np.unique` does in twice the time."""
    ids.sort()
    first = np.empty(len(ids), dtype=np.bool_)
    first[:1] = True
    np.not_equal(ids[1:], ids[:-1], out=first[1:])
    return ids[first]


def hash_others(comment: Comment, salt: int) -> dict[int, str]:
    """Return what is counted besides words by its hash: a kind, a colon and the thing itself."""
    return {_keyed(one, salt): one for one in _others(comment)}


def copy_keys(word_hashes: bytes) -> tuple[int, ...]:
    """Return keys of which near-copies of a text share one, none for a short text."""
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
    """Return how a name is written and nothing of what it says: `Ul Ul` for two plain words."""
    if not name:
        return "none"
    kinds = "".join(kind for kind, _ in groupby(map(_kind, name[:_SHAPE_CHARS])))
    return f"{kinds} long" if len(name) > _LONG_NAME else kinds


def _kind(character: str) -> str:
    if character.isalpha():
        return "U" if character.isupper() else "l" if character.islower() else "o"
    return "9" if character.isdigit() else " " if character.isspace() else "."


def _others(comment: Comment) -> Iterator[str]:
    """Yield everything but the words, each a kind, a colon and the thing itself."""
    for domain in linked_domains(comment)[:MOST_DOMAINS]:
        yield f"domain:{domain}"
    yield f"{_NAME}{name_shape(comment.author.name)}"
    if comment.author.url:
        yield f"author:{registered_domain(host_of(comment.author.url))}"
    yield f"post:{comment.post.title or comment.post.url or ''}"


def _keyed(feature: str, salt: int) -> int:
    key = salt.to_bytes(8, "little")
    named = feature.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(named, digest_size=4, key=key).digest(), "little")
