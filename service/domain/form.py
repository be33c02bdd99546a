"""What a form counted of whoever filled it in, and what became of its token."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

# Nobody presses more keys for one comment; larger numbers say no more than this one.
MOST_COUNTED = 100_000
# A tab that stayed open over the day; what is longer is another day's clock.
MOST_SECONDS = 86_400.0
# A page that was opened yesterday has another token by the time its form is touched.
TOKEN_LIFE = timedelta(days=1)
# WordPress's pages of comments, pages for telephones, and the file that a folder's address means.
_SAME_PAGE = re.compile(r"/(?:comment-page-[0-9]{1,6}|amp|index\.(?:html?|php))/?$")
# WordPress's plain addresses, which it has until its owner chooses others.
_NAMING = frozenset({"p", "page_id"})
_MOST_PARAMETERS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadToken:
    """A token that was signed here: when, for which page, and whether its challenge was solved."""

    id: str
    page: str | None
    issued_at: datetime
    solved: bool


class FormToken(StrEnum):
    """What became of the token that this service had handed to the form.

    `valid` is ours, unused, of this site and page, with its challenge solved, which browsers do on
    secure pages alone; `unsolved` lacks that. `elsewhere` is of another page, `replayed` came
    before with another comment. `missing` is used only where the site's forms have tokens.
    """

    VALID = "valid"
    UNSOLVED = "unsolved"
    LATE = "late"
    ELSEWHERE = "elsewhere"
    MISSING = "missing"
    REPLAYED = "replayed"
    FORGED = "forged"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormBehaviour:
    """How a form was filled in, as counts, never as the rhythm of keys; None is not known.

    `seconds` passed from the first focus or key to the sending. `pastes` count whatever was put in
    whole; `other_inputs` changed a field without a key, as dictation does. `driven` says that the
    browser called itself driven by a program.
    """

    seconds: float | None = None
    keys: int | None = None
    pastes: int | None = None
    other_inputs: int | None = None
    pointer: int | None = None
    touch: int | None = None
    scroll: int | None = None
    driven: bool | None = None


_COUNTS = tuple(f.name for f in fields(FormBehaviour) if f.name not in {"seconds", "driven"})


def read_behaviour(given: object) -> FormBehaviour | None:
    """Return the counts of a mapping in the names of `FormBehaviour`, None where it has none.

    Strangers send them: what is of another type is not known, a larger number is the largest.
    """
    if not isinstance(given, Mapping):
        return None
    driven = given.get("driven")
    behaviour = FormBehaviour(
        **{name: _count(given.get(name)) for name in _COUNTS},
        seconds=read_seconds(given.get("seconds")),
        driven=driven if isinstance(driven, bool) else None,
    )
    return None if behaviour == FormBehaviour() else behaviour


def read_seconds(given: object) -> float | None:
    """Return a span of time of at most a day, None for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    # Compared before it is turned: some integers are no floats.
    return float(given) if 0 <= given <= MOST_SECONDS and not math.isnan(given) else None


def behaviour_values(behaviour: FormBehaviour | None) -> dict[str, object] | None:
    """Return what is known, by name, None for nothing; `read_behaviour` reads it again."""
    if behaviour is None:
        return None
    values = ((f.name, getattr(behaviour, f.name)) for f in fields(behaviour))
    return {name: value for name, value in values if value is not None}


def _count(given: object) -> int | None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        return None
    return min(given, MOST_COUNTED)


def page_key(address: str | None) -> str | None:
    """Return what stands for the page at a web address, None where it names no page.

    Of a page on another host browsers tell only where the site begins: that names none. Fragment,
    `www.`, how a blog numbers pages of comments and a query make no other page, but for the number
    of a post in it.
    """
    try:
        parts = urlsplit(address or "")
        host = (parts.hostname or "").removeprefix("www.")
        query = parse_qsl(parts.query, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        return None
    path = _SAME_PAGE.sub("", parts.path).rstrip("/").casefold()
    named = next((f"?{name}={value}" for name, value in query if name in _NAMING), "")
    if not host or not path + named:
        return None
    return hashlib.sha256(f"{host}{path}{named}".encode("utf-8", "replace")).hexdigest()[:16]
