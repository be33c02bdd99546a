"""Finds the newest slots that hold a key, and those whose vector is nearest to another.

Keys are in a hash table of arrays with chains from newer to older (Knuth, "The Art of Computer
Programming" 3, 6.4). Slots are filled in a ring, so the first entry of a chain that was overwritten
is also the last: nothing is ever searched for to be removed.

Vectors are compared by the signs of their numbers first: at an angle of a radians two differ in a
sign with probability a / pi (Charikar, "Similarity estimation techniques from rounding algorithms",
2002). Only of those left the vector itself is looked at.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

_EMPTY = -1
# A chain is followed so far and no farther, whatever was put into it on purpose.
_MAX_STEPS = 256


class KeyIndex:
    """Up to `keys_a_slot` keys (12 bytes each, and 16 to 24 a slot) for each of `n_slots` slots."""

    def __init__(self, n_slots: int, *, keys_a_slot: int) -> None:
        # Entries are numbered in 32 bits: 200,000 slots of 16 keys are 3,200,000.
        n_heads = 1 << max(4, (2 * n_slots).bit_length())
        self._mask = n_heads - 1
        self._heads = np.full(n_heads, _EMPTY, dtype=np.int32)
        self._keys: npt.NDArray[np.uint64] = np.zeros((n_slots, keys_a_slot), dtype=np.uint64)
        self._before = np.full((n_slots, keys_a_slot), _EMPTY, dtype=np.int32)
        self._keys_a_slot = keys_a_slot
        # When each slot was filled, to recognise entries that were overwritten.
        self._filled_at = np.full(n_slots, _EMPTY, dtype=np.int64)
        self._n_filled = 0

    def put(self, slot: int, keys: Iterable[str]) -> None:
        """Give a slot new keys instead of those that it had; those beyond its room are left out."""
        self._keys[slot] = 0
        self._filled_at[slot] = self._n_filled
        self._n_filled += 1
        for place, key in zip(range(self._keys_a_slot), keys, strict=False):
            number = _number_of(key)
            head = number & self._mask
            self._keys[slot, place] = number
            self._before[slot, place] = self._heads[head]
            self._heads[head] = slot * self._keys_a_slot + place

    def clear(self, slot: int) -> None:
        """Forget the keys of a slot; those of older slots are found as before."""
        self._keys[slot] = 0

    def holders(self, key: str, *, at_most: int) -> list[int]:
        """Return the newest slots that hold a key, newest first."""
        number = _number_of(key)
        found: list[int] = []
        for slot, place in self._chain(number & self._mask):
            if int(self._keys[slot, place]) == number:
                found.append(slot)
                if len(found) == at_most:
                    break
        return found

    def _chain(self, head: int) -> Iterator[tuple[int, int]]:
        entry = int(self._heads[head])
        newer_than = self._n_filled
        for _ in range(_MAX_STEPS):
            if entry == _EMPTY:
                return
            slot, place = divmod(entry, self._keys_a_slot)
            filled_at = int(self._filled_at[slot])
            if filled_at > newer_than:
                return
            newer_than = filled_at
            yield slot, place
            entry = int(self._before[slot, place])


def _number_of(key: str) -> int:
    """Return a number from 1 to 2**64 - 1 for a key; 0 stands for no key."""
    digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


SIZE = 64
# Unit vectors are kept as whole numbers of this share: their cosines are off by 0.01 at most.
_SCALE = 127.0
# At a cosine of 0.8, where 13 signs of 64 differ on average, 98 of 100 differ in no more.
_MAX_SIGNS = 20
_MAX_RERANKED = 4_096
_NO_SPACE = 0


class VectorIndex:
    """Remembers one unit vector for each of `n_slots` slots: 74 bytes each."""

    def __init__(self, n_slots: int) -> None:
        self._numbers = np.zeros((n_slots, SIZE), dtype=np.int8)
        self._signs = np.zeros(n_slots, dtype=np.uint64)
        # Which space a slot's vector is of; `_NO_SPACE` where the slot holds none.
        self._space_of = np.zeros(n_slots, dtype=np.uint16)
        self._spaces: dict[str, int] = {}
        self._used = 0

    def put(self, slot: int, vector: Sequence[float] | None, space: str) -> None:
        """Give a slot a vector instead of the one it had; one of another size counts as none."""
        self._used = max(self._used, slot + 1)
        if vector is None or len(vector) != SIZE:
            self._space_of[slot] = _NO_SPACE
            return
        numbers = np.asarray(vector, dtype=np.float64)
        self._space_of[slot] = self._number_of(space)
        self._signs[slot] = _signs_of(numbers)
        self._numbers[slot] = np.clip(np.rint(numbers * _SCALE), -127, 127)

    def clear(self, slot: int) -> None:
        """Forget the vector of a slot."""
        self._space_of[slot] = _NO_SPACE

    def nearest(
        self,
        vector: Sequence[float] | None,
        space: str,
        *,
        least: float,
        p_spam: npt.NDArray[np.float32],
        least_p_spam: float,
        except_slot: int | None = None,
    ) -> int | None:
        """Return the slot nearest to a vector of a space, if the cosine is `least`.

        Slots below `least_p_spam` by `p_spam` do not count, nor does `except_slot`. Below a cosine
        of 0.8 some are overlooked.
        """
        if vector is None or len(vector) != SIZE or space not in self._spaces:
            return None
        numbers = np.asarray(vector, dtype=np.float64)
        differing = np.bitwise_count(self._signs[: self._used] ^ _signs_of(numbers))
        close = np.flatnonzero(
            (differing <= _MAX_SIGNS) & (self._space_of[: self._used] == self._spaces[space])
        )
        close = close[p_spam[close] >= least_p_spam]
        if len(close) > _MAX_RERANKED:
            close = close[np.argsort(differing[close], kind="stable")[:_MAX_RERANKED]]
        cosines = self._cosines(close, numbers)
        if except_slot is not None:
            cosines[close == except_slot] = -1.0
        if len(close) == 0 or cosines.max() < least:
            return None
        return int(close[np.argmax(cosines)])

    def cosine(self, slot: int, vector: Sequence[float] | None, space: str) -> float | None:
        """Return the cosine of a slot's vector and another, or None if they cannot be compared."""
        known = self._spaces.get(space)
        if vector is None or len(vector) != SIZE or known is None or self._space_of[slot] != known:
            return None
        numbers = np.asarray(vector, dtype=np.float64)
        return float(self._cosines(np.array([slot]), numbers)[0])

    def _cosines(
        self, slots: npt.NDArray[np.int64], numbers: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        products: npt.NDArray[np.float64] = self._numbers[slots].astype(np.float64) @ numbers
        return products / _SCALE

    def _number_of(self, space: str) -> int:
        """Return the number of a space; beyond 65,535 of them `_NO_SPACE`, which finds nothing."""
        if space not in self._spaces and len(self._spaces) >= np.iinfo(np.uint16).max:
            return _NO_SPACE
        return self._spaces.setdefault(space, len(self._spaces) + 1)


def _signs_of(numbers: npt.NDArray[np.float64]) -> np.uint64:
    return np.uint64(int.from_bytes(np.packbits(numbers > 0).tobytes(), "big"))
