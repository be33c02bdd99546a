"""What a check of health found, and how findings are made: for `/readyz` and the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How well something is: `FAIL` keeps comments from being kept, judged or told of."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found; `remedy` says what to do where it is not well, else it is empty.

    Raises `ValueError` for a finding that is not well and has no remedy.
    """

    check: str
    state: State
    says: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.state is State.OK) == bool(self.remedy):
            msg = f"the finding of {self.check} needs a remedy if and only if it is not ok"
            raise ValueError(msg)

    @property
    def is_well(self) -> bool:
        return self.state is State.OK


def well(check: str, says: str) -> Finding:
    return Finding(check=check, state=State.OK, says=says)


def warn(check: str, says: str, remedy: str) -> Finding:
    """Return a finding of what may get worse, or is not as it should be."""
    return Finding(check=check, state=State.WARN, says=says, remedy=remedy)


def fail(check: str, says: str, remedy: str) -> Finding:
    return Finding(check=check, state=State.FAIL, says=says, remedy=remedy)


def bytes_in_words(number: float) -> str:
    """Return a size as people read it, such as `1.5 GB`."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def time_in_words(seconds: float) -> str:
    """Return a length of time in its largest unit, such as `3 hours`."""
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
