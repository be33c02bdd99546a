"""Reads how a form was filled in: the counts of Akismet's plugin, whether a hidden field was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from service.domain.form import FormBehaviour, read_behaviour

# `ak_bib` and `ak_bfs` are milliseconds by the visitor's clock: only their difference is used.
_BEGUN, _SENT = "POST_ak_bib", "POST_ak_bfs"
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "keys": ("POST_ak_bkpc",),
    # Clicks and moves of a mouse; fingers that tap and that draw.
    "pointer": ("POST_ak_bmcc", "POST_ak_bmmc"),
    "touch": ("POST_ak_btec", "POST_ak_btmc"),
    "scroll": ("POST_ak_bsc",),
}
FIELD = "POST_slopsieve_form"
"""The hidden field of our own script, for a site that has it beside the plugin."""
COUNTED = frozenset({FIELD, _BEGUN, _SENT, *(name for names in _COUNTS.values() for name in names)})
"""The fields that are read. The plugin's others tell when each key went down: they are not."""
# The client says in each call what its hidden field is called; WordPress's plugin always posts
# this one.
NAMED_BY = "honeypot_field_name"
WORDPRESS = "POST_ak_hp_textarea"
FILLED = "honeypot_filled"
"""The field that says so: "true", "false", or absent where the form has no hidden field."""
# Milliseconds since 1970 have 13 digits.
_NUMBER = re.compile(r"[0-9]{1,16}")


def behaviour_of(fields: Mapping[str, str]) -> FormBehaviour | None:
    """Return the counts of a call, None where the form's script did not run.

    Pastes and input without keys are not among them.
    """
    counts: dict[str, object] = {}
    for name, parts in _COUNTS.items():
        found = [number for part in parts if (number := _number(fields, part)) is not None]
        counts[name] = sum(found) if found else None
    begun, sent = _number(fields, _BEGUN), _number(fields, _SENT)
    seconds = (sent - begun) / 1_000 if begun and sent else None
    return read_behaviour(counts | {"seconds": seconds})


def honeypot_field(
    named: str, posted: Iterable[tuple[str, bool]], *, read: frozenset[str]
) -> dict[str, str]:
    """Return `FILLED` as a field of the call, nothing where there is no hidden field.

    `posted` holds each field's name and whether it has a value. A name among those `read` is a
    mistake of the client's: the comment's text would be taken for the trap.
    """
    traps = ({named} - read - {""}) | {WORDPRESS}
    filled = [has_value for name, has_value in posted if name in traps]
    if not filled and named not in traps:
        return {}
    return {FILLED: "true" if any(filled) else "false"}


def _number(fields: Mapping[str, str], name: str) -> int | None:
    given = fields.get(name, "").strip()
    return int(given) if _NUMBER.fullmatch(given) else None
