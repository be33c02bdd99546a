"""The findings of health checks, for `/readyz` and the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The severity of a finding: `FAIL` prevents storing, judging or notifications."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's finding. Raises `ValueError` unless exactly what is not ok has a remedy."""

    check: str
    state: State
    says: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.state is State.OK) == bool(self.remedy):
            msg = f"the finding of {self.check} needs a remedy if and only if it is not ok"
            raise ValueError(msg)

    @property
    def is_ok(self) -> bool:
        return self.state is State.OK


def ok(check: str, says: str) -> Finding:
    return Finding(check=check, state=State.OK, says=says)


def warn(check: str, says: str, remedy: str) -> Finding:
    return Finding(check=check, state=State.WARN, says=says, remedy=remedy)


def fail(check: str, says: str, remedy: str) -> Finding:
    return Finding(check=check, state=State.FAIL, says=says, remedy=remedy)


def bytes_in_words(number: float) -> str:
    """Return a size in words, such as `1.5 GB`."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def time_in_words(seconds: float) -> str:
    """Return a duration in its largest unit, such as `3 hours`."""
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
