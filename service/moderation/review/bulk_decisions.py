"""Rules on many comments in one act, takes over imported rulings, and finds what can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, DecidedComment, Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.moderation.admin.acts import act_on_bulk_decision, acts_on_comments
from service.moderation.learning.remember import remember
from service.moderation.review.decide import refuse_note
from service.moderation.telling.announce import record_rulings, undo_rulings
from service.ports.audit import AuditEntry, AuditFilter
from service.ports.services import Services

# A bulk decision over more asks for a second key: what a moderator can count at a glance needs
# none.
BULK_DECISION_ASKS_BEYOND = 10
# Comments ruled on in one transaction: other writers wait for one portion, not for the whole act.
PORTION = 250
# Decisions of which what follows is done within the request, 0.1 s of it; upkeep does the others'.
_LEARNT_AT_ONCE = 250
# Whoever presses a key to undo means something of this shift.
_LOOKS_BACK = timedelta(hours=12)
# Between two decisions of a shift there are hardly so many other acts.
_MOST_ACTS = 50
_RULED = frozenset(ruling.value for ruling in Ruling)
_RULED_TOGETHER = frozenset(f"{ruling.value} together" for ruling in Ruling)


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
    for start in range(0, len(wanted), PORTION):
        cases = [
            case
            for case in services.cases.find(wanted[start : start + PORTION])
            if case.withdrawn_at is None
            and not (case.decision and case.decision.ruling is ruling)
            and (site_ids is None or case.comment.site_id in site_ids)
        ]
        changed = record_rulings(
            cases,
            ruling,
            services,
            decided_by=decided_by,
            note=note,
            bulk_decision_id=bulk_decision.id,
            open_only=open_only,
        )
        changed_at_once += changed[: _LEARNT_AT_ONCE - len(changed_at_once)]
    remember(changed_at_once, services)
    return services.bulk_decisions.get(bulk_decision.id)


def take_over_rulings(
    rulings: Mapping[CommentId, Ruling], services: Services, *, site_id: SiteId, decided_by: str
) -> int:
    """Record what was decided elsewhere of at most 500 comments of a site; return of how many.

    Left out are comments that anybody has ruled on here, withdrawn ones, and those that are not
    kept or belong to another site. Each is logged, told and learnt as by `decide_comment`, one
    transaction for each of the two rulings. Safe to do again. Raises `StoreUnavailableError`.
    """
    open_ones = [
        case
        for case in services.cases.find(list(rulings))
        if case.decision is None and case.withdrawn_at is None and case.comment.site_id == site_id
    ]
    recorded = 0
    for ruling in Ruling:
        # Who decides one meanwhile is not overruled.
        made = record_rulings(
            [case for case in open_ones if rulings[case.comment.id] is ruling],
            ruling,
            services,
            decided_by=decided_by,
            acts=acts_on_comments,
            open_only=True,
            at_once=True,
        )
        remember(made, services)
        recorded += len(made)
    return recorded


def undo_bulk_decision(
    bulk_decision_id: str, services: Services, *, undone_by: str
) -> BulkDecision:
    """Take back what of a bulk decision is still in force and return it as it stands then.

    What was ruled otherwise since, or undone, stays as it is; so do withdrawn comments. Sites that
    were not told yet are told nothing. May be made again after a crash. Raises `NotFoundError` for
    an unknown bulk decision.
    """
    # First of all, so that whoever is still deciding it goes no further.
    services.bulk_decisions.take_back(
        bulk_decision_id, by=undone_by, at=services.clock(), act=act_on_bulk_decision
    )
    changed_at_once: list[DecidedComment] = []
    after: int | None = 0
    while after is not None:
        page = services.decisions.find_of_bulk_decision(
            bulk_decision_id, after=after, limit=PORTION
        )
        after = page.next_after
        cases = [
            case
            for case in services.cases.find([one.comment.id for one in page.decided_comments])
            if case.withdrawn_at is None
            and case.decision
            and case.decision.bulk_decision_id == bulk_decision_id
        ]
        changed = undo_rulings(cases, services, by=undone_by)
        changed_at_once += changed[: _LEARNT_AT_ONCE - len(changed_at_once)]
    remember(changed_at_once, services)
    return services.bulk_decisions.get(bulk_decision_id)


def find_last_act(name: str, services: Services) -> Case | BulkDecision | None:
    """Return the newest case or bulk decision that this person decided and that still stands.

    None if there is none among their last acts of twelve hours.
    """
    criteria = AuditFilter(actor=name, since=services.clock() - _LOOKS_BACK)
    page = services.audit_log.page(criteria, after=None, limit=_MOST_ACTS)
    ruled = [CommentId(one.subject) for one in page.entries if one.act in _RULED]
    cases = {case.comment.id: case for case in services.cases.find(ruled)}
    for entry in page.entries:
        found = _in_force(entry, cases.get(CommentId(entry.subject)), services)
        if found is not None:
            return found
    return None


def _in_force(
    entry: AuditEntry, case: Case | None, services: Services
) -> Case | BulkDecision | None:
    if entry.act in _RULED:
        decision = case.decision if case and case.withdrawn_at is None else None
        return case if decision and decision.decided_by == entry.actor else None
    if entry.act not in _RULED_TOGETHER:
        return None
    try:
        bulk_decision = services.bulk_decisions.get(entry.subject)
    except NotFoundError:
        return None
    return bulk_decision if bulk_decision.undone_at is None and bulk_decision.n_in_force else None
