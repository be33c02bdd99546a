"""A comment as one line of a data file, with the keys of the data card."""

from collections.abc import Mapping
from datetime import UTC, datetime

from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    Author,
    Comment,
    CommentId,
    FormEvidence,
    Post,
    Sender,
    SiteId,
)
from service.domain.errors import Problem
from service.domain.form import FormToken, read_behaviour, read_seconds
from service.domain.text import storable

OFFLINE_SITE = SiteId("offline")
LABELS = {"spam": True, "ham": False}
"""Whether a comment is spam, by its label."""
_TOKENS = frozenset(FormToken)


def _text(row: Mapping[str, object], key: str) -> str | None:
    value = row.get(key)
    return storable(value) if isinstance(value, str) and value else None


def _date(row: Mapping[str, object]) -> datetime | None:
    value = _text(row, "date")
    try:
        return datetime.fromisoformat(value).replace(tzinfo=UTC) if value else None
    except ValueError:
        return None


def _form(row: Mapping[str, object]) -> FormEvidence:
    """Return the form's observations; values of wrong types are unknown."""
    form = row.get("form")
    if not isinstance(form, Mapping):
        return FormEvidence()
    filled, token = form.get("honeypot_filled"), form.get("token")
    return FormEvidence(
        seconds_on_page=read_seconds(form.get("seconds_on_page")),
        honeypot_filled=filled if isinstance(filled, bool) else None,
        behaviour=read_behaviour(form.get("behaviour")),
        token=FormToken(token) if isinstance(token, str) and token in _TOKENS else None,
    )


def comment_from_row(row: Mapping[str, object]) -> Comment:
    """Return the comment of a data file's line; unknown keys are ignored.

    Only what a site could send is read, never labels or campaigns. The excerpt is cut, NUL and lone
    surrogates are replaced as for a request. Raises `ValueError` if `id` or `text` is no string.
    """
    comment_id, text = row.get("id"), row.get("text")
    if not isinstance(comment_id, str) or not comment_id or not isinstance(text, str):
        raise ValueError(f"a record needs the strings 'id' and 'text', got id {comment_id!r}")
    email, excerpt = _text(row, "author_email"), _text(row, "post_excerpt")
    # Some sources keep only the domain of the author's URL.
    domain = _text(row, "author_url_domain")
    url = _text(row, "author_url") or (f"https://{domain}/" if domain else None)
    return Comment(
        id=CommentId(comment_id),
        site_id=OFFLINE_SITE,
        # As at the HTTP edge, so that a file is judged like a request.
        text=storable(text),
        received_at=_date(row) or datetime(1970, 1, 1, tzinfo=UTC),
        post=Post(title=_text(row, "post_title"), excerpt=excerpt and excerpt[:MAX_EXCERPT_CHARS]),
        author=Author(name=_text(row, "author_name"), url=url),
        sender=Sender(email_domain=email.rpartition("@")[2].lower() if email else None),
        form=_form(row),
        written_at=_date(row),
        language=_text(row, "lang"),
    )


def label_problems(row: Mapping[str, object], text: str) -> list[Problem]:
    """Return the problems of a row's label, and of its marks in the text; no value is quoted."""
    problems = []
    label, spans, boundary = (row.get(name) for name in ("label", "promo_spans", "boundary"))
    if not (label is None or (isinstance(label, str) and label in LABELS)):
        problems.append(Problem("label", "is none of the labels", 'use "spam", "ham" or null'))
    if not (spans is None or (isinstance(spans, list) and all(_is_span(s, text) for s in spans))):
        remedy = "give a list of [start, end) pairs of character offsets"
        problems.append(Problem("promo_spans", "does not fit the text", remedy))
    if not (boundary is None or _is_offset(boundary, text)):
        remedy = "give one character offset, or null"
        problems.append(Problem("boundary", "does not fit the text", remedy))
    return problems


def _is_span(pair: object, text: str) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    return all(_is_offset(one, text) for one in pair) and bool(pair[0] < pair[1])


def _is_offset(offset: object, text: str) -> bool:
    return type(offset) is int and 0 <= offset <= len(text)
