"""Records rulings on one comment or many, imports rulings, and undoes them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, DecidedComment, Decision, Ruling
from service.domain.errors import ConflictError, NotFoundError, invalid_input
from service.moderation.announcing import change_rulings, undo_rulings
from service.moderation.remembering import remember
from service.ports.audit import AuditFilter
from service.ports.services import Services

MAX_NOTE_CHARS = 500


def decide_comment(
    comment_id: CommentId,
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    site_id: SiteId | None = None,
    note: str | None = None,
    at_once: bool = False,
    instead_of: Collection[str] | None = None,
    decision_id: str | None = None,
) -> Case:
    """Record a ruling and return the resulting case.

    A repeat changes nothing, unless it decides an appeal; another ruling undoes the first. The
    site's message is sent after the undo time, or `at_once`. `decision_id` makes a repeated call
    idempotent. Raises `NotFoundError` if the comment is unknown or another site's, and
    `ConflictError` if it is withdrawn or, with `instead_of`, if another decision than these is in
    force and rules otherwise.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if _was_made(case, decision_id):
        return case
    if instead_of is not None:
        _refuse_stale(case, instead_of, ruling=ruling)
    _refuse_withdrawn(case)
    if case.decision is not None and case.decision.ruling is ruling and not case.is_appealed:
        return case
    decision = Decision(
        id=decision_id or services.new_id("dec"),
        comment_id=comment_id,
        ruling=ruling,
        decided_by=decided_by,
        decided_at=services.clock(),
        note=note,
    )
    add = partial(services.decisions.add, decision, instead_of=instead_of)
    try:
        changed = change_rulings([case], [decision], add, services, at_once=at_once)
    except ConflictError:
        case = services.cases.get(comment_id)
        is_ruled_so = case.decision is not None and case.decision.ruling is ruling
        if _was_made(case, decision_id) or (case.withdrawn_at is None and is_ruled_so):
            # A concurrent request recorded the same ruling.
            return case
        raise
    remember(changed, services)
    return services.cases.get(comment_id)


def undo_decision(
    comment_id: CommentId,
    services: Services,
    *,
    undone_by: str,
    decision_id: str | None = None,
    site_id: SiteId | None = None,
) -> Case:
    """Undo a decision, by default the one in force; return the resulting case.

    If the named one is undone already, nothing changes. An unsent message is withdrawn. Raises
    `NotFoundError`, and `ConflictError` for a withdrawn comment or while another decision is in
    force.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    _refuse_withdrawn(case)
    current = case.decision
    if current is None:
        if any(one.id == decision_id for one in case.decisions):
            return case
        raise NotFoundError("this comment has no decision to undo")
    if decision_id is not None:
        _refuse_stale(case, (decision_id,), ruling=None)
    undo = partial(
        services.decisions.undo,
        comment_id,
        by=undone_by,
        at=services.clock(),
        decision_id=current.id,
    )
    try:
        undone = change_rulings([case], [None], undo, services)
    except NotFoundError:
        if decision_id is None:
            raise
        # A concurrent request undid it.
        return services.cases.get(comment_id)
    remember(undone, services)
    return services.cases.get(comment_id)


def undo_as_seen(
    comment_id: CommentId, services: Services, *, undone_by: str, seen_decision_id: str | None
) -> Case:
    """Undo the decision that the person saw, if it is in force; return the resulting case.

    Raises `ConflictError` if another one is in force now, otherwise as `undo_decision`.
    """
    case = services.cases.get(comment_id)
    _refuse_stale(case, (seen_decision_id,), ruling=None)
    if case.decision is None:
        return case
    return undo_decision(comment_id, services, undone_by=undone_by, decision_id=case.decision.id)


def refuse_note(note: str | None) -> None:
    """Raise `InvalidInputError` for a moderator's note of over 500 characters."""
    if note is not None and len(note) > MAX_NOTE_CHARS:
        remedy = f"give at most {MAX_NOTE_CHARS}"
        raise invalid_input("note", f"has {len(note):,} characters", remedy)


def _refuse_withdrawn(case: Case) -> None:
    # Its text is deleted, so nobody can see it and no history can learn from it.
    if case.withdrawn_at is not None:
        msg = "The site has withdrawn this comment, so there is nothing left to decide."
        raise ConflictError(msg)


def _was_made(case: Case, decision_id: str | None) -> bool:
    return any(one.id == decision_id for one in case.decisions)


def _refuse_stale(case: Case, seen: Collection[str | None], *, ruling: Ruling | None) -> None:
    """Raise `ConflictError` if a decision is in force that was not seen and rules otherwise."""
    current = case.decision
    if current is None or current.id in seen or current.ruling is ruling:
        return
    msg = f"{current.decided_by} decided this comment in the meantime: {current.ruling}"
    raise ConflictError(msg)


# Bulk decisions on more comments need a confirmation; this many can be counted at a glance.
BULK_DECISION_ASKS_BEYOND = 10
# Comments per transaction: other writers wait for one portion, not for the whole act.
PORTION = 250
# Decisions that are learnt within the request, in about 0.1 s; upkeep learns the others.
_LEARNT_AT_ONCE = 250
# An undo is about an act of this shift.
_UNDO_WINDOW = timedelta(hours=12)
# More other acts between two decisions of a shift are unlikely.
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
    """Rule on all of these comments and return the resulting bulk decision.

    Comments are left out and counted if they are ruled so already (with `open_only`, ruled at all),
    withdrawn, unknown or not of `site_ids`. A repeated call with the same `bulk_decision_id`
    completes an interrupted one. A bulk decision that is undone meanwhile stops. Raises
    `InvalidInputError` for a long note, `ConflictError` if the id belongs to another bulk decision.
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
    bulk_decision = services.bulk_decisions.begin(new)
    known = (bulk_decision.what, bulk_decision.ruling, bulk_decision.decided_by)
    if known != (what, ruling, decided_by):
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
        changed = _decide_portion(
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
    """Record decisions made elsewhere on at most 500 comments of a site; return their number.

    Comments that were ruled on here, withdrawn, unknown or of another site are left out. Approvals
    are one transaction, rejections another. Safe to repeat. Raises `StoreUnavailableError`.
    """
    open_ones = [
        case
        for case in services.cases.find(list(rulings))
        if case.decision is None and case.withdrawn_at is None and case.comment.site_id == site_id
    ]
    recorded = 0
    for ruling in Ruling:
        # A concurrent decision is not overridden.
        made = _decide_portion(
            [case for case in open_ones if rulings[case.comment.id] is ruling],
            ruling,
            services,
            decided_by=decided_by,
            open_only=True,
        )
        remember(made, services)
        recorded += len(made)
    return recorded


def _decide_portion(
    cases: Sequence[Case],
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    open_only: bool,
    note: str | None = None,
    bulk_decision_id: str | None = None,
) -> list[DecidedComment]:
    """Decide in one transaction. Without `bulk_decision_id` each is logged, and sent at once."""
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
    add = partial(services.decisions.add_many, decisions, open_only=open_only)
    return change_rulings(cases, decisions, add, services, at_once=bulk_decision_id is None)


def undo_bulk_decision(
    bulk_decision_id: str, services: Services, *, undone_by: str
) -> BulkDecision:
    """Undo the decisions of a bulk decision that are still in force; return the result.

    Withdrawn comments stay unchanged. Safe to repeat. Raises `NotFoundError`.
    """
    # First, so that a request that is still deciding it stops.
    services.bulk_decisions.take_back(bulk_decision_id, by=undone_by, at=services.clock())
    changed_at_once: list[DecidedComment] = []
    after: int | None = 0
    while after is not None:
        page = services.decisions.find_of_bulk_decision(
            bulk_decision_id, after=after, limit=PORTION
        )
        after = page.next_cursor
        cases = [
            case
            for case in services.cases.find([one.comment.id for one in page.items])
            if case.withdrawn_at is None
            and case.decision
            and case.decision.bulk_decision_id == bulk_decision_id
        ]
        changed = undo_rulings(cases, services, by=undone_by)
        changed_at_once += changed[: _LEARNT_AT_ONCE - len(changed_at_once)]
    remember(changed_at_once, services)
    return services.bulk_decisions.get(bulk_decision_id)


def find_last_act(name: str, services: Services) -> Case | BulkDecision | None:
    """Return this person's newest act of the last twelve hours that is still in force."""
    criteria = AuditFilter(actor=name, since=services.clock() - _UNDO_WINDOW)
    page = services.audit_log.page(criteria, after=None, limit=_MOST_ACTS)
    ruled = [CommentId(one.subject) for one in page.items if one.act in _RULED]
    cases = {case.comment.id: case for case in services.cases.find(ruled)}
    for entry in page.items:
        if entry.act in _RULED:
            case = cases.get(CommentId(entry.subject))
            decision = case.decision if case and case.withdrawn_at is None else None
            if decision and decision.decided_by == name:
                return case
        elif entry.act in _RULED_TOGETHER:
            bulk_decision = services.bulk_decisions.get(entry.subject)
            if bulk_decision.undone_at is None and bulk_decision.n_in_force:
                return bulk_decision
    return None
