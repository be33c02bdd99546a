"""A call by an Akismet client: which fields, which key, whose site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import Request

from service.domain.site import Site, SiteKey
from service.web.akismet.forms import Fields, read_form, read_json
from service.web.edge.reading import read_bounded

# A comment of 64 KiB in which every byte is escaped takes 192 KiB, and WordPress sends it twice.
MAX_BODY_BYTES = 1024 * 1024
# Calls whose `key` goes before `api_key`: while an administrator enters a new key, WordPress still
# sends the stored one along as `api_key`.
KEY_FIRST = frozenset({"verify-key", "get-subscription", "get-stats", "deactivate"})
_KEY_LABEL = re.compile(r"[0-9a-f]{12}")
CLIENT = "Akismet client"
"""Who acts, as the audit log calls it."""
_TRUE = frozenset({"1", "true"})
_MAX_KEY_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AkismetCall:
    """What came in with a valid key."""

    name: str
    fields: Fields = field(repr=False)
    user_agent: str = field(repr=False)
    site: Site
    key: SiteKey

    @property
    def is_test(self) -> bool:
        """Return True if the call is a test; by value, as clients send `is_test=false` too."""
        return self.fields.get("is_test", "").strip().lower() in _TRUE

    @property
    def recheck(self) -> bool:
        """Return True if the client has asked about this comment before."""
        return bool(self.fields.get("recheck_reason", "").strip())

    @property
    def is_wordpress(self) -> bool:
        """Return True if the caller is Akismet's plugin for WordPress."""
        return self.user_agent.startswith("WordPress/") and "Akismet/" in self.user_agent

    @property
    def slashed(self) -> bool:
        """Return True if the texts carry WordPress's backslashes.

        It adds them to what a visitor posts, so they are in first checks alone: rechecks and
        reports are read back from its database.
        """
        return self.is_wordpress and self.name == "comment-check" and not self.recheck


def read_fields(request: Request) -> dict[str, str]:
    """Return the fields of body and query; the body's go first.

    Raises `TooLargeError`, `UnreadableRequestError` or `InvalidInputError` for a body that cannot
    be read.
    """
    raw = read_bounded(MAX_BODY_BYTES)
    charset = request.mimetype_params.get("charset")
    fields = read_form(request.query_string, charset=None)
    if request.mimetype == "application/json":
        fields.update(read_json(raw))
    else:
        fields.update(read_form(raw, charset=charset))
    return fields


def presented_key(name: str, fields: Fields, host: str) -> str | None:
    """Return the key that a call came with, by the client's order of places; None if none did."""
    order = ("key", "api_key") if name in KEY_FIRST else ("api_key", "key")
    for place in order:
        given = fields.get(place, "").strip()
        if given:
            return given[:_MAX_KEY_CHARS]
    label = host.partition(".")[0].lower()
    return label if _KEY_LABEL.fullmatch(label) else None


def shown(fields: Mapping[str, str], name: str) -> str | None:
    """Return a field's value without outer white space, None for an empty or absent one."""
    return fields.get(name, "").strip() or None
