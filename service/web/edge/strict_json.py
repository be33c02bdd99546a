"""Parses untrusted JSON: limits its depth, reports duplicate keys, replaces unstorable text."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from service.domain.errors import Problem
from service.domain.text import storable
from service.web.edge.errors import UnreadableRequestError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

# A batch of comments is four levels deep.
MAX_DEPTH = 16
# Linear time: possessive, and an unterminated string extends to the end of the body.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"[]{}"))
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class _RepeatedKeys(dict[str, Json]):
    """An object with duplicate keys, which `clean` reports."""

    repeated: tuple[str, ...] = ()


def parse(raw: bytes) -> Json:
    """Return the JSON value. Raises `UnreadableRequestError` if it is invalid or too deep."""
    if _is_deeper(raw, MAX_DEPTH):
        raise UnreadableRequestError(f"The JSON is nested more than {MAX_DEPTH} levels deep.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"The body is not UTF-8: byte {error.start} is wrong. Encode it as UTF-8."
        raise UnreadableRequestError(msg) from None
    try:
        value: Json = json.loads(text, object_pairs_hook=as_object)
    except json.JSONDecodeError as error:
        msg = f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise UnreadableRequestError(msg) from None
    except (ValueError, RecursionError):
        raise UnreadableRequestError("The body has a number that is too long to read.") from None
    return value


def clean(value: Json) -> tuple[Json, list[Problem]]:
    """Return the value without unstorable characters, and its problems.

    NUL and lone surrogates become U+FFFD, so that offsets do not change. Duplicate keys, NaN and
    infinities are problems.
    """
    problems: list[Problem] = []

    def walk(part: Json, path: str) -> Json:
        if isinstance(part, str):
            return storable(part)
        if isinstance(part, float) and not math.isfinite(part):
            wrong, remedy = "is not a finite number", "send a finite number or leave it out"
            problems.append(Problem(field=path, problem=wrong, remedy=remedy))
            return 0.0
        if isinstance(part, list):
            return [walk(item, join(path, index)) for index, item in enumerate(part)]
        if isinstance(part, dict):
            if isinstance(part, _RepeatedKeys):
                wrong, remedy = "occurs more than once", "send it once"
                problems.extend(Problem(join(path, n), wrong, remedy) for n in part.repeated)
            return {storable(name): walk(item, join(path, name)) for name, item in part.items()}
        return part

    return walk(value, ""), problems


def join(path: str, part: str | int) -> str:
    """Return the path of a part, with its name printable and at most 100 characters long."""
    name = str(part)[:100]
    shown = "".join(c if c.isprintable() else _REPLACEMENT for c in name)
    return f"{path}.{shown}" if path else shown


def as_object(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object with these members; `clean` reports duplicate names."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(name for name, _ in pairs)
    marked = _RepeatedKeys(members)
    twice = (name for name, count in counts.items() if count > 1)
    marked.repeated = tuple(islice(twice, 100))
    return marked


def _is_deeper(raw: bytes, limit: int) -> bool:
    """Return True if brackets nest deeper than `limit`. Runs before the recursive parser."""
    depth = 0
    for bracket in _STRING.sub(b"", raw).translate(None, _NOT_STRUCTURE):
        if bracket in b"[{":
            depth += 1
            if depth > limit:
                return True
        else:
            depth -= 1
    return False
