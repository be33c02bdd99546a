"""A form's counts of how it was filled in, and the result of its token."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

from service.domain.text import normal_address

# No comment needs more keys, and larger numbers are no stronger evidence.
MOST_COUNTED = 100_000
# A tab that stayed open for the day; a longer time is another day's clock.
MOST_SECONDS = 86_400.0
# A page that was opened yesterday gets a new token when its form is touched.
TOKEN_LIFE = timedelta(days=1)
# WordPress's pages of comments, mobile pages, and a folder's index file.
_SAME_PAGE = re.compile(r"/(?:comment-page-[0-9]{1,6}|amp|index\.(?:html?|php))/?$")
# WordPress's default URLs.
_NAMING = frozenset({"p", "page_id"})
_MOST_PARAMETERS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadToken:
    """A token that was signed here: its time, its page, and whether its challenge was solved."""

    id: str
    page: str | None
    issued_at: datetime
    solved: bool


class FormToken(StrEnum):
    """The result of the token that this service issued to the form.

    `valid` tokens are ours, unused, of this site and page, with a solved challenge, which browsers
    do only on secure pages; `unsolved` ones lack that. `elsewhere` is of another page, `replayed`
    was sent before with another comment. `missing` is used only if the site's forms have tokens.
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
    """How a form was filled in, as counts, never as the rhythm of keys; None is unknown.

    `seconds` passed from the first focus or key. `pastes` are of whole texts; `other_inputs` came
    without a key, as by dictation. `driven` is a browser that says that a program controls it.
    """

    seconds: float | None = None
    keys: int | None = None
    pastes: int | None = None
    other_inputs: int | None = None
    pointer: int | None = None
    touch: int | None = None
    driven: bool | None = None


_COUNTS = tuple(f.name for f in fields(FormBehaviour) if f.name not in {"seconds", "driven"})


def read_behaviour(given: object) -> FormBehaviour | None:
    """Return the counts of a mapping with the names of `FormBehaviour`, None if it has none.

    Strangers send them: wrong types are unknown, larger numbers are limited.
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
    """Return a duration of at most a day, None for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    # Compared before the conversion: some integers do not fit into a float.
    return float(given) if 0 <= given <= MOST_SECONDS and not math.isnan(given) else None


def behaviour_values(behaviour: FormBehaviour | None) -> dict[str, object] | None:
    """Return the known counts by name, None without any; `read_behaviour` reads them."""
    if behaviour is None:
        return None
    return {name: value for name, value in asdict(behaviour).items() if value is not None}


def _count(given: object) -> int | None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        return None
    return min(given, MOST_COUNTED)


def page_key(address: str | None) -> str | None:
    """Return a key for the page at a URL, None if it names no page, or only another host's root.

    Encoding, fragment, `www.`, comment page and query do not matter, except a post's number.
    """
    try:
        parts = urlsplit(normal_address(address or ""))
        host = (parts.hostname or "").removeprefix("www.")
        query = parse_qsl(parts.query, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        return None
    path = _SAME_PAGE.sub("", parts.path).rstrip("/").casefold()
    named = next((f"?{name}={value}" for name, value in query if name in _NAMING), "")
    if not host or not path + named:
        return None
    return hashlib.sha256(f"{host}{path}{named}".encode(errors="surrogateescape")).hexdigest()[:16]
