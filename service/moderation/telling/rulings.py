"""Records rulings on many comments, and their undoing, with what their sites are told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.case import Case
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.delivery import Delivery
from service.moderation.telling.announce import tell_of_decisions, write_ruling_messages
from service.ports.audit import Acts
from service.ports.services import Services


def record_rulings(
    cases: Sequence[Case],
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    note: str | None = None,
    bulk_decision_id: str | None = None,
    acts: Acts | None = None,
    open_only: bool = False,
    at_once: bool = False,
) -> list[DecidedComment]:
    """Rule on these comments in one transaction and return what changed, as `add_many` does.

    With `at_once` it is their site itself that rules, whose undo time nobody waits for.
    """
    now = services.clock()
    decisions = [
        Decision(
            id=services.new_id("dec"),
            comment_id=case.comment.id,
            ruling=ruling,
            decided_by=decided_by,
            decided_at=now,
            note=note,
            bulk_decision_id=bulk_decision_id,
        )
        for case in cases
    ]
    ruled = [replace(case, decisions=(one,)) for case, one in zip(cases, decisions, strict=True)]
    messages = write_ruling_messages(ruled, services, before=cases, at_once=at_once)
    changed = services.decisions.add_many(
        decisions, deliveries=messages, acts=acts, open_only=open_only
    )
    return _tell(cases, changed, messages, services, at_once=at_once)


def undo_rulings(
    cases: Sequence[Case], services: Services, *, by: str, acts: Acts | None = None
) -> list[DecidedComment]:
    """Undo the decisions on these comments in one transaction and return those that were undone."""
    undone = [replace(case, decisions=()) for case in cases]
    messages = write_ruling_messages(undone, services, before=cases, at_once=True)
    changed = services.decisions.undo_many(
        [case.decision for case in cases if case.decision],
        by=by,
        at=services.clock(),
        deliveries=messages,
        acts=acts,
    )
    return _tell(cases, changed, messages, services, at_once=False)


def _tell(
    cases: Sequence[Case],
    changed: Sequence[Decision],
    messages: Sequence[Delivery],
    services: Services,
    *,
    at_once: bool,
) -> list[DecidedComment]:
    """Have the messages of what changed delivered; return that with its comments."""
    seen = {case.comment.id: case for case in cases}
    if messages:
        ids = dict.fromkeys(one.comment_id for one in changed)
        tell_of_decisions([seen[one] for one in ids], services, at_once=at_once)
    return [DecidedComment(decision=one, comment=seen[one.comment_id].comment) for one in changed]
