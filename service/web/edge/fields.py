"""Parses single values in the forms that clients send: addresses, URLs, times, ids."""

import contextlib
import re
from datetime import MINYEAR, UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError
from werkzeug.routing import BaseConverter

from service.domain.sender import bare_email, parse_address
from service.domain.text import unescape

MAX_EMAIL_CHARS = 320
_UNKNOWN = frozenset({"", "-", "*", "unknown", "undefined", "null", "(null)", "none", "n/a"})
# A server that is not behind a proxy, or a program that knows no visitor.
_NO_CLIENT = _UNKNOWN | {"localhost"}
# The client's address among the parameters of `Forwarded`, and its obfuscated names (RFC 7239,
# sections 4 and 6).
_FORWARDED = re.compile(r'(?:^|;)\s*for="?([^";]*)', re.IGNORECASE)
_HIDDEN = ("_", "unix:")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#]|\Z)")
_SCRIPTS = frozenset({"javascript", "vbscript", "data"})


def read_address(given: str) -> str | None:
    """Return the IP address, or None if it is empty or unknown.

    Accepts an address with a port or a zone, and the list of an `X-Forwarded-For` or `Forwarded`
    header, of which it returns the first. Raises `ValueError` for anything else.
    """
    parts = []
    for part in given.split(","):
        client = _FORWARDED.search(part)
        parts.append((client[1] if client else part).strip(' \t\r\n"'))
    named = [p for p in parts if p.lower() not in _NO_CLIENT and not p.startswith(_HIDDEN)]
    return str(parse_address(named[0])) if named else None


def valid_address(given: str | None) -> str | None:
    """Return an IP address, or None if it is not valid."""
    try:
        return read_address(given or "")
    except ValueError:
        return None


def valid_email(given: str | None) -> str | None:
    """Return an e-mail address, or None if it is too long or not one address."""
    return given if given and len(given) <= MAX_EMAIL_CHARS and is_email(given) else None


def is_unknown(given: str) -> bool:
    """Return True for blanks and for the words that programs write for a missing value."""
    return given.strip().lower() in _UNKNOWN


def cut(given: str | None, length: int) -> str | None:
    """Return at most `length` characters of a text, or None if it is empty."""
    return given[:length] if given else None


def is_web_address(given: str) -> bool:
    """Return True unless the URL has a scheme other than http and https.

    A host with a port has no scheme. Character references of HTML are decoded, because a page may
    show the URL unescaped.
    """
    # Browsers and programs ignore white space and control characters (WHATWG URL, section 4.4).
    plain = "".join(filter(str.isprintable, unescape(given))).replace(" ", "")
    scheme = _SCHEME.match(plain)
    name = scheme[1].lower() if scheme else "http"
    has_port = scheme is not None and _PORT.match(plain, scheme.end())
    return name in ("http", "https") or (bool(has_port) and name not in _SCRIPTS)


def is_email(given: str) -> bool:
    """Return True if there is text on both sides of the only @ (RFC 5321, section 2.3.11).

    Of several addresses in one, none would be found again by itself, so they are no address.
    """
    plain = "".join(filter(str.isprintable, bare_email(given)))
    name, _, domain = plain.rpartition("@")
    is_one = name.startswith('"') or not any(one in name for one in "@,;")
    return bool(name.strip() and domain.strip()) and is_one and not {",", ";"} & set(domain)


def language_tag(given: str) -> str | None:
    """Return the BCP 47 tag of a locale, as `en-US` for `en_US.UTF-8`; None if it names none.

    Of a list, as `Accept-Language` is one, the first counts.
    """
    tag = re.split(r"[.@,;]", given, maxsplit=1)[0].strip().replace("_", "-")
    return None if tag in ("C", "POSIX") or is_unknown(tag) else tag


_RFC_3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,60})?(?:[Zz]| ?[+-]\d{2}(?::?[0-5]\d)?)",
    re.ASCII,
)
_LEAP_SECOND = re.compile(r"(?<=[T ]\d\d:(?:14|29|44|59)):60(?!\d)")
_SCHEMA = {"type": "string", "format": "date-time", "examples": ["2026-03-01T12:00:00Z"]}


def read_moment(value: object) -> datetime:
    """Return an RFC 3339 time in UTC. Raises `PydanticCustomError` if it is invalid.

    Also accepts the offsets of git and PostgreSQL: ` +0100`, `+01`.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and _RFC_3339.fullmatch(value):
        with contextlib.suppress(ValueError):
            return _in_utc(_from_iso(re.sub(" (?=[+-])", "", value.upper())))
    raise PydanticCustomError("moment", "is not a date and time with an offset (RFC 3339)")


def read_any_moment(given: object) -> datetime | None:
    """Return an ISO 8601 time in UTC, or None if it is invalid. Without an offset it is UTC."""
    if not isinstance(given, str):
        return None
    try:
        moment = _from_iso(given.strip())
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# Before the Web.
_FIRST_YEAR = 1990


def known_date(moment: datetime | None) -> datetime | None:
    """Return the date, or None if it is one that programs write for none: year 1, Unix time 0."""
    return moment if moment and moment.year >= _FIRST_YEAR else None


def _from_iso(given: str) -> datetime:
    """Return the time; of a leap second, the second before. Raises `ValueError`."""
    return datetime.fromisoformat(_LEAP_SECOND.sub(":59", given))


def _in_utc(moment: datetime) -> datetime:
    """Return the time in UTC, clamped to the years 1 to 9999."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        if moment.year == MINYEAR:
            return datetime.min.replace(tzinfo=UTC)
        return datetime.max.replace(tzinfo=UTC)


def write_moment(moment: datetime) -> str:
    """Return the time in UTC with a final Z."""
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Moment = Annotated[
    datetime,
    BeforeValidator(read_moment),
    PlainSerializer(write_moment, return_type=str),
    WithJsonSchema(_SCHEMA),
]


ID_PATTERN = "[A-Za-z0-9_-]{1,64}"
_ID = re.compile(ID_PATTERN)


class IdConverter(BaseConverter):
    """Matches ids, except `batch`, which is a path of its own."""

    regex = f"(?!batch$){ID_PATTERN}"


def is_id(given: str) -> bool:
    """Return True if a string has the form of an id."""
    return _ID.fullmatch(given) is not None
