"""One worked example of everything the API takes and answers, for its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from service.domain.case import Case, State
from service.domain.comment import Comment, CommentId, SiteId
from service.domain.decision import Action, Decision, Mode, Ruling
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    Endpoint,
    EventKind,
)
from service.domain.figures import AuditCount, DayCount, FigureCounts, WaitingNow
from service.domain.rules import Rule
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.statement import StatementLinks
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal
from service.moderation.insight.figures import last_days
from service.scoring.figures import figures_of
from service.web.api.answers import (
    BatchAnswer,
    BatchResult,
    CommentAnswer,
    CommentLinks,
    CommentPage,
    FormAnswer,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyList,
    PageLinks,
    RulesPreviewAnswer,
    SiteAnswer,
    WithdrawnAnswer,
)
from service.web.api.callback_answers import (
    CallbackAnswer,
    CallbackData,
    CallbackMessage,
    DeliveryAnswer,
    DeliveryList,
    DeliveryLogAnswer,
    SetCallbackAnswer,
)
from service.web.api.figures import FiguresAnswer
from service.web.edge.answers import Answer, FormTokenAnswer, LiveAnswer, ReadyAnswer
from service.web.edge.errors import KINDS, problem

_NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TEXT = "Great article! For cheap boilers see https://boilers.example today."
_COMMENT = CommentId("com_0197a3c5e1f27")


def _span_of(part: str) -> Span:
    start = TEXT.index(part)
    return Span(start=start, end=start + len(part))


_COMMENT_REQUEST: Mapping[str, object] = {
    "text": TEXT,
    "post": {
        "url": "https://blog.example/radiators",
        "title": "Bleeding a radiator without flooding the hall",
        "excerpt": "Turn the pump off first, then open the valve a quarter turn.",
    },
    "author": {
        "name": "Boiler Bob",
        "email": "bob@boilers.example",
        "url": "https://boilers.example",
        "account_id": "u-1731",
        "account_age_days": 0,
    },
    "address": "203.0.113.9",
    "user_agent": "Mozilla/5.0",
    "written_at": "2026-03-01T11:59:30Z",
    "language": "en",
    "site_comment_id": "wp-88121",
    "form": {"seconds_on_page": 41.5, "honeypot_filled": False},
}

_REQUESTS: Mapping[str, object] = {
    "CommentRequest": _COMMENT_REQUEST,
    "BatchRequest": {"comments": [_COMMENT_REQUEST, {"text": "Thank you, that worked."}]},
    "DecisionRequest": {"ruling": "reject", "note": "Sells boilers.", "decided_by": "jo"},
    "SettingsRequest": {"mode": "enforce", "spam_cutoff": 0.97, "languages": ["en", "pt-BR"]},
    "CallbackRequest": {"url": "https://blog.example/hook", "events": ["comment.judged"]},
    "Rules": {"hold_first_comment": True, "max_links": 2},
    "KeyRequest": {"rotate": True, "overlap_seconds": 604800},
}

_SETTINGS = SiteSettings(mode=Mode.ENFORCE, spam_cutoff=0.97, languages=("en", "pt-BR"))
_SITE = Site(
    id=SiteId("site_0197a3c5e0a11"), name="Radiator blog", created_at=_NOON, settings=_SETTINGS
)
_KEY = SiteKey(
    id="key_0197a3c5e0b22",
    site_id=_SITE.id,
    hint="slop_Xa3f",
    secret_sha256="",
    created_at=_NOON,
)
_LINK = Signal(
    name="front_page_link",
    strength=1.0,
    reason="contains a link",
    spans=(_span_of("https://boilers.example"),),
)
_VERDICT = Verdict(
    comment_id=_COMMENT,
    outcome=Outcome.UNSURE,
    p_spam=0.8808,
    score=2.0,
    base=-0.5,
    model_p_spam=0.8176,
    model_contribution=1.5,
    signals=(WeighedSignal(signal=_LINK, weight=1.0, contribution=1.0),),
    promo_spans=(_span_of("For cheap boilers see https://boilers.example today."),),
    model_version="2026-02-27",
    ham_cutoff=0.1,
    spam_cutoff=0.97,
    judged_at=_NOON + timedelta(milliseconds=80),
)
_DECISION = Decision(
    id="dec_0197a3c5e2c33",
    comment_id=_COMMENT,
    ruling=Ruling.REJECT,
    decided_by="site: jo",
    decided_at=_NOON + timedelta(minutes=5),
    note="Sells boilers.",
)
_ENDPOINT = Endpoint(
    site_id=_SITE.id,
    url="https://blog.example/hook",
    secrets=("whsec_AAEC…",),
    events=(EventKind.VERDICT,),
)
_DELIVERY = Delivery(
    id="msg_0197a3c5e3d44",
    seq=1,
    site_id=_SITE.id,
    comment_id=_COMMENT,
    event=EventKind.VERDICT,
    form=DeliveryForm.STANDARD_WEBHOOK,
    url=_ENDPOINT.url,
    payload="{}",
    created_at=_NOON,
    attempts=1,
    next_try_at=_NOON + timedelta(seconds=5),
)
_ATTEMPT = DeliveryAttempt(
    delivery_id=_DELIVERY.id,
    at=_NOON,
    milliseconds=41,
    status=503,
    problem="the site answered with an error",
)
_KEPT = Case(
    comment=Comment(
        id=_COMMENT, site_id=_SITE.id, text=TEXT, received_at=_NOON, site_comment_id="wp-88121"
    ),
    mode=Mode.ENFORCE,
    verdict=_VERDICT,
)
_STATEMENTS = StatementLinks(secret=b"of the examples")
_DECIDED = Case(comment=_KEPT.comment, mode=Mode.ENFORCE, verdict=_VERDICT, decisions=(_DECISION,))

_DAY = _NOON.date()
_COUNTS = FigureCounts(
    days=tuple(
        DayCount(day=_DAY, outcome=outcome, comments=n)
        for outcome, n in ((Outcome.HAM, 61), (Outcome.UNSURE, 7), (Outcome.SPAM, 118))
    ),
    waiting=WaitingNow(unsure=1, audited=1, oldest=_NOON - timedelta(hours=3)),
    audited=(AuditCount(outcome=Outcome.SPAM, ruling=Ruling.REJECT, comments=24),),
    waited=(5_400.0,),
)
_SCOPE = last_days((_SITE.id,), 1, _NOON)

_ANSWERS: Sequence[Answer] = (
    CommentAnswer.of(_KEPT, _STATEMENTS),
    CommentAnswer.of(_DECIDED, _STATEMENTS),
    CommentPage(
        comments=[CommentAnswer.of(_KEPT, _STATEMENTS)],
        next_cursor=None,
        links=PageLinks(next=None),
    ),
    WithdrawnAnswer(withdrawn=1),
    BatchAnswer(
        accepted=1,
        refused=1,
        results=[
            BatchResult(
                index=0,
                status=202,
                id=_COMMENT,
                site_comment_id="wp-88121",
                links=CommentLinks.to(_COMMENT),
                problem=None,
            ),
            BatchResult(
                index=1,
                status=422,
                id=None,
                site_comment_id=None,
                links=None,
                problem=problem(422, KINDS[422].meaning),
            ),
        ],
    ),
    SiteAnswer.from_value(_SITE),
    RulesPreviewAnswer(
        since=_NOON - timedelta(days=90),
        seen=812,
        held=14,
        approved=1,
        rejected=12,
        by_rule={Rule.FIRST_COMMENT: 11, Rule.MANY_LINKS: 5},
    ),
    FormAnswer(hook_id="hook_0197a3c5e4f66", script="/public/hook_0197a3c5e4f66/form.js"),
    FiguresAnswer.of(figures_of(_COUNTS, _SCOPE)),
    KeyAnswer.from_value(_KEY),
    KeyList(keys=[_KEY]),
    IssuedKeyAnswer(key=_KEY, secret="slop_Xa3f…"),  # noqa: S106  # opens nothing
    CallbackAnswer.of(_ENDPOINT),
    SetCallbackAnswer(callback=CallbackAnswer.of(_ENDPOINT), secret="whsec_AAEC…"),  # noqa: S106  # signs nothing
    DeliveryAnswer.from_value(_DELIVERY),
    DeliveryList(deliveries=[_DELIVERY]),
    DeliveryLogAnswer(delivery=_DELIVERY, log=[_ATTEMPT]),
    CallbackMessage(
        type=EventKind.DECISION,
        timestamp=_DECISION.decided_at,
        data=CallbackData(
            id=_COMMENT,
            site_comment_id="wp-88121",
            state=State.DECIDED,
            action=Action.REJECT,
            outcome=_VERDICT.outcome,
            p_spam=_VERDICT.p_spam,
            degraded=False,
            reasons=[_LINK.reason],
            needs_review=False,
            ruling=_DECISION.ruling,
            statement_url=_STATEMENTS.url_of(_DECIDED),
        ),
    ),
    FormTokenAnswer(
        parameters={
            "algorithm": "PBKDF2/SHA-256",
            "cost": 1_000,
            "keyLength": 32,
            "keyPrefix": "9c1f7a52e0b34d86a1c55e07f2d9b840",
            "nonce": "5d0c1be07f3a49f2a6c8d94b7e1f0a33",
            "salt": "e2b74a90c6d15f388b07aa41d3c9f6e5",
            "keySignature": "4be1…",
            "data": {"page": "0f3a9c77d1e2b4a5", "at": 1772366400000},
        },
        signature="b7d0…",
    ),
    LiveAnswer(status="alive"),
    ReadyAnswer(ready=True, parts={"database": "ok", "queue": "ok"}, remedies={}),
)


def _by_schema() -> Mapping[str, Sequence[object]]:
    examples: dict[str, list[object]] = {name: [example] for name, example in _REQUESTS.items()}
    for answer in _ANSWERS:
        examples.setdefault(type(answer).__name__, []).append(answer.model_dump(mode="json"))
    return examples


EXAMPLES = _by_schema()
"""By the name of the schema."""
