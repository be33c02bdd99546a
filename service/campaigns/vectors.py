"""Finds the nearest of many vectors: by the signs of their numbers first, then by their cosine.

Two vectors at an angle of a radians differ in a sign with probability a / pi (Charikar, "Similarity
estimation techniques from rounding algorithms", 2002): close ones differ in few of 64. So eight
bytes of each are looked at, and only of those left the vector itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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
    ) -> tuple[int, float] | None:
        """Return the slot nearest to a vector of a space, and the cosine, if that is `least`.

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
        best = int(np.argmax(cosines))
        return int(close[best]), float(cosines[best])

    def cosine(self, slot: int, vector: Sequence[float] | None, space: str) -> float | None:
        """Return the cosine of a slot's vector and another, None where they cannot be compared."""
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
