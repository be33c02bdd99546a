"""What every source yields: comments in the words of the API, with what was decided of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    MAX_NAME_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
)
from service.domain.decision import Ruling
from service.domain.errors import Problem
from service.web.webhooks.payload import cut_text, valid_address, valid_email


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One comment. `document` is what `POST /v1/comments` takes; `ruling` what was decided."""

    number: int
    document: Mapping[str, object] = field(repr=False)
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One entry that is no comment to be judged: deleted, a pingback, without a word."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One entry that cannot be read, and why. Never carries the entry's content."""

    number: int
    problems: tuple[Problem, ...]


Entry = Imported | LeftOut | Broken


def flat_document(given: Mapping[str, object]) -> dict[str, object]:
    """Return a comment of single fields as the API's document; empty fields are left out.

    For exports of other systems, which nobody can correct: what is too long is cut, an address
    or an e-mail that is none is left out.
    """
    kept = {name: value for name, value in given.items() if value not in (None, "")}
    text = kept.get("text")
    document: dict[str, object] = {"text": cut_text(text) if isinstance(text, str) else text}
    address = valid_address(str(kept.get("address", "")))
    document |= {"address": address} if address else {}
    document |= {
        name: kept[name]
        for name in ("site_comment_id", "written_at", "language", "reply_to", "user_agent")
        if name in kept
    }
    post = {
        "url": whole(kept.get("post_url"), MAX_URL_CHARS),
        "title": cut(kept.get("post_title"), MAX_TITLE_CHARS),
        "excerpt": cut(kept.get("post_excerpt"), MAX_EXCERPT_CHARS),
    }
    author = {
        "name": cut(kept.get("author_name"), MAX_NAME_CHARS),
        "url": whole(kept.get("author_url"), MAX_URL_CHARS),
        "email": valid_email(str(kept.get("author_email", ""))),
    }
    for name, group in (("post", post), ("author", author)):
        filled = {key: value for key, value in group.items() if value is not None}
        document |= {name: filled} if filled else {}
    return document


def cut(given: object, length: int) -> str | None:
    """Return the beginning of a string, None for anything else."""
    return given[:length] if isinstance(given, str) else None


def whole(given: object, length: int) -> str | None:
    """Return a string that is short enough: the beginning of an address is another address."""
    return given if isinstance(given, str) and len(given) <= length else None
