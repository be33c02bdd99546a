"""Replaces the hosts of authored comments with realistic ones."""

import hashlib
import random
import re
from collections.abc import Mapping
from typing import Any

# Roughly as frequent as among links in the public sources.
_ENDINGS = (
    *("com",) * 8,
    *("net", "org", "io", "de", "co.uk", "dev") * 2,
    *("fr", "nl", "it", "es", "pl", "com.br", "jp", "ru", "in", "ca", "eu", "me"),
    *("co", "shop", "online", "app", "blog", "info", "xyz", "site"),
)
_FIRST_WORDS = """
    alder amber anna atlas bay birch blue bright brook cedar clara clear copper coral daniel
    delta east echo elena elm ember fern field forge frost glen green grey harbour hazel
    hill iris iron jan juniper kappa keller kite lake lark laura linden luna maple marco
    mara mill moss north nova oak ocean old olive otto pavel pine pixel polar quiet raven
    red river robin rosa rowan sage sam silver slate small sol south spruce star stone sun
    swift tom vega west wild willow wolf yuki
"""
_SECOND_WORDS = """
    bakery bits books byte clinic code consulting craft data design dev digital engineering
    farm films foto garage garden group guitars hill house kitchen lab labs law ledger log
    marketing media music notes office online partners photo physio press school services
    shop software solutions studio systems tech tools tours travel web works world writes
    yoga
"""
_FIRST, _SECOND = _FIRST_WORDS.split(), _SECOND_WORDS.split()
# RFC 2606 reserves this ending, so comments that were written for this project use it.
_BARE = re.compile(r"(?<![\w.-])((?:[\w-]{1,63}\.){1,3})example(?![\w-]|\.\w)", re.IGNORECASE)


def made_up_host(rng: random.Random) -> str:
    """Return a host that has no label: one or two words and an ending."""
    name = rng.choice(_FIRST)
    if rng.random() < 0.8:
        name += rng.choice(("", "", "-")) + rng.choice(_SECOND)
    return f"{name}.{rng.choice(_ENDINGS)}"


def _real(host: re.Match[str]) -> str:
    """Return the host with an ending that depends on its name alone."""
    digest = hashlib.sha256(host[1].lower().encode()).digest()
    return host[1] + _ENDINGS[digest[0] % len(_ENDINGS)]


def with_real_hosts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with other endings for bare `.example` hosts, its offsets adjusted.

    Authored spam has such hosts far more often than ham, and real comments never have them.
    """
    text = row["text"]
    if ".example" not in f"{text}{row.get('author_url')}".lower():
        return row
    moves = [(m.end(), len(_real(m)) - len(m[0])) for m in _BARE.finditer(text)]

    def moved(offset: int) -> int:
        return offset + sum(by for end, by in moves if end <= offset)

    changed = {**row, "text": _BARE.sub(_real, text)}
    if isinstance(row.get("author_url"), str):
        changed["author_url"] = _BARE.sub(_real, row["author_url"])
    if isinstance(row.get("promo_spans"), list):
        changed["promo_spans"] = [[moved(start), moved(end)] for start, end in row["promo_spans"]]
    if isinstance(row.get("boundary"), int):
        changed["boundary"] = moved(row["boundary"])
    return changed
