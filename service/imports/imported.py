"""The comments that every source yields: in the fields of the API, with their rulings."""

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from service.domain.comment import MAX_EXCERPT_CHARS, MAX_NAME_CHARS, MAX_TITLE_CHARS, MAX_URL_CHARS
from service.domain.decision import Ruling
from service.imports.input_files import Broken
from service.moderation.revise import looks_like_version
from service.web.api.schemas import LOCALE, MOST_AHEAD
from service.web.edge.fields import (
    is_web_address,
    known_date,
    read_any_moment,
    valid_address,
    valid_email,
)
from service.web.webhooks.payload import MAX_ID_CHARS, cut_text, own_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One comment. `document` is a request to `POST /v1/comments`.

    `ruling` is its decision there; `cut` names the fields that cannot be kept whole.
    """

    number: int
    document: Mapping[str, object] = field(repr=False)
    ruling: Ruling | None = None
    cut: tuple[str, ...] = ()


Entry = Imported | Broken | None
"""None is an entry that is not to be judged: deleted, a pingback, or empty."""

_GROUPS = ("post", "author")
# An excerpt is a part of its post anyway. An address has several spellings, so only a missing one
# counts.
_MAY_DIFFER = ("post_excerpt", "address", "site_comment_id", "reply_to", "user_agent", "keep")
# The years 1973 to 5138.
_LEAST_SECONDS, _MOST_SECONDS = 1e8, 1e11
_ESCAPED = re.compile(r"&(?:amp|apos|quot|lt|gt|#\d{1,9}|#[xX][\da-fA-F]{1,8});")


def unescape_link(link: str | None) -> str | None:
    """Return a link without the second escaping that WordPress adds."""
    return _ESCAPED.sub(lambda found: html.unescape(found[0]), link) if link else link


def read_written_at(*given: object) -> object:
    """Return the first readable date; if there is none, the first given value.

    A number is a Unix time in seconds or milliseconds.
    """
    there = [date for date in given if date not in (None, "")]
    for date in there:
        plain = str(date).strip().replace("/", "-").removesuffix(" UTC")
        if known := known_date(read_any_moment(plain) or _unix_time(plain) or _mail_date(plain)):
            return known
    return there[0] if there else None


def _unix_time(date: str) -> datetime | None:
    with suppress(ValueError, OverflowError, OSError):
        seconds = float(date)
        seconds /= 1_000 if seconds > _MOST_SECONDS else 1
        # Smaller numbers are years or days.
        return datetime.fromtimestamp(seconds, UTC) if seconds >= _LEAST_SECONDS else None
    return None


def _mail_date(date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date[:64])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _cut_to(length: int) -> Callable[[object], object]:
    return lambda given: given[:length] if isinstance(given, str) else None


def _short_url(given: object) -> object:
    """Return a web address, or None if it is too long: a part of it is another address."""
    is_kept = isinstance(given, str) and len(given) <= MAX_URL_CHARS and is_web_address(given)
    return given if is_kept else None


def _not_future(given: object) -> object:
    is_past = isinstance(given, datetime) and given <= datetime.now(UTC) + MOST_AHEAD
    return given if is_past else None


def _id(given: object) -> str:
    """Return an id; one that is too long or looks like a later version is replaced by a digest."""
    own = str(given)
    return derived_id(own) if len(own) > MAX_ID_CHARS or looks_like_version(own) else own


def derived_id(of: object) -> str:
    """Return an id that is derived from a comment, so that importing it again changes nothing."""
    told = json.dumps(of, sort_keys=True, default=str).encode("utf-8", "replace")
    return f"import:{hashlib.sha256(told).hexdigest()[:32]}"


_KEPT: Mapping[str, Callable[[object], object]] = {
    "text": lambda given: cut_text(given) if isinstance(given, str) else given,
    "written_at": _not_future,
    "site_comment_id": _id,
    "reply_to": lambda given: _id(given) if str(given) != "0" else None,
    "language": lambda given: given if re.match(LOCALE, str(given)) else None,
    "user_agent": _cut_to(1_000),
    "keep": lambda given: False if str(given).lower() == "false" else None,
    "address": lambda given: valid_address(str(given)),
    "post_url": _short_url,
    "post_title": _cut_to(MAX_TITLE_CHARS),
    "post_excerpt": _cut_to(MAX_EXCERPT_CHARS),
    "author_name": _cut_to(MAX_NAME_CHARS),
    "author_url": _short_url,
    "author_email": lambda given: valid_email(str(given)),
}
"""Functions that return the part of a field to keep, or None. Other fields are kept unchanged."""


def import_flat(
    number: int, given: Mapping[str, object], ruling: Ruling | None, *, system: str | None = None
) -> Imported:
    """Return a comment from flat fields, without the empty ones; its ids are the `system`'s own.

    Exports of other systems cannot be corrected, so long values are cut, and invalid addresses,
    e-mails and dates and future dates are left out. `cut` names these fields.
    """
    document: dict[str, Any] = {}
    cut = []
    for name, value in given.items():
        if value in (None, ""):
            continue
        if system and name in ("site_comment_id", "reply_to"):
            value = own_id(system, str(value))
        kept = _KEPT[name](value) if name in _KEPT else value
        if (name not in _MAY_DIFFER and kept != value) or (name == "address" and kept is None):
            cut.append(name)
        group, _, own = name.partition("_")
        if kept is not None and group in _GROUPS:
            document.setdefault(group, {})[own] = kept
        elif kept is not None:
            document[name] = kept
    if "site_comment_id" not in document:
        document["site_comment_id"] = derived_id(document)
    return Imported(number=number, document=document, ruling=ruling, cut=tuple(cut))
