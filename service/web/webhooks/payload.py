"""Parses platforms' payloads leniently: values over a limit are cut, not refused."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from service.domain.comment import (
    MAX_NAME_CHARS,
    MAX_TEXT_BYTES,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    Author,
    Lane,
    Post,
)
from service.domain.errors import invalid_input
from service.domain.site import Site
from service.ports.comments import NewComment
from service.web.api.intake import receive
from service.web.edge import strict_json
from service.web.edge.current import services
from service.web.edge.errors import UnreadableRequestError
from service.web.edge.fields import cut, known_date, read_any_moment
from service.web.edge.strict_json import Json

FORM = "application/x-www-form-urlencoded"
# Replaces the middle of a text that is too long.
CUT = "\n[…]\n"
MAX_ID_CHARS = 180
_MAX_FORM_FIELDS = 100


@dataclass(frozen=True, slots=True)
class Members:
    """An object of a payload. A member that is missing or of another type is None."""

    value: Mapping[str, Json]

    def of(self, name: str) -> "Members":
        """Return the object of this name, or an empty one."""
        found = self.get(name)
        return Members(found if isinstance(found, dict) else {})

    def get(self, name: str) -> Json:
        return self.value.get(name)

    def text(self, name: str) -> str | None:
        """Return a string, or None if it is blank."""
        found = self.get(name)
        return found if isinstance(found, str) and found.strip() else None

    def id(self, name: str) -> str | None:
        """Return an id: a string or an integer."""
        found = self.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        return found if isinstance(found, str) and found else None

    def is_true(self, name: str) -> bool:
        return self.get(name) is True

    def moment(self, name: str) -> datetime | None:
        """Return a time; one without an offset is in UTC."""
        return known_date(read_any_moment(self.get(name)))


def read_json(raw: bytes) -> Members:
    """Return a JSON object. Raises `UnreadableRequestError` for any other body."""
    value, _ = strict_json.clean(strict_json.parse(raw))
    if not isinstance(value, dict):
        raise UnreadableRequestError("The body is not a JSON object.")
    return Members(value)


def read_form(raw: bytes) -> dict[str, str]:
    """Return the fields of a form, each with its last value. Raises `UnreadableRequestError`."""
    try:
        pairs = parse_qsl(
            raw.decode("utf-8", "replace"),
            keep_blank_values=True,
            max_num_fields=_MAX_FORM_FIELDS,
            errors="replace",
        )
    except ValueError:
        raise UnreadableRequestError(f"The form has more than {_MAX_FORM_FIELDS} fields.") from None
    return dict(pairs)


def read_json_or_form(raw: bytes, media_type: str) -> Members:
    """Return the payload of a JSON body, or of the form field `payload`."""
    if media_type != FORM:
        return read_json(raw)
    payload = read_form(raw).get("payload")
    if payload is None:
        raise UnreadableRequestError("The form has no field named payload.")
    return read_json(payload.encode("utf-8", "surrogatepass"))


def require(found: str | None, field: str) -> str:
    """Return `found`. Raises `InvalidInputError` with the field's name if it is None."""
    if found is None:
        remedy = "send the platform's own payload, without a template that changes its shape"
        raise invalid_input(field, "is missing", remedy)
    return found


def own_id(platform: str, given: str) -> str:
    """Return the bounded, unique id under which a platform's comment is stored."""
    if len(given) > MAX_ID_CHARS - len(platform):
        given = hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()
    return f"{platform}:{given}"


def cut_text(text: str) -> str:
    """Return a text; one that is too long is reduced to its head and its tail."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT_BYTES:
        return text
    half = (MAX_TEXT_BYTES - len(CUT.encode())) // 2
    head, tail = raw[:half].decode("utf-8", "ignore"), raw[-half:].decode("utf-8", "ignore")
    return head + CUT + tail


def as_comment(
    site: Site, text: str, *, post: Post, author: Author, key: str | None = None, **values: Any
) -> NewComment:
    """Return a platform's comment; `values` are the other fields of `Comment`.

    Fields that are too long are cut; a long URL is dropped. Its lane is not bulk, because the
    comment is already public.
    """
    name, account_id = cut(author.name, MAX_NAME_CHARS), cut(author.account_id, MAX_ID_CHARS)
    comment = receive(
        site,
        services,
        text=cut_text(text),
        post=replace(post, url=_short(post.url), title=cut(post.title, MAX_TITLE_CHARS)),
        author=replace(author, url=_short(author.url), name=name, account_id=account_id),
        **values,
    )
    return NewComment(comment=comment, lane=Lane.INTERACTIVE, idempotency_key=key)


def _short(url: str | None) -> str | None:
    return url if url and len(url) <= MAX_URL_CHARS else None
