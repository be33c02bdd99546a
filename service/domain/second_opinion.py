"""What a second judge thinks of an unsure comment: shown and used for its place, no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.domain.comment import Comment
from service.domain.verdict import Outcome

_MOST_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinion:
    """Ham or spam, and why. A stranger's comment may have dictated both."""

    outcome: Outcome
    reason: str


SecondJudge = Callable[[Comment, str], SecondOpinion]
"""Is asked about a comment on the site of this name. Raises `NoOpinionError`."""


def one_line(reason: str) -> str:
    """Return a reason on one line without unseen characters, cut to 200 characters."""
    shown = (char for char in reason if char.isprintable() or char.isspace())
    line = " ".join("".join(shown).split())
    return line if len(line) <= _MOST_CHARS else line[: _MOST_CHARS - 1] + "…"
