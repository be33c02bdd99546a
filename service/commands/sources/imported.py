"""What every source yields: comments in the words of the API, with what was decided of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from service.commands.input_files import Broken
from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    MAX_NAME_CHARS,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
)
from service.domain.decision import Ruling
from service.web.edge.moments import read_any_moment
from service.web.webhooks.payload import cut_text, valid_address, valid_email


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One comment. `document` is what `POST /v1/comments` takes; `ruling` what was decided.

    `cut` names the fields of which not all can be kept.
    """

    number: int
    document: Mapping[str, object] = field(repr=False)
    ruling: Ruling | None = None
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One entry that is no comment to be judged: deleted, a pingback, without a word."""

    number: int


Entry = Imported | LeftOut | Broken
_AS_THEY_ARE = ("site_comment_id", "language", "reply_to", "user_agent")
_GROUPS = ("post", "author")
_ESCAPED_AMPERSAND = re.compile(r"&(?:amp|#0{0,8}38|#[xX]0{0,8}26);")


def unescape_link(link: str | None) -> str | None:
    """Return a link with the ampersands that WordPress escaped once more than XML asks."""
    return _ESCAPED_AMPERSAND.sub("&", link) if link else link


def read_written_at(*given: str | None) -> datetime | str | None:
    """Return the first date that can be read; if none can, the first that was given, unread."""
    there = [date for date in given if date]
    for date in there:
        if moment := read_any_moment(date) or _mail_date(date):
            return moment
    return there[0] if there else None


def _mail_date(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date[:64])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def import_flat(number: int, given: Mapping[str, object], ruling: Ruling | None) -> Imported:
    """Return a comment of single fields; empty ones are left out.

    For exports of other systems, which nobody can correct: what is too long is cut, an address,
    an e-mail or a date that is none is left out, and the comment says of which fields.
    """
    there = {name: value for name, value in given.items() if value not in (None, "")}
    text = there.get("text")
    kept: dict[str, object | None] = {
        **{name: there.get(name) for name in _AS_THEY_ARE},
        "written_at": None if isinstance(there.get("written_at"), str) else there.get("written_at"),
        "text": cut_text(text) if isinstance(text, str) else text,
        "address": valid_address(str(there.get("address", ""))),
        "post_url": _whole(there.get("post_url")),
        "post_title": _beginning(there.get("post_title"), MAX_TITLE_CHARS),
        "post_excerpt": _beginning(there.get("post_excerpt"), MAX_EXCERPT_CHARS),
        "author_name": _beginning(there.get("author_name"), MAX_NAME_CHARS),
        "author_url": _whole(there.get("author_url")),
        "author_email": valid_email(str(there.get("author_email", ""))),
    }
    document: dict[str, object] = {"text": kept.pop("text")}
    for name, value in kept.items():
        group, _, own = name.partition("_")
        if value is None:
            continue
        if group in _GROUPS:
            within = document.setdefault(group, {})
            assert isinstance(within, dict)  # noqa: S101  # made in the line above
            within[own] = value
        else:
            document[name] = value
    return Imported(
        number=number, document=document, ruling=ruling, cut=_cut(there, document, kept)
    )


def _cut(
    there: Mapping[str, object], document: Mapping[str, object], kept: Mapping[str, object | None]
) -> tuple[str, ...]:
    """Return what is not kept as it was given; an excerpt is a part of its post at any rate."""
    now = {**kept, "text": document["text"], "post_excerpt": there.get("post_excerpt")}
    # An address has several spellings, so only its absence counts.
    now |= {"address": there.get("address")} if now["address"] else {}
    return tuple(name for name, value in there.items() if name in now and now[name] != value)


def _beginning(given: object, length: int) -> str | None:
    """Return the beginning of a string, None for anything else."""
    return given[:length] if isinstance(given, str) else None


def _whole(given: object) -> str | None:
    """Return an address that is short enough: the beginning of one is another address."""
    return given if isinstance(given, str) and len(given) <= MAX_URL_CHARS else None
