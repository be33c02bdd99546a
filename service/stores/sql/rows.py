"""Maps data classes to rows of the tables, or to JSON, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from service.domain.comment import (
    Author,
    Comment,
    CommentKind,
    Edit,
    FormEvidence,
    Listing,
    Post,
    Report,
    RuledText,
    Sender,
)
from service.domain.decision import Decision
from service.domain.form import behaviour_values, read_behaviour
from service.domain.rules import Rule
from service.domain.site import SiteSettings
from service.domain.text import phrase_from, phrase_values
from service.domain.user import User
from service.domain.verdict import (
    Outcome,
    SecondOpinion,
    Signal,
    Span,
    Verdict,
    WeighedSignal,
    WeightKind,
    span_pairs,
)
from service.ports.audit import AuditEntry

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
Values = dict[str, Any]
Change = Callable[[Any], Any]
_NONE: Mapping[str, str] = {}
# Types that a column stores without conversion.
_IN_COLUMNS = frozenset({NoneType, str, int, float, bool, datetime})


def writer(
    of: type[DataclassInstance],
    *,
    prefix: str = "",
    columns: Mapping[str, str] = _NONE,
    **writes: Change,
) -> Callable[[Any], Values]:
    """Return a function that converts a data class's instance to columns, one per field.

    `columns` names the columns whose names differ from their fields'. A field whose metadata has
    `"kept": False` has no column. `writes` convert fields; others are stored as they are, or as
    JSON.
    """
    made = [
        (name, prefix + columns.get(name, name), writes.get(name, _written))
        for name in _kept_fields(of)
    ]

    def write(value: object) -> Values:
        return {column: convert(getattr(value, name)) for name, column, convert in made}

    return write


def reader(
    of: type[Value], *, prefix: str = "", columns: Mapping[str, str] = _NONE, **reads: Change
) -> Callable[[Any], Value]:
    """Return a function that creates a data class's instance from a row that `writer` wrote.

    `reads` convert columns; others are converted by their field's type. Raise `AttributeError` for
    a row without one of the columns.
    """
    names = _kept_fields(of)
    read_columns = attrgetter(*(prefix + columns.get(name, name) for name in names))
    validate = TypeAdapter(of).validate_python

    def read(row: object) -> Value:
        found = dict(zip(names, read_columns(row), strict=False))
        for name, convert in reads.items():
            found[name] = convert(found[name])
        return validate(found)

    return read


def _kept_fields(of: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(of) if field.metadata.get("kept", True))


def _written(value: Any) -> Any:
    return value if type(value) in _IN_COLUMNS else to_jsonable_python(value)


Row = sa.Row[*tuple[Any, ...]]

_SENDER_KEYS = (
    "address_key",
    "network_key",
    "wide_network_key",
    "email_key",
    "name_key",
    "account_key",
)
SENDER_COLUMNS = (*_SENDER_KEYS, "system", "email_domain")


def _older_keys(older: Sender | None) -> Values | None:
    """Return the older keys that exist, by name; autonomous system and mail domain never rotate."""
    if older is None:
        return None
    return {name: value for name in _SENDER_KEYS if (value := getattr(older, name)) is not None}


_post_values, _post_from = writer(Post, prefix="post_"), reader(Post, prefix="post_")
_author_values, _author_from = (writer(Author, prefix="author_"), reader(Author, prefix="author_"))
_form_values = writer(FormEvidence, prefix="form_", behaviour=behaviour_values)
_form_from = reader(FormEvidence, prefix="form_", behaviour=read_behaviour)
_listing_values = writer(Listing, columns={"list_name": "list"})
sender_values = writer(
    Sender,
    prefix="sender_",
    before_rotation=_older_keys,
    listings=lambda listings: [_listing_values(one) for one in listings] or None,
)
_sender_from = reader(
    Sender,
    prefix="sender_",
    before_rotation=lambda kept: None if kept is None else Sender(**kept),
    listings=lambda kept: tuple({**one, "list_name": one["list"]} for one in kept or ()),
)
_ruled_values, _ruled_from = writer(RuledText), TypeAdapter(RuledText).validate_python


_SENT = ("text", "site_comment_id", "written_at", "language", "user_agent", "reply_to")


def sent_values(comment: Comment) -> Values:
    """Return the columns of the fields that the site sent."""
    return {
        **{name: getattr(comment, name) for name in _SENT},
        **_post_values(comment.post),
        **_author_values(comment.author),
        **sender_values(comment.sender),
        **_form_values(comment.form),
        "kind": comment.kind.value if comment.kind else None,
        "edit": comment.edit.value if comment.edit else None,
        "ruled_text": comment.ruled and _ruled_values(comment.ruled),
    }


def comment_from(row: Row) -> Comment:
    return Comment(
        **{name: getattr(row, name) for name in ("id", "site_id", "received_at", *_SENT)},
        post=_post_from(row),
        author=_author_from(row),
        sender=_sender_from(row),
        form=_form_from(row),
        kind=CommentKind(row.kind) if row.kind else None,
        edit=Edit(row.edit) if row.edit else None,
        ruled=row.ruled_text and _ruled_from(row.ruled_text),
    )


def _signal_values(weighed: WeighedSignal) -> Values:
    phrase = phrase_values(weighed.signal.reason)
    return ({"phrase": phrase} if phrase != weighed.signal.reason else {}) | {
        "name": weighed.signal.name,
        "strength": weighed.signal.strength,
        "reason": weighed.signal.reason,
        "spans": span_pairs(weighed.signal.spans),
        "boundaries": list(weighed.signal.boundaries),
        "weight": weighed.weight,
        "contribution": weighed.contribution,
        "kind": weighed.kind and weighed.kind.value,
        "decisions": weighed.decisions,
    }


def _signal_from(values: Values) -> WeighedSignal:
    return WeighedSignal(
        signal=Signal(
            name=values["name"],
            strength=values["strength"],
            # A phrase without values is stored as its English reason alone.
            reason=phrase_from(values.get("phrase", values["reason"])),
            spans=_spans_from(values["spans"]),
            boundaries=tuple(values["boundaries"]),
        ),
        weight=values["weight"],
        contribution=values["contribution"],
        kind=WeightKind(values["kind"]) if values["kind"] else None,
        decisions=values["decisions"],
    )


def _spans_from(values: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(start=start, end=end) for start, end in values)


verdict_values = writer(
    Verdict,
    signals=lambda signals: [_signal_values(weighed) for weighed in signals],
    promo_spans=span_pairs,
    held_by=lambda rules: list(rules) or None,
)
verdict_from, joined_verdict_from = (
    reader(
        Verdict,
        prefix=prefix,
        signals=lambda kept: tuple(map(_signal_from, kept)),
        promo_spans=_spans_from,
        held_by=lambda kept: tuple(map(Rule, kept or ())),
    )
    for prefix in ("", "verdict_")
)


def second_opinion_from(values: Values | None) -> SecondOpinion | None:
    """Return the second judge's opinion, None while it is pending."""
    if not values or "outcome" not in values:
        return None
    return SecondOpinion(outcome=Outcome(values["outcome"]), reason=values["reason"])


_DECISION_COLUMNS = {"bulk_decision_id": "stroke_id"}
_decision_values = writer(Decision, columns=_DECISION_COLUMNS)
decision_from = reader(Decision, columns=_DECISION_COLUMNS)

# Missing keys become the field's default. Unknown keys, which another version wrote, are ignored.
settings_from = TypeAdapter(SiteSettings).validate_python

_user_values, user_from = writer(User), reader(User)
entry_values, entry_from = writer(AuditEntry), reader(AuditEntry)
report_values, report_from = writer(Report), reader(Report)


def decision_values(decision: Decision) -> Values:
    """Return a new decision's row, which no history includes yet."""
    return _decision_values(decision) | {"unremembered_since": decision.decided_at}


def user_values(user: User) -> Values:
    return _user_values(user) | {"name_folded": user.name.casefold()}
