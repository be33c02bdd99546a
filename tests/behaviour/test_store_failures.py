"""Whatever store fails in whatever call of a ruling: the same call again brings the same end.

These lean on earlier rulings, of people and of a campaign's policy; histories and queues fail too.
`contract/test_sql_faults.py` has every use case and each statement.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from service.domain.comment import Author, CommentId, Lane
from service.domain.decision import Mode, Ruling
from service.domain.errors import NotFoundError, StoreUnavailableError
from service.domain.sender import make_sender
from service.domain.site import SiteSettings
from service.moderation.intake.submit import submit_comments
from service.moderation.judging.group import GroupingMemory, group_fresh
from service.moderation.judging.judge import judge_batch
from service.moderation.learning.policy import REJECTED_BY_PEOPLE
from service.moderation.learning.remember import remember_open
from service.moderation.review.decide import decide_comment, undo_decision
from service.moderation.review.review import decide_as_seen
from service.moderation.telling.callbacks import set_callback
from service.moderation.telling.deliver import deliver, take_deliveries
from service.ports.comments import NewComment
from service.ports.services import Services
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClock, make_site
from tests.worlds import FailingAt, kept_world, services_in

WAITING, REJECTED, EARLY = CommentId("waiting"), CommentId("rejected"), CommentId("early")
CAMPAIGN = tuple(CommentId(f"campaign{n}") for n in range(REJECTED_BY_PEOPLE + 2))
READS = ("get", "find", "load", "gather", "members", "peoples_rulings", "all")
SECRET = b"a secret for tests, long enough"
SAYINGS = (
    "My radiator is quiet since I looked at {}",
    "Whoever lives in an old house knows this: {}",
    "For three winters I have bought only at {}",
    "The plumber shrugged, then he wrote down {}",
    "Not cheap, but they deliver on Sundays: {}",
    "Ask for Erwin and say that I sent you, {}",
    "What nobody tells you about valves stands at {}",
)


def new(comment_id: CommentId, text: str, **changes: Any) -> NewComment:
    sender = make_sender(address="192.0.2.7", email=f"{comment_id}@example.org", secret=SECRET)
    comment = make_comment(
        text, id=comment_id, site_comment_id=f"wp-{comment_id}", sender=sender, **changes
    )
    return NewComment(comment=comment, lane=Lane.BULK)


def prepare(services: Services) -> None:
    """Make a world in which every use case has something to do."""
    set_callback(SITE, "https://blog.example/hook", services, actor="owner")
    services.queue.judges = True
    links = [f"https://cheap-boilers.example/{n}" for n in range(len(CAMPAIGN))]
    texts = [said.format(link) for said, link in zip(SAYINGS, links, strict=True)]
    campaign = [
        new(one, text, author=Author(name=None)) for one, text in zip(CAMPAIGN, texts, strict=True)
    ]
    submit_comments(campaign[:REJECTED_BY_PEOPLE], services)
    memory = GroupingMemory("worker")
    group_fresh(services, memory, goes_on=lambda: True)
    for one in CAMPAIGN[:REJECTED_BY_PEOPLE]:
        decide_comment(one, Ruling.REJECT, services, decided_by="ada")
    # The policy rejects these two.
    submit_comments(campaign[REJECTED_BY_PEOPLE:], services)
    group_fresh(services, memory, goes_on=lambda: True)
    submit_comments([new(REJECTED, "Buy a watch.")], services)
    services.queue.judges = False
    decide_comment(REJECTED, Ruling.REJECT, services, decided_by="ada")
    submit_comments([new(WAITING, "Soon judged."), new(EARLY, "Decided first.")], services)
    decide_comment(EARLY, Ruling.APPROVE, services, decided_by="ada")
    settle(services)


def settle(services: Services) -> None:
    """Let everything happen that happens by itself."""
    remember_open(services)
    services.clock.advance(hours=1)
    while due := take_deliveries(services, limit=99):
        for one in due:
            deliver(one, services)


def undo_of_campaign(services: Services) -> None:
    decision = services.cases.get(CAMPAIGN[0]).decisions[0]
    undo_decision(CAMPAIGN[0], services, undone_by="bea", decision_id=decision.id)


def undo_unnamed(services: Services) -> None:
    try:
        undo_decision(REJECTED, services, undone_by="site")
    except NotFoundError:
        # What the first call did, as far as its caller can see.
        assert services.cases.get(REJECTED).decision is None


def decide(comment_id: CommentId, ruling: Ruling) -> Callable[[Services], Any]:
    def act(services: Services) -> None:
        seen = services.cases.get(comment_id).decision
        decide_as_seen(
            comment_id,
            ruling,
            services,
            decided_by="bea",
            seen_decision_id=seen.id if seen else None,
        )

    return act


USE_CASES: dict[str, Callable[[Services], Any]] = {
    "judge what was decided": lambda services: judge_batch([EARLY, WAITING], services),
    "decide before the verdict": decide(WAITING, Ruling.REJECT),
    "decide otherwise": decide(REJECTED, Ruling.APPROVE),
    "decide otherwise in a campaign": decide(CAMPAIGN[0], Ruling.APPROVE),
    "undo what a policy rests on": undo_of_campaign,
    "undo over the API": undo_unnamed,
}


def end_of(services: Services) -> dict[str, Any]:
    """Return what the world looks like in the end, without ids and moments that may differ."""
    settle(services)
    cases = services.cases.find([WAITING, REJECTED, EARLY, *CAMPAIGN])
    told: dict[str, list[Any]] = {}
    for delivery, _ in services.notifier.sent:
        message = json.loads(delivery.payload)
        # Without its sender's history a verdict is degraded and adds up to less: no fault.
        for key in ("degraded", "p_spam", "reasons"):
            message["data"].pop(key, None)
        told.setdefault(delivery.comment_id, []).append((message["type"], message["data"]))
    undelivered = services.deliveries.recent(state=None, site_id=SITE, limit=999)
    return {
        "cases": {
            case.comment.id: (
                case.state,
                case.action,
                case.needs_review,
                [(d.ruling, d.decided_by, d.undone_by) for d in case.decisions],
                case.verdict and case.verdict.outcome,
            )
            for case in cases
        },
        "acts": [
            (one.actor, one.act, "" if one.subject.startswith("camp_") else one.subject, one.detail)
            for one in reversed(services.audit_log.recent(limit=999))
        ],
        "told": told,
        "to be told": [one.id for one in undelivered if one.ended_at is None],
        "open": [one.decision.id for one in services.decisions.find_unremembered(limit=99)],
        "learnt": [
            (one.address.everywhere.rejected, one.address.everywhere.approved)
            for one in services.history.gather(
                [new(CommentId("probe"), "Probe.").comment], now=services.clock()
            )
        ],
    }


@functools.cache
def _world() -> bytes:
    site = make_site(settings=SiteSettings(mode=Mode.ENFORCE, rejects_campaigns=True))
    return kept_world(prepare, sites=[site], judges=False)


def run(name: str, at: int = 0, *, answer_lost: bool = False) -> tuple[list[str], dict[str, Any]]:
    """Return the calls that a use case makes, and the end if call `at` fails and it is repeated."""
    numbers = itertools.count(10_000)
    with services_in(
        world=_world(),
        judges=False,
        clock=FixedClock(NOW + timedelta(days=1)),
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    ) as services:
        failing = FailingAt(services, at, answer_lost=answer_lost)
        try:
            USE_CASES[name](failing.services)
        except StoreUnavailableError:
            USE_CASES[name](services)
        return failing.calls, end_of(services)


@pytest.mark.parametrize("name", USE_CASES)
def test_a_call_that_failed_at_any_store_is_made_good_by_making_it_again(name):
    calls, undisturbed = run(name)

    for at, method in enumerate(calls, 1):
        # To lose the answer of one that only reads is to fail before it.
        for answer_lost in (False,) if method.startswith(READS) else (False, True):
            _, end = run(name, at, answer_lost=answer_lost)

            differs = {key: value for key, value in end.items() if value != undisturbed[key]}
            assert not differs, (
                f"call {at}, {method}, answer lost: {answer_lost}",
                {key: undisturbed[key] for key in differs},
            )
