"""Makes values for tests; a test states only what it is about."""

import itertools
from datetime import UTC, datetime

from models.inputs import ModelOutput
from service.campaigns.traits import Traits
from service.domain.comment import (
    Author,
    Comment,
    CommentId,
    FormEvidence,
    Label,
    Lane,
    Listing,
    ListKind,
    Post,
    Report,
    Sender,
    SiteId,
)
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryForm, Endpoint, EventKind
from service.domain.form import FormBehaviour, FormToken
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal
from service.ports.audit import AuditEntry
from service.ports.comments import Added, NewComment
from service.scoring.conclude import conclude
from service.scoring.weights import Cutoffs, Weights

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SITE = SiteId("site-1")
OTHER_SITE = SiteId("site-2")
MARK = "Quastenflosser"
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


def make_full_comment(**changes) -> Comment:
    """Return a comment with all that one may have; `MARK` is in all words that are its sender's."""
    values = {
        "text": f"My {MARK} likes it. Danke! \U0001f389 \u05e9\u05dc\u05d5\u05dd",
        "author": Author(
            name=f"{MARK} junior",
            url=f"https://{MARK}.example/",
            account_id=f"account-{MARK}",
            account_age_days=3,
            trust_level=2,
        ),
        "sender": Sender(
            address_key=f"a-{MARK}",
            network_key=f"n-{MARK}",
            wide_network_key=f"w-{MARK}",
            system=64_500,
            email_key=f"e-{MARK}",
            email_domain=f"{MARK}.example",
            name_key=f"m-{MARK}",
            account_key=f"k-{MARK}",
            before_rotation=Sender(
                address_key=f"old-a-{MARK}",
                name_key=f"old-m-{MARK}",
                account_key=f"old-k-{MARK}",
            ),
            listings=(Listing(list_name=f"l-{MARK}", kind=ListKind.NETWORKS, age_days=2.5),),
        ),
        "form": FormEvidence(
            seconds_on_page=3.5,
            honeypot_filled=True,
            behaviour=FormBehaviour(seconds=31.5, keys=140, pastes=0, driven=True),
            token=FormToken.REPLAYED,
        ),
        "post": Post(
            url="https://blog.example/p/1", title="Bleeding a radiator", excerpt=f"{MARK} said"
        ),
        "user_agent": f"Mozilla/5.0 ({MARK})",
        "site_comment_id": "own-17",
        "written_at": NOW,
        "language": "de-AT",
        "reply_to": "own-16",
    }
    return make_comment(**(values | changes))


def make_signal(name: str = "shortened_link", **changes) -> Signal:
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


def conclude_on(*signals: Signal, output: ModelOutput | None = None, **changes) -> Verdict:
    """Return the verdict that the service would conclude from this evidence."""
    values = {"comment_id": CommentId("c1"), "model_version": "test-1", "judged_at": NOW}
    weighed = {"weights": Weights(), "cutoffs": Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)}
    return conclude(signals=signals, output=output, **(values | weighed | changes))


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


def put_endpoint(endpoints, endpoint: Endpoint) -> None:
    """Set a site's endpoint, whatever it was before."""
    endpoints.change(endpoint.site_id, lambda _: endpoint)


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


def make_attempt(delivery_id: str, **changes) -> DeliveryAttempt:
    values = {"at": NOW, "milliseconds": 1, "status": 204, "problem": None}
    return DeliveryAttempt(delivery_id=delivery_id, **(values | changes))


def make_entry(**changes) -> ListEntry:
    values = {
        "id": f"ent_{next(_numbers):06d}",
        "site_id": SITE,
        "effect": Effect.BLOCK,
        "kind": EntryKind.DOMAIN,
        "label": "pills.example",
        "keys": ("pills.example",),
        "reason": "Sells pills",
        "added_by": "Ola",
        "added_at": NOW,
    }
    return ListEntry(**(values | changes))


def make_traits(comment_id: CommentId, **changes) -> Traits:
    values = {
        "embedding": tuple([0.125] * 64),
        "space": "test-1",
        "targets": frozenset({"site:shop.example"}),
        "copies": ("copy:1", "copy:2"),
    }
    return Traits(comment_id=comment_id, **(values | changes))
