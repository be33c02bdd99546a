"""Makes values for tests; a test states only what it is about."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

from service.domain.comment import Author, Comment, CommentId, Lane, Post, Sender, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal
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
