"""Records rulings on one comment or many, takes over imported ones, and undoes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, DecidedComment, Decision, Ruling
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError, Problem
from service.moderation.acts import act_on_bulk_decision, acts_on_comments
from service.moderation.announcing import (
    record_rulings,
    tell_of_decisions,
    undo_rulings,
    write_ruling_messages,
)
from service.moderation.remembering import remember
from service.ports.audit import AuditFilter
from service.ports.services import Services

# Read beside the comment it speaks of: a few sentences.
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
    """Record a ruling and return the case as it stands then.

    The same ruling again changes nothing, unless it answers an appeal; another one undoes the
    first. The site's message and the log's entry are kept in the ruling's transaction; the site is
    told when its undo time has passed, or `at_once`. What else follows is done at once or, if a
    store fails, soon (`remember`). With `decision_id` the decision gets that id, and the same call
    again changes nothing. Raises `NotFoundError` for a comment that is not kept or belongs to
    another site, `ConflictError` for a withdrawn one, and, with `instead_of`, if another decision
    than these is in force by the time it is recorded and rules otherwise.
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
    messages = write_ruling_messages(
        [replace(case, decisions=(decision,))], services, before=[case], at_once=at_once
    )
    try:
        replaced = services.decisions.add(
            decision, deliveries=messages, acts=acts_on_comments, instead_of=instead_of
        )
    except ConflictError:
        case = services.cases.get(comment_id)
        is_ruled_so = case.decision is not None and case.decision.ruling is ruling
        if _was_made(case, decision_id) or (case.withdrawn_at is None and is_ruled_so):
            # The same call came twice at once, or somebody ruled the same a moment earlier.
            return case
        raise
    changed = [replaced, decision] if replaced is not None else [decision]
    remember([DecidedComment(decision=one, comment=case.comment) for one in changed], services)
    if messages:
        tell_of_decisions([case], services, at_once=at_once)
    return services.cases.get(comment_id)


def undo_decision(
    comment_id: CommentId,
    services: Services,
    *,
    undone_by: str,
    decision_id: str | None = None,
    site_id: SiteId | None = None,
) -> Case:
    """Take a decision back and return the case as it stands then.

    `decision_id` names it; without it, it is the one in force now. One that was named and is undone
    already changes nothing. A site that was not told of it yet is told nothing. Raises
    `NotFoundError` if there is no such comment or no decision to undo, `ConflictError` for a
    withdrawn comment, or if another decision than the named one is in force.
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
    messages = write_ruling_messages(
        [replace(case, decisions=())], services, before=[case], at_once=True
    )
    try:
        undone = services.decisions.undo(
            comment_id,
            by=undone_by,
            at=services.clock(),
            deliveries=messages,
            acts=acts_on_comments,
            decision_id=current.id,
        )
    except NotFoundError:
        if decision_id is None:
            raise
        # Somebody undid it a moment earlier.
        return services.cases.get(comment_id)
    remember([DecidedComment(decision=undone, comment=case.comment)], services)
    if messages:
        tell_of_decisions([case], services)
    return services.cases.get(comment_id)


def undo_as_seen(
    comment_id: CommentId, services: Services, *, undone_by: str, seen_decision_id: str | None
) -> Case:
    """Take back the decision that was seen, and return the case as it stands then.

    A decision that is undone already changes nothing. Raises `ConflictError` if another one is in
    force by now, and what `undo_decision` raises.
    """
    case = services.cases.get(comment_id)
    _refuse_stale(case, (seen_decision_id,), ruling=None)
    if case.decision is None:
        return case
    return undo_decision(comment_id, services, undone_by=undone_by, decision_id=case.decision.id)


def refuse_note(note: str | None) -> None:
    """Raise `InvalidInputError` for a moderator's note of over 500 characters."""
    if note is not None and len(note) > MAX_NOTE_CHARS:
        problem = Problem("note", f"has {len(note):,} characters", f"give at most {MAX_NOTE_CHARS}")
        raise InvalidInputError([problem])


def _refuse_withdrawn(case: Case) -> None:
    # Nobody can see what they rule on, and no history can learn from it any more.
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

    Left out and counted are comments that are ruled so already (with `open_only`, ruled at all),
    withdrawn or not kept, and those of other sites than `site_ids`. Messages and log entries are
    kept with the rulings. The same call with the same `bulk_decision_id` completes what a crash
    left undone and does nothing twice. A bulk decision that is undone meanwhile stops. Raises
    `InvalidInputError` for a note that is too long, `ConflictError` if the id belongs to another
    bulk decision.
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

    Left out are comments that were ruled on here, withdrawn, not kept or of another site. Each is
    logged, told and learnt as by `decide_comment`, in one transaction a ruling. Safe to repeat.
    Raises `StoreUnavailableError`.
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

    What was ruled otherwise or undone since stays as it is; so do withdrawn comments. Sites that
    were not told yet are told nothing. May be repeated after a crash. Raises `NotFoundError`.
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
        if entry.act in _RULED:
            case = cases.get(CommentId(entry.subject))
            decision = case.decision if case and case.withdrawn_at is None else None
            if decision and decision.decided_by == name:
                return case
        elif entry.act in _RULED_TOGETHER:
            with suppress(NotFoundError):
                bulk_decision = services.bulk_decisions.get(entry.subject)
                if bulk_decision.undone_at is None and bulk_decision.n_in_force:
                    return bulk_decision
    return None
