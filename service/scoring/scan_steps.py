"""Says how many comments a person scans at once, and how many of them are checked one by one."""

from __future__ import annotations

from math import ceil

from service.domain.scan import Agreement, Band

# `python -m tests.benchmarks.scan_steps` says what each size costs by published rates of what
# careful people overlook; longer screens save little time and let more pass.
_STEPS = {Band.SINCERE: 50, Band.SPAM: 40}
_CAREFUL_STEP = 20
_SMALLEST_STEP = 10
# One slip says nothing yet; two of twenty are more than looking at each alone would let pass.
_SLIPS_THAT_COUNT = 2
_MANY_SLIPS = 0.1
_FAR_TOO_MANY_SLIPS = 0.25
# One of twenty: a screen of fifty sends three back.
_CHECKED_ONE_OF = 20


def choose_step(band: Band, agreement: Agreement) -> int:
    """Return how many comments one screen has for whoever's bulk decisions agreed like this."""
    slips = len(agreement.otherwise)
    if slips < _SLIPS_THAT_COUNT or slips < agreement.checked * _MANY_SLIPS:
        return _STEPS[band]
    return _SMALLEST_STEP if slips >= agreement.checked * _FAR_TOO_MANY_SLIPS else _CAREFUL_STEP


def count_checks(n: int) -> int:
    """Return how many of a bulk decision's `n` comments are looked at alone instead."""
    return ceil(n / _CHECKED_ONE_OF)
