"""What a detector is: a name, a pure function, and examples it fires on and stays silent on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from service.domain.comment import Comment, Edit, FormEvidence, Listing
from service.domain.history import History
from service.domain.verdict import Signal

Detect = Callable[[Comment, History], Signal | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A comment, reduced to what matters to a detector. `history` defaults to "never seen"."""

    text: str
    post_title: str | None = None
    post_excerpt: str | None = None
    author_name: str | None = None
    author_url: str | None = None
    email_domain: str | None = None
    listings: tuple[Listing, ...] = ()
    form: FormEvidence = field(default_factory=FormEvidence)
    history: History = field(default_factory=History)
    trust_level: int | None = None
    edit: Edit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One detector. `silent_on` are its ham twins: sincere comments that look alike."""

    name: str
    detect: Detect
    fires_on: tuple[Example, ...]
    silent_on: tuple[Example, ...]
