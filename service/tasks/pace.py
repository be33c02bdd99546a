"""Learns how long a batch takes: a fixed cost of its own, and a cost for each of its comments."""

from __future__ import annotations

# A batch counts this much less with each later one: some 20 batches tell how things stand.
_FADES_TO = 0.95
# How much the last estimate counts beside a spread of sizes of one comment squared: batches of
# equal size say nothing about the share of each cost, so it stays what it was.
_HOLDS = 1.0
_LEAST_SECONDS_EACH = 1e-6


class Pace:
    """A line through the sizes and seconds of the last batches, by least squares.

    `fixed_seconds` is what a batch takes however few it holds, `seconds_each` what a comment adds.
    Until sizes differ all is taken for fixed: larger batches are tried then, and tell.
    """

    def __init__(self) -> None:
        """Know nothing."""
        self.fixed_seconds = 0.0
        self.seconds_each = 0.0
        self._weight = self._size = self._seconds = self._square = self._product = 0.0

    @property
    def is_known(self) -> bool:
        """Return True if any batch was timed."""
        return self._weight > 0.0

    def learn(self, seconds: float, count: int) -> None:
        """Take in how long a batch of so many comments took."""
        self._weight = self._weight * _FADES_TO + 1.0
        self._size = self._size * _FADES_TO + count
        self._seconds = self._seconds * _FADES_TO + seconds
        self._square = self._square * _FADES_TO + count * count
        self._product = self._product * _FADES_TO + count * seconds
        size, mean = self._size / self._weight, self._seconds / self._weight
        spread = self._square / self._weight - size * size
        together = self._product / self._weight - size * mean
        each = (together + _HOLDS * self.seconds_each) / (spread + _HOLDS)
        # No cost is negative, whatever single batches say that met with something else.
        self.seconds_each = min(max(each, _LEAST_SECONDS_EACH), mean / size)
        self.fixed_seconds = mean - self.seconds_each * size

    def size_within(self, seconds: float) -> int:
        """Return how many comments a batch may hold to take at most so long; never below 0."""
        return max(int((seconds - self.fixed_seconds) / self.seconds_each), 0)
