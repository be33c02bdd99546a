"""Turns values into rows of the tables, rows into values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from service.domain.comment import (
    Author,
    Comment,
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
from service.domain.report import Label, Report
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.user import Preferences, Role, User
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal, WeightKind
from service.ports.audit import AuditEntry
from service.ports.comments import NewComment
from service.stores.cursor import REST_RANK
from service.stores.repeats import Claims

Row = sa.Row[*tuple[Any, ...]]
Values = dict[str, Any]

_SENDER_KEYS = (
    "address_key",
    "network_key",
    "wide_network_key",
    "email_key",
    "name_key",
    "account_key",
)
_SENDER_COLUMNS = (*_SENDER_KEYS, "system", "email_domain")
_SETTINGS = tuple(field.name for field in fields(SiteSettings))
_PREFERENCES = tuple(field.name for field in fields(Preferences))


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
    post, author = comment.post, comment.author
    return {
        "text": comment.text,
        "site_comment_id": comment.site_comment_id,
        "written_at": comment.written_at,
        "language": comment.language,
        "user_agent": comment.user_agent,
        "reply_to": comment.reply_to,
        "post_url": post.url,
        "post_title": post.title,
        "post_excerpt": post.excerpt,
        "author_name": author.name,
        "author_url": author.url,
        "author_account_id": author.account_id,
        "author_account_age_days": author.account_age_days,
        "author_trust_level": author.trust_level,
        **sender_values(comment.sender),
        "form_seconds_on_page": comment.form.seconds_on_page,
        "form_honeypot_filled": comment.form.honeypot_filled,
        "form_behaviour": behaviour_values(comment.form.behaviour),
        "form_token": comment.form.token.value if comment.form.token else None,
        "edit": comment.edit.value if comment.edit else None,
    }


def sender_values(sender: Sender) -> Values:
    """Return the columns of who sent it."""
    return {
        **{f"sender_{name}": getattr(sender, name) for name in _SENDER_COLUMNS},
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
        post=Post(url=row.post_url, title=row.post_title, excerpt=row.post_excerpt),
        author=Author(
            name=row.author_name,
            url=row.author_url,
            account_id=row.author_account_id,
            account_age_days=row.author_account_age_days,
            trust_level=row.author_trust_level,
        ),
        sender=Sender(
            **{name: getattr(row, f"sender_{name}") for name in _SENDER_COLUMNS},
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
        edit=Edit(row.edit) if row.edit else None,
    )


def _listing_from(values: Values) -> Listing:
    return Listing(
        list_name=values["list"],
        kind=ListKind(values["kind"]),
        age_days=values["age_days"],
        # Comments of before there was one do not have the key.
        basis=ListBasis(values.get("basis", ListBasis.REPORTED)),
    )


def verdict_values(verdict: Verdict) -> Values:
    """Return a verdict's row."""
    return {
        "comment_id": verdict.comment_id,
        "outcome": verdict.outcome.value,
        "p_spam": verdict.p_spam,
        "score": verdict.score,
        "base": verdict.base,
        "model_p_spam": verdict.model_p_spam,
        "model_contribution": verdict.model_contribution,
        "signals": [_signal_values(weighed) for weighed in verdict.signals],
        "promo_spans": _span_values(verdict.promo_spans),
        "model_version": verdict.model_version,
        "ham_cutoff": verdict.ham_cutoff,
        "spam_cutoff": verdict.spam_cutoff,
        "judged_at": verdict.judged_at,
        "degraded_by": list(verdict.degraded_by),
        "instruction": _instruction_values(verdict.instruction),
    }


def verdict_from(row: Row | SimpleNamespace) -> Verdict:
    """Return the verdict of a row, or of what has the same names."""
    return Verdict(
        comment_id=row.comment_id,
        outcome=Outcome(row.outcome),
        p_spam=row.p_spam,
        score=row.score,
        base=row.base,
        model_p_spam=row.model_p_spam,
        model_contribution=row.model_contribution,
        signals=tuple(_signal_from(values) for values in row.signals),
        promo_spans=_spans_from(row.promo_spans),
        model_version=row.model_version,
        ham_cutoff=row.ham_cutoff,
        spam_cutoff=row.spam_cutoff,
        judged_at=row.judged_at,
        degraded_by=tuple(row.degraded_by),
        instruction=_instruction_from(row.instruction),
    )


def _instruction_values(instruction: Instruction | None) -> Values | None:
    if instruction is None:
        return None
    return {
        "entry_id": instruction.entry_id,
        "effect": instruction.effect.value,
        "kind": instruction.kind.value,
        "label": instruction.label,
        "reason": instruction.reason,
    }


def _instruction_from(values: Values | None) -> Instruction | None:
    if values is None:
        return None
    known = {**values, "effect": Effect(values["effect"]), "kind": EntryKind(values["kind"])}
    return Instruction(**known)


def _signal_values(weighed: WeighedSignal) -> Values:
    return {
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
            reason=values["reason"],
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


def decision_values(decision: Decision) -> Values:
    """Return a new decision's row: no history knows of it yet."""
    return {
        "id": decision.id,
        "comment_id": decision.comment_id,
        "ruling": decision.ruling.value,
        "decided_by": decision.decided_by,
        "decided_at": decision.decided_at,
        "note": decision.note,
        "undone_at": decision.undone_at,
        "undone_by": decision.undone_by,
        "stroke_id": decision.bulk_decision_id,
        "seconds": decision.seconds,
        "unremembered_since": decision.decided_at,
    }


def decision_from(row: Row) -> Decision:
    """Return the decision of a row."""
    return Decision(
        id=row.id,
        comment_id=row.comment_id,
        ruling=Ruling(row.ruling),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        note=row.note,
        undone_at=row.undone_at,
        undone_by=row.undone_by,
        bulk_decision_id=row.stroke_id,
        seconds=row.seconds,
    )


def settings_values(settings: SiteSettings) -> Values:
    """Return a site's settings as they lie in their JSON column."""
    return {
        "mode": settings.mode.value,
        "ham_cutoff": settings.ham_cutoff,
        "spam_cutoff": settings.spam_cutoff,
        "languages": list(settings.languages),
        "holds_unsure": settings.holds_unsure,
        "reports_decide": settings.reports_decide,
        "rejects_campaigns": settings.rejects_campaigns,
        "blog": settings.blog,
        "undo_seconds": settings.undo_seconds,
        "learns": settings.learns,
        "learns_since": settings.learns_since.isoformat() if settings.learns_since else None,
        "public_feed": settings.public_feed,
    }


def settings_from(values: Values) -> SiteSettings:
    """Return the settings of a JSON column.

    What an older version did not write has its default; what only a newer one knows is left out.
    """
    known = {name: values[name] for name in _SETTINGS if name in values}
    known |= {"mode": Mode(values["mode"]), "languages": tuple(values["languages"])}
    if known.get("learns_since"):
        known["learns_since"] = datetime.fromisoformat(known["learns_since"])
    return SiteSettings(**known)


def site_values(site: Site) -> Values:
    """Return a site's row."""
    return {
        "id": site.id,
        "name": site.name,
        "created_at": site.created_at,
        "settings": settings_values(site.settings),
    }


def site_from(row: Row) -> Site:
    """Return the site of a row."""
    return Site(
        id=row.id,
        name=row.name,
        created_at=row.created_at,
        settings=settings_from(row.settings),
    )


def key_values(key: SiteKey) -> Values:
    """Return a site key's row."""
    return {
        "id": key.id,
        "site_id": key.site_id,
        "hint": key.hint,
        "secret_sha256": key.secret_sha256,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }


def key_from(row: Row) -> SiteKey:
    """Return the site key of a row."""
    return SiteKey(
        id=row.id,
        site_id=row.site_id,
        hint=row.hint,
        secret_sha256=row.secret_sha256,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )


def user_values(user: User) -> Values:
    """Return an account's row."""
    return {
        "id": user.id,
        "name": user.name,
        "name_folded": user.name.casefold(),
        "password_hash": user.password_hash,
        "created_at": user.created_at,
        "must_change_password": user.must_change_password,
        "role": user.role.value,
        "site_ids": None if user.site_ids is None else list(user.site_ids),
        "preferences": {
            "language": user.preferences.language,
            "blur": user.preferences.blur,
            "live": user.preferences.live,
            "mail": user.preferences.mail,
            "compact": user.preferences.compact,
        },
        "ended_at": user.ended_at,
    }


def user_from(row: Row) -> User:
    """Return the account of a row."""
    return User(
        id=row.id,
        name=row.name,
        password_hash=row.password_hash,
        created_at=row.created_at,
        must_change_password=row.must_change_password,
        role=Role(row.role),
        site_ids=None if row.site_ids is None else tuple(row.site_ids),
        preferences=_preferences_from(row.preferences or {}),
        ended_at=row.ended_at,
    )


def _preferences_from(values: Values) -> Preferences:
    """Return the preferences of a JSON column; what only another version knows is left out."""
    return Preferences(**{name: values[name] for name in _PREFERENCES if name in values})


def entry_values(entry: AuditEntry) -> Values:
    """Return an audit entry's row."""
    return {
        "at": entry.at,
        "actor": entry.actor,
        "act": entry.act,
        "subject": entry.subject,
        "detail": entry.detail,
    }


def entry_from(row: Row) -> AuditEntry:
    """Return the audit entry of a row."""
    return AuditEntry(
        at=row.at, actor=row.actor, act=row.act, subject=row.subject, detail=row.detail
    )


def report_values(report: Report) -> Values:
    """Return a report's row."""
    return {
        "id": report.id,
        "site_id": report.site_id,
        "comment_id": report.comment_id,
        "label": report.label.value,
        "reported_at": report.reported_at,
        "reported_by": report.reported_by,
    }


def report_from(row: Row) -> Report:
    """Return the report of a row."""
    return Report(
        id=row.id,
        site_id=row.site_id,
        comment_id=row.comment_id,
        label=Label(row.label),
        reported_at=row.reported_at,
        reported_by=row.reported_by,
    )


def endpoint_values(endpoint: Endpoint) -> Values:
    """Return an endpoint's row."""
    return {
        "site_id": endpoint.site_id,
        "url": endpoint.url,
        "secrets": list(endpoint.secrets),
        "events": [event.value for event in endpoint.events],
    }


def endpoint_from(row: Row) -> Endpoint:
    """Return the endpoint of a row."""
    return Endpoint(
        site_id=row.site_id,
        url=row.url,
        secrets=tuple(row.secrets),
        events=tuple(EventKind(event) for event in row.events),
    )


def delivery_values(delivery: Delivery) -> Values:
    """Return a delivery's row without `seq`, which the database gives."""
    return {
        "id": delivery.id,
        "site_id": delivery.site_id,
        "comment_id": delivery.comment_id,
        "event": delivery.event.value,
        "form": delivery.form.value,
        "url": delivery.url,
        "payload": delivery.payload,
        "created_at": delivery.created_at,
        "state": delivery.state.value,
        "attempts": delivery.attempts,
        "next_try_at": delivery.next_try_at,
        "ended_at": delivery.ended_at,
        "decision_id": delivery.decision_id,
        "corrects_told": delivery.corrects_told,
    }


def delivery_from(row: Row) -> Delivery:
    """Return the delivery of a row."""
    return Delivery(
        id=row.id,
        seq=row.seq,
        site_id=row.site_id,
        comment_id=row.comment_id,
        event=EventKind(row.event),
        form=DeliveryForm(row.form),
        url=row.url,
        payload=row.payload,
        created_at=row.created_at,
        state=DeliveryState(row.state),
        attempts=row.attempts,
        next_try_at=row.next_try_at,
        ended_at=row.ended_at,
        decision_id=row.decision_id,
        corrects_told=row.corrects_told,
    )


def attempt_values(attempt: DeliveryAttempt) -> Values:
    """Return a delivery attempt's row."""
    return {
        "delivery_id": attempt.delivery_id,
        "at": attempt.at,
        "milliseconds": attempt.milliseconds,
        "status": attempt.status,
        "problem": attempt.problem,
    }


def attempt_from(row: Row) -> DeliveryAttempt:
    """Return the delivery attempt of a row."""
    return DeliveryAttempt(
        delivery_id=row.delivery_id,
        at=row.at,
        milliseconds=row.milliseconds,
        status=row.status,
        problem=row.problem,
    )


def hook_values(hook: InboundHook) -> Values:
    """Return an inbound hook's row."""
    return {
        "id": hook.id,
        "site_id": hook.site_id,
        "platform": hook.platform.value,
        "secret": hook.secret,
        "created_at": hook.created_at,
        "revoked_at": hook.revoked_at,
    }


def hook_from(row: Row) -> InboundHook:
    """Return the inbound hook of a row."""
    return InboundHook(
        id=row.id,
        site_id=row.site_id,
        platform=Platform(row.platform),
        secret=row.secret,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )
