"""Finds out whether a form's hidden field came back filled in, and keeps nothing else of it."""

from __future__ import annotations

from collections.abc import Iterable

# The client says in each call what its hidden field is called; WordPress's plugin always posts
# this one.
NAMED_BY = "honeypot_field_name"
WORDPRESS = "POST_ak_hp_textarea"
FILLED = "honeypot_filled"
"""The field that says so: "true", "false", or absent where the form has no hidden field."""


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
