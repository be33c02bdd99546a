"""Finds the newest slots that hold a key: a hash table in arrays, with a fixed size.

Chained hashing (Knuth, "The Art of Computer Programming" 3, 6.4), the chains running from newer
to older. Slots are filled in a ring, so the first entry of a chain that was overwritten is also
the last: all behind it are older and gone. Nothing is ever searched for to be removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

_EMPTY = -1
# A chain is followed so far and no farther, whatever was put into it on purpose.
_MAX_STEPS = 256


class KeyIndex:
    """Remembers up to `keys_a_slot` keys for each of `n_slots` slots.

    A slot takes `12 x keys_a_slot` bytes and 16 to 24 more.
    """

    def __init__(self, n_slots: int, *, keys_a_slot: int) -> None:
        """Raise `ValueError` for more entries than 32 bits can number."""
        if n_slots * keys_a_slot > np.iinfo(np.int32).max:
            msg = f"{n_slots} slots of {keys_a_slot} keys are more than an index can hold"
            raise ValueError(msg)
        n_heads = 1 << max(4, (2 * n_slots).bit_length())
        self._mask = n_heads - 1
        self._heads = np.full(n_heads, _EMPTY, dtype=np.int32)
        self._keys: npt.NDArray[np.uint64] = np.zeros((n_slots, keys_a_slot), dtype=np.uint64)
        self._before = np.full((n_slots, keys_a_slot), _EMPTY, dtype=np.int32)
        self._keys_a_slot = keys_a_slot
        # When each slot was filled, to tell an entry from the one that has taken its place.
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
