"""Rules on many comments in one act of a person, and takes such an act back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from service.domain.bulk_decision import BulkDecision, ChosenBy
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decided_comment import DecidedComment, DecidedPage
from service.domain.decision import Decision, Ruling
from service.domain.errors import ConflictError
from service.moderation.admin.acts import act_on_bulk_decision
from service.moderation.learning.remember import remember
from service.moderation.review.decide import refuse_note
from service.moderation.telling.announce import tell_of_decisions, write_ruling_messages
from service.ports.services import Services

# A bulk decision over more asks for a second key: what a moderator can count at a glance needs
# none.
BULK_DECISION_ASKS_BEYOND = 10
# Comments ruled on in one transaction: other writers wait for one portion, not for the whole act.
PORTION = 250
# Decisions of which what follows is done within the request, 0.1 s of it; upkeep does the others'.
_LEARNT_AT_ONCE = 250


def decide_together(
    ids: Sequence[CommentId],
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    what: ChosenBy,
    note: str | None = None,
    bulk_decision_id: str | None = None,
    site_ids: tuple[SiteId, ...] | None = None,
    open_only: bool = False,
) -> BulkDecision:
    """Rule on all of these comments and return the bulk decision as it stands then.

    Left out and counted are comments that are ruled so already (with `open_only`, ruled at all,
    even if that is while this bulk decision goes on), withdrawn or not kept, and those of other
    sites than `site_ids`, whose comments alone this person may decide. What sites want to be told
    is kept with the rulings, as `decide_comment` does. The same call with the same
    `bulk_decision_id` may be made again: what a crash left undone is done then, and nothing twice.
    A bulk decision that is taken back meanwhile goes no further. Raises `InvalidInputError` for a
    note that is too long, `ConflictError` if the id belongs to another bulk decision.
    """
    refuse_note(note)
    wanted = list(dict.fromkeys(ids))
    new = BulkDecision(
        id=bulk_decision_id or services.new_id("str"),
        what=what,
        ruling=ruling,
        decided_by=decided_by,
        decided_at=services.clock(),
        n_left_out=len(wanted),
    )
    bulk_decision = services.bulk_decisions.begin(new, act=act_on_bulk_decision)
    if (bulk_decision.what, bulk_decision.ruling, bulk_decision.decided_by) != (
        what,
        ruling,
        decided_by,
    ):
        raise ConflictError("this bulk decision was made before, in another way")
    changed_at_once: list[DecidedComment] = []
    for some in _portions(wanted):
        cases = [
            case
            for case in services.cases.find(some)
            if _is_open(case, bulk_decision)
            and (site_ids is None or case.comment.site_id in site_ids)
        ]
        changed = _decide_portion(cases, bulk_decision, services, note=note, open_only=open_only)
        changed_at_once += changed[: _LEARNT_AT_ONCE - len(changed_at_once)]
    remember(changed_at_once, services)
    return services.bulk_decisions.get(bulk_decision.id)


def undo_bulk_decision(
    bulk_decision_id: str, services: Services, *, undone_by: str
) -> BulkDecision:
    """Take back what of a bulk decision is still in force and return it as it stands then.

    What was ruled otherwise since, or undone, stays as it is; so do withdrawn comments. Sites that
    were not told yet are told nothing. May be made again after a crash. Raises `NotFoundError` for
    an unknown bulk decision.
    """
    now = services.clock()
    # First of all, so that whoever is still deciding it goes no further.
    bulk_decision = services.bulk_decisions.take_back(
        bulk_decision_id, by=undone_by, at=now, act=act_on_bulk_decision
    )
    changed_at_once: list[DecidedComment] = []
    for page in _pages(bulk_decision_id, services):
        cases = services.cases.find([one.comment.id for one in page.decided_comments])
        changed = _undo_portion(cases, bulk_decision, services, undone_by=undone_by)
        changed_at_once += changed[: _LEARNT_AT_ONCE - len(changed_at_once)]
    remember(changed_at_once, services)
    return services.bulk_decisions.get(bulk_decision_id)


def _decide_portion(
    open_ones: Sequence[Case],
    bulk_decision: BulkDecision,
    services: Services,
    *,
    note: str | None,
    open_only: bool,
) -> list[DecidedComment]:
    """Decide some comments in one transaction and return what changed."""
    if not open_ones:
        return []
    now = services.clock()
    cases = {case.comment.id: case for case in open_ones}
    decisions = [
        Decision(
            id=services.new_id("dec"),
            comment_id=comment_id,
            ruling=bulk_decision.ruling,
            decided_by=bulk_decision.decided_by,
            decided_at=now,
            note=note,
            bulk_decision_id=bulk_decision.id,
        )
        for comment_id in cases
    ]
    ruled = [replace(cases[one.comment_id], decisions=(one,)) for one in decisions]
    messages = write_ruling_messages(ruled, services, before=open_ones)
    changed = services.decisions.add_many(decisions, deliveries=messages, open_only=open_only)
    if messages:
        tell_of_decisions({one.comment_id: cases[one.comment_id] for one in changed}, services)
    return [DecidedComment(decision=one, comment=cases[one.comment_id].comment) for one in changed]


def _is_open(case: Case, bulk_decision: BulkDecision) -> bool:
    ruled_so = case.decision is not None and case.decision.ruling is bulk_decision.ruling
    return case.withdrawn_at is None and not ruled_so


def _pages(bulk_decision_id: str, services: Services) -> Iterator[DecidedPage]:
    """Yield a bulk decision's decisions in force, by and by."""
    after: int | None = 0
    while after is not None:
        page = services.decisions.find_of_bulk_decision(
            bulk_decision_id, after=after, limit=PORTION
        )
        after = page.next_after
        if page.decided_comments:
            yield page


def _undo_portion(
    cases: Sequence[Case], bulk_decision: BulkDecision, services: Services, *, undone_by: str
) -> list[DecidedComment]:
    """Undo part of a bulk decision in one transaction and return what changed."""
    known = {
        case.comment.id: case
        for case in cases
        if case.withdrawn_at is None
        and case.decision
        and case.decision.bulk_decision_id == bulk_decision.id
    }
    decisions = [case.decision for case in known.values() if case.decision]
    messages = write_ruling_messages(
        [replace(case, decisions=()) for case in known.values()], services, before=known.values()
    )
    undone = services.decisions.undo_many(
        decisions, by=undone_by, at=services.clock(), deliveries=messages
    )
    if messages:
        tell_of_decisions({one.comment_id: known[one.comment_id] for one in undone}, services)
    return [DecidedComment(decision=one, comment=known[one.comment_id].comment) for one in undone]


def _portions(ids: Sequence[CommentId]) -> Iterator[Sequence[CommentId]]:
    for start in range(0, len(ids), PORTION):
        yield ids[start : start + PORTION]
