"""What a person whose comments are looked for is known by."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.comment import Sender


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Person:
    """The keys of a person's address, e-mail and name, and the name as it was typed, if any.

    The name itself finds what was kept without a key of it.
    """

    sender: Sender
    author_name: str | None = None
