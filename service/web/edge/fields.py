"""Reads single values as clients really send them: addresses, URLs, moments, ids."""

from __future__ import annotations

import contextlib
import ipaddress
import re
from datetime import MINYEAR, UTC, datetime
from html import unescape
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError
from werkzeug.routing import BaseConverter

MAX_EMAIL_CHARS = 320
_UNKNOWN = frozenset({"", "-", "unknown", "null", "none"})
# IPv4 with a port, and IPv6 in brackets with or without one (RFC 3986, section 3.2.2).
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}|\[([0-9A-Fa-f:.]+)(?:%[^\]]*)?\](?::[0-9]{1,5})?")
# What `Forwarded` writes around an address, and a name that hides one (RFC 7239, section 6).
_FORWARDED = re.compile(r'(?:for=)?"?([^"]*)"?', re.IGNORECASE)
_HIDDEN = ("_", "unix:")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#]|\Z)")
_SCRIPTS = frozenset({"javascript", "vbscript", "data"})
# Browsers leave out the first before they read a scheme (WHATWG URL, section 4.4), programs that
# tidy addresses the others.
_LEFT_OUT = re.compile("[\x00-\x20\xa0\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")


def read_address(given: str) -> str | None:
    """Return the IP address, None for an empty or unknown one.

    Takes an address with a port or a zone, and the list of an `X-Forwarded-For` or `Forwarded`
    header, whose first address is the client's. Raises `ValueError` for anything else.
    """
    parts = [_FORWARDED.sub(r"\1", part.strip(), count=1) for part in given.split(",")]
    named = [p for p in parts if p.lower() not in _UNKNOWN and not p.startswith(_HIDDEN)]
    if not named:
        return None
    with_port = _WITH_PORT.fullmatch(named[0])
    address = (with_port[1] or with_port[2]) if with_port else named[0].partition("%")[0]
    return str(ipaddress.ip_address(address))


def valid_address(given: str | None) -> str | None:
    """Return an IP address, None for what is none: some senders may not tell it."""
    try:
        return read_address(given or "")
    except ValueError:
        return None


def valid_email(given: str | None) -> str | None:
    """Return an e-mail address, None for what is certainly none."""
    return given if given and len(given) <= MAX_EMAIL_CHARS and is_email(given) else None


def cut(given: str | None, length: int) -> str | None:
    """Return the beginning of a text, None for an empty one."""
    return given[:length] if given else None


def is_web_address(given: str) -> bool:
    """Return True unless the URL has a scheme other than http and https.

    A host with a port has none. HTML's references are read, for what shows it as it is.
    """
    plain = _LEFT_OUT.sub("", unescape(given))
    scheme = _SCHEME.match(plain)
    name = scheme[1].lower() if scheme else "http"
    has_port = scheme is not None and _PORT.match(plain, scheme.end())
    return name in ("http", "https") or (bool(has_port) and name not in _SCRIPTS)


def is_email(given: str) -> bool:
    """Return True if there is something on both sides of an @ (RFC 5321, section 2.3.11)."""
    name, _, domain = given.rpartition("@")
    return bool(name and domain)


def language_tag(given: str) -> str | None:
    """Return the BCP 47 tag of a locale: `en-US` for `en_US.UTF-8`, None for an empty one."""
    return re.split(r"[.@]", given, maxsplit=1)[0].replace("_", "-") or None


_RFC_3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]| ?[+-]\d{2}(?::?\d{2})?)",
    re.ASCII,
)
_SCHEMA = {"type": "string", "format": "date-time", "examples": ["2026-03-01T12:00:00Z"]}


def read_moment(value: object) -> datetime:
    """Return the moment, in UTC. Raises `PydanticCustomError` for anything but RFC 3339.

    The offset may be as git and PostgreSQL write it: ` +0100`, `+01`.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and _RFC_3339.fullmatch(value):
        with contextlib.suppress(ValueError):
            return _in_utc(datetime.fromisoformat(re.sub(" (?=[+-])", "", value.upper())))
    raise PydanticCustomError("moment", "is not a date and time with an offset (RFC 3339)")


def read_any_moment(given: object) -> datetime | None:
    """Return a time as other programs write it, UTC unless it says otherwise; None for no time."""
    if not isinstance(given, str):
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one that no year from 1 to 9999 holds there becomes the nearest."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        if moment.year == MINYEAR:
            return datetime.min.replace(tzinfo=UTC)
        return datetime.max.replace(tzinfo=UTC)


def write_moment(moment: datetime) -> str:
    """Return the moment in UTC with a final Z."""
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
    """Matches what can be one of our ids, and not the word that is a path itself."""

    regex = f"(?!batch$){ID_PATTERN}"


def is_id(given: str) -> bool:
    """Return True if a string has the form of our ids."""
    return _ID.fullmatch(given) is not None
