"""Turns values into rows of the tables, rows into values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.comment import (
    Author,
    Comment,
    CommentKind,
    Edit,
    FormEvidence,
    ListBasis,
    Listing,
    ListKind,
    Post,
    Sender,
)
from service.domain.decision import Decision, Mode, Ruling
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.domain.form import FormToken, behaviour_values, read_behaviour
from service.domain.inbound import InboundHook, Platform
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.normal_form import content_key
from service.domain.phrase import phrase_from, phrase_values
from service.domain.report import Label, Report
from service.domain.ruled_text import RuledText
from service.domain.rules import Rule, SiteRules
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.user import Preferences, Role, User
from service.domain.verdict import (
    Outcome,
    SecondOpinion,
    Signal,
    Span,
    Verdict,
    WeighedSignal,
    WeightKind,
)
from service.ports.audit import AuditEntry
from service.ports.comments import NewComment
from service.stores.cursor import REST_RANK
from service.stores.repeats import Claims
from service.stores.sql.base.mapping import Values, reader, writer

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
_SETTINGS = tuple(field.name for field in fields(SiteSettings))
_RULES = tuple(field.name for field in fields(SiteRules))
_PREFERENCES = tuple(field.name for field in fields(Preferences))


_post_values, _post_from = writer(Post, prefix="post_"), reader(Post, prefix="post_")
_author_values, _author_from = (
    writer(Author, prefix="author_"),
    reader(Author, prefix="author_"),
)


def comment_values(new: NewComment, claims: Claims) -> Values:
    """Return a new comment's row."""
    comment = new.comment
    return {
        "id": comment.id,
        "site_id": comment.site_id,
        "received_at": comment.received_at,
        "lane": new.lane.value,
        "attempts": 0,
        "audit": False,
        "decided": False,
        "review_rank": REST_RANK,
        "review_at": comment.received_at,
        "fingerprint": claims.fingerprint,
        "idempotency_digest": claims.idempotency_digest,
        "site_comment_digest": claims.site_comment_digest,
        "content_key": content_key(comment.text),
        **sent_values(comment),
    }


def sent_values(comment: Comment) -> Values:
    """Return the columns of what the site sent."""
    return {
        "text": comment.text,
        "site_comment_id": comment.site_comment_id,
        "written_at": comment.written_at,
        "language": comment.language,
        "user_agent": comment.user_agent,
        "reply_to": comment.reply_to,
        **_post_values(comment.post),
        **_author_values(comment.author),
        **sender_values(comment.sender),
        "form_seconds_on_page": comment.form.seconds_on_page,
        "form_honeypot_filled": comment.form.honeypot_filled,
        "form_behaviour": behaviour_values(comment.form.behaviour),
        "form_token": comment.form.token.value if comment.form.token else None,
        "kind": comment.kind.value if comment.kind else None,
        "edit": comment.edit.value if comment.edit else None,
        "ruled_text": comment.ruled and _ruled_values(comment.ruled),
    }


def sender_values(sender: Sender) -> Values:
    """Return the columns of who sent it."""
    return {
        **{f"sender_{name}": getattr(sender, name) for name in SENDER_COLUMNS},
        "sender_before_rotation": _older_keys(sender.before_rotation),
        "sender_listings": _listing_values(sender.listings),
    }


def _older_keys(older: Sender | None) -> Values | None:
    """Return the keys that there are, by name; autonomous system and mail domain never rotate."""
    if older is None:
        return None
    return {name: value for name in _SENDER_KEYS if (value := getattr(older, name)) is not None}


def _listing_values(listings: Sequence[Listing]) -> list[Values] | None:
    return [
        {
            "list": one.list_name,
            "kind": one.kind.value,
            "age_days": one.age_days,
            "basis": one.basis.value,
        }
        for one in listings
    ] or None


def comment_from(row: Row) -> Comment:
    """Return the comment of a row."""
    return Comment(
        id=row.id,
        site_id=row.site_id,
        text=row.text,
        received_at=row.received_at,
        post=_post_from(row),
        author=_author_from(row),
        sender=Sender(
            **{name: getattr(row, f"sender_{name}") for name in SENDER_COLUMNS},
            before_rotation=None
            if row.sender_before_rotation is None
            else Sender(**row.sender_before_rotation),
            listings=tuple(_listing_from(one) for one in row.sender_listings or ()),
        ),
        form=FormEvidence(
            seconds_on_page=row.form_seconds_on_page,
            honeypot_filled=row.form_honeypot_filled,
            behaviour=read_behaviour(row.form_behaviour),
            token=FormToken(row.form_token) if row.form_token else None,
        ),
        site_comment_id=row.site_comment_id,
        written_at=row.written_at,
        language=row.language,
        user_agent=row.user_agent,
        reply_to=row.reply_to,
        kind=CommentKind(row.kind) if row.kind else None,
        edit=Edit(row.edit) if row.edit else None,
        ruled=row.ruled_text and _ruled_from(row.ruled_text),
    )


_ruled_values = writer(RuledText)


def _ruled_from(values: Values) -> RuledText:
    return RuledText(**{name: _tuples(value) for name, value in values.items()})


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _listing_from(values: Values) -> Listing:
    return Listing(
        list_name=values["list"],
        kind=ListKind(values["kind"]),
        age_days=values["age_days"],
        # Comments of before there was one do not have the key.
        basis=ListBasis(values.get("basis", ListBasis.REPORTED)),
    )


def _signal_values(weighed: WeighedSignal) -> Values:
    phrase = phrase_values(weighed.signal.reason)
    return ({"phrase": phrase} if phrase != weighed.signal.reason else {}) | {
        "name": weighed.signal.name,
        "strength": weighed.signal.strength,
        "reason": weighed.signal.reason,
        "spans": _span_values(weighed.signal.spans),
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
            # Verdicts of before there were phrases have the reason in English alone.
            reason=phrase_from(values.get("phrase", values["reason"])),
            spans=_spans_from(values["spans"]),
            # Verdicts of before there were any do not have the key.
            boundaries=tuple(values.get("boundaries", ())),
        ),
        weight=values["weight"],
        contribution=values["contribution"],
        # Nor these two.
        kind=WeightKind(values["kind"]) if values.get("kind") else None,
        decisions=values.get("decisions", 0),
    )


def _span_values(spans: Sequence[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


def _spans_from(values: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(start=start, end=end) for start, end in values)


def settings_from(values: Values) -> SiteSettings:
    """Return the settings of a JSON column.

    What an older version did not write has its default; what only a newer one knows is left out.
    """
    known = {name: values[name] for name in _SETTINGS if name in values}
    known |= {"mode": Mode(values["mode"]), "languages": tuple(values["languages"])}
    if known.get("learns_since"):
        known["learns_since"] = datetime.fromisoformat(known["learns_since"])
    if "rules" in known:
        rules = known["rules"]
        known["rules"] = SiteRules(
            **{name: _tuples(rules[name]) for name in _RULES if name in rules}
        )
    return SiteSettings(**known)


def _tuple_or_none(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _instruction_from(values: Values | None) -> Instruction | None:
    if values is None:
        return None
    known = {**values, "effect": Effect(values["effect"]), "kind": EntryKind(values["kind"])}
    return Instruction(**known)


def _preferences_from(values: Values | None) -> Preferences:
    """Return the preferences of a JSON column; what only another version knows is left out."""
    known = values or {}
    return Preferences(**{name: known[name] for name in _PREFERENCES if name in known})


def _events_from(values: Sequence[str]) -> tuple[EventKind, ...]:
    return tuple(EventKind(value) for value in values)


_instruction_values = writer(Instruction)
verdict_values = writer(
    Verdict,
    signals=lambda signals: [_signal_values(weighed) for weighed in signals],
    promo_spans=_span_values,
    instruction=lambda one: one and _instruction_values(one),
    held_by=lambda rules: list(rules) or None,
)
verdict_from = reader(
    Verdict,
    outcome=Outcome,
    signals=lambda signals: tuple(_signal_from(values) for values in signals),
    promo_spans=_spans_from,
    degraded_by=tuple,
    instruction=_instruction_from,
    held_by=lambda values: tuple(map(Rule, values or ())),
)


def second_opinion_from(values: Values | None) -> SecondOpinion | None:
    """Return the second judge's opinion, None where it was only asked for."""
    if not values or "outcome" not in values:
        return None
    return SecondOpinion(outcome=Outcome(values["outcome"]), reason=values["reason"])


_DECISION_COLUMNS = {"bulk_decision_id": "stroke_id"}
_decision_values = writer(Decision, columns=_DECISION_COLUMNS)
decision_from = reader(Decision, columns=_DECISION_COLUMNS, ruling=Ruling)

settings_values = writer(
    SiteSettings,
    learns_since=lambda at: at.isoformat() if at else None,
    rules=writer(SiteRules),
)
site_values = writer(Site, settings=settings_values)
site_from = reader(Site, settings=settings_from)
key_values, key_from = writer(SiteKey), reader(SiteKey)

_user_values = writer(User, preferences=writer(Preferences))
user_from = reader(User, role=Role, site_ids=_tuple_or_none, preferences=_preferences_from)
entry_values, entry_from = writer(AuditEntry), reader(AuditEntry)
report_values, report_from = writer(Report), reader(Report, label=Label)

endpoint_values = writer(Endpoint)
endpoint_from, _joined_endpoint_from = (
    reader(Endpoint, prefix=prefix, secrets=tuple, events=_events_from, form=DeliveryForm)
    for prefix in ("", "endpoint_")
)
_delivery_values = writer(Delivery)
delivery_from = reader(Delivery, event=EventKind, form=DeliveryForm, state=DeliveryState)
attempt_values, attempt_from = writer(DeliveryAttempt), reader(DeliveryAttempt)
hook_values, hook_from = writer(InboundHook), reader(InboundHook, platform=Platform)


def joined_endpoint(row: Row) -> Endpoint | None:
    """Return the endpoint of a row with `JOINED_ENDPOINT`, None where the site has none."""
    return _joined_endpoint_from(row) if row.endpoint_site_id is not None else None


def decision_values(decision: Decision) -> Values:
    """Return a new decision's row: no history knows of it yet."""
    return _decision_values(decision) | {"unremembered_since": decision.decided_at}


def user_values(user: User) -> Values:
    """Return an account's row."""
    return _user_values(user) | {"name_folded": user.name.casefold()}


def delivery_values(delivery: Delivery) -> Values:
    """Return a delivery's row without `seq`, which the database gives."""
    values = _delivery_values(delivery)
    del values["seq"]
    return values
