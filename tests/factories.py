"""Makes values for tests; a test states only what it is about."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

from service.domain.comment import Author, Comment, CommentId, Lane, Post, Sender, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery, DeliveryForm, EventKind
from service.domain.report import Label, Report
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal
from service.ports.audit import AuditEntry
from service.ports.comments import Added, NewComment

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SITE = SiteId("site-1")
_numbers = itertools.count(1)


def make_comment(text: str = "I had the same trouble with the drain valve.", **changes) -> Comment:
    values = {
        "id": CommentId(f"c{next(_numbers):06d}"),
        "site_id": SITE,
        "text": text,
        "received_at": NOW,
        "post": Post(url="https://blog.example/p/1", title="Bleeding a radiator"),
        "author": Author(name="Mara"),
        "sender": Sender(),
    }
    return Comment(**(values | changes))


def make_signal(name: str = "front_page_link", **changes) -> Signal:
    values = {"strength": 1.0, "reason": "contains a link", "spans": (Span(start=0, end=4),)}
    return Signal(name=name, **(values | changes))


def make_verdict(comment_id: CommentId, outcome: Outcome = Outcome.UNSURE, **changes) -> Verdict:
    p_spam = {Outcome.HAM: 0.02, Outcome.UNSURE: 0.5, Outcome.SPAM: 0.99}[outcome]
    values = {
        "comment_id": comment_id,
        "outcome": outcome,
        "p_spam": p_spam,
        "score": 0.0,
        "base": -1.0,
        "model_p_spam": p_spam,
        "model_contribution": 0.5,
        "signals": (WeighedSignal(signal=make_signal(), weight=0.5, contribution=0.5),),
        "promo_spans": (Span(start=0, end=4),),
        "model_version": "test-1",
        "ham_cutoff": 0.1,
        "spam_cutoff": 0.9,
        "judged_at": NOW,
    }
    return Verdict(**(values | changes))


def make_decision(
    decision_id: str, comment_id: CommentId, ruling: Ruling = Ruling.REJECT, **changes
) -> Decision:
    values = {"id": decision_id, "comment_id": comment_id, "ruling": ruling}
    return Decision(**(values | {"decided_by": "ada", "decided_at": NOW} | changes))


def keep_all(store, *comments: Comment, lane: Lane = Lane.BULK) -> list[Added]:
    """Keep comments, unjudged, in a store of comments."""
    return store.add([NewComment(comment=one, lane=lane) for one in comments])


def keep_one(
    stores, outcome: Outcome | None = None, *, audit=False, verdict=None, lane=Lane.BULK, **changes
) -> CommentId:
    """Keep a comment, judged so if an outcome is given, and return its id."""
    comment = make_comment(**changes)
    keep_all(stores.comments, comment, lane=lane)
    if outcome is not None:
        made = make_verdict(comment.id, outcome, **(verdict or {}))
        stores.verdicts.add([made], audit=frozenset([comment.id] if audit else []))
    return comment.id


def make_report(comment_id: CommentId | None, label: Label = Label.HAM, **changes) -> Report:
    values = {"id": f"r{next(_numbers):06d}", "site_id": SITE, "reported_at": NOW}
    return Report(label=label, comment_id=comment_id, **(values | changes))


def add_appeal(stores, comment_id: CommentId, text: str = "It is mine.") -> bool:
    act = AuditEntry(at=NOW, actor="author", act="appeal", subject=comment_id)
    return stores.reports.appeal(comment_id, text, act=act)


def make_delivery(comment_id: CommentId, **changes) -> Delivery:
    values = {
        "id": f"del{next(_numbers):06d}",
        "seq": 0,
        "site_id": SITE,
        "comment_id": comment_id,
        "event": EventKind.VERDICT,
        "form": DeliveryForm.STANDARD_WEBHOOK,
        "url": "https://blog.example/hooks",
        "payload": "{}",
        "created_at": NOW,
    }
    return Delivery(**(values | changes))
