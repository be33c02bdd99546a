"""Counts decisions in the histories, at once or as soon as possible, and rebuilds lost histories.

A decision is written down as unremembered in its own transaction and struck off once all has
followed; `remember_open` repeats whatever failed in between. Everything may happen twice: a
decision is counted once. A rebuild keeps its place beside the histories, on the same server, so
that both are lost together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from service.domain.campaign import CAMPAIGN_POLICY, PeoplesRulings, is_by_person
from service.domain.case import Case
from service.domain.comment import Comment, Sender
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.errors import HistoryBlankError, StoreUnavailableError
from service.domain.sender import History
from service.moderation.acts import counting_act
from service.moderation.announcing import undo_rulings
from service.ports.audit import AuditEntry
from service.ports.services import Services
from service.scoring.lean import recorded_lean

log = logging.getLogger(__name__)

# A decision takes 0.3 to 0.5 ms to be learnt: a run keeps a worker from judging for a quarter of a
# second at most.
_MOST_AT_ONCE = 500
# Members that people must have rejected before a site's policy goes on in their stead. A choice, no
# measurement: more than one slip of the hand, few enough for a campaign to be met while it runs.
REJECTED_BY_PEOPLE = 5
# Undone in one transaction: on SQLite nobody else writes meanwhile.
_PORTION = 250
# Of the log's entries of erasing persons and forgetting senders.
_ERASED = ("person", "sender")
# Between reading comments and telling histories of them passes less; so do clocks differ.
_LATELY = timedelta(minutes=15)


def remember(decided_comments: Sequence[DecidedComment], services: Services) -> None:
    """Do what follows from decisions as they stand; if a store is away, that is done later."""
    try:
        _recheck_policies(decided_comments, services)
        told = [one.decision for one in decided_comments if apply_to_reputation(one, services)]
        forget_erased([one.comment for one in decided_comments], services)
        services.decisions.mark_remembered(told)
    except StoreUnavailableError:
        log.warning(
            "not all that follows from a decision was done yet",
            extra={"ids": ",".join(one.decision.id for one in decided_comments)},
        )


def remember_open(services: Services) -> int:
    """Do what did not follow from decisions yet, the oldest first; return of how many, at most 500.

    Ends where the store fails, with what was told before struck off. Safe to run at any time, twice
    too. Raises `StoreUnavailableError`.
    """
    waiting = services.decisions.find_unremembered(limit=_MOST_AT_ONCE)
    _recheck_policies(waiting, services)
    told: list[Decision] = []
    try:
        for one in waiting:
            if apply_to_reputation(one, services):
                told.append(one.decision)  # noqa: PERF401  # kept if the store fails half-way
    finally:
        if told:
            forget_erased([one.comment for one in waiting], services)
            services.decisions.mark_remembered(told)
            log.info("histories were told what they missed", extra={"decisions": len(told)})
    return len(told)


def _recheck_policies(decided_comments: Sequence[DecidedComment], services: Services) -> None:
    """Look again at what policies rejected because people rejected what they now took back."""
    taken_back = [
        one.comment.id
        for one in decided_comments
        if one.decision.undone_at is not None
        and one.decision.ruling is Ruling.REJECT
        and is_by_person(one.decision)
    ]
    found = {case.campaign_id for case in services.cases.find(taken_back)} if taken_back else set()
    for campaign_id in sorted(one for one in found if one is not None):
        if not may_reject(services.campaigns.peoples_rulings(campaign_id)):
            _take_back(campaign_id, services)


def apply_to_reputation(decided_comment: DecidedComment, services: Services) -> bool:
    """Learn a decision, or take it back if it was undone; return whether histories know it now.

    An unexpected error is logged and leaves the decision open. What a policy decided is not learnt.
    Raises `StoreUnavailableError`.
    """
    decision = decided_comment.decision
    if not is_by_person(decision):
        return True
    act = services.history.learn if decision.undone_at is None else services.history.unlearn
    try:
        act(decision.id, decided_comment.comment, decision.ruling, at=decision.decided_at)
    except StoreUnavailableError:
        raise
    except Exception:  # whatever one comment provokes, others go on
        log.exception("a decision cannot be learnt", extra={"id": decision.id})
        return False
    return True


def forget_erased(comments: Sequence[Comment], services: Services) -> None:
    """Forget senders that were erased after `comments` were read and before histories were told.

    A withdrawal alone leaves histories as they are. Raises `StoreUnavailableError`.
    """
    since = services.clock() - _LATELY
    log_of = services.audit_log.recent
    if not any(act.at >= since for one in _ERASED for act in log_of(subject=one, limit=1)):
        return
    senders = {one.id: one.sender for one in comments if one.sender != Sender()}
    now = services.cases.find([*senders])
    for sender in {senders[one.comment.id] for one in now if one.comment.sender == Sender()}:
        services.history.forget(sender)


def may_reject(rulings: PeoplesRulings) -> bool:
    """Return True if people rejected enough of a campaign and approved none of it."""
    return not rulings.approved and rulings.rejected >= REJECTED_BY_PEOPLE


def _take_back(campaign_id: str, services: Services) -> None:
    """Undo what a policy rejected in a campaign, 250 in a transaction; safe to repeat."""
    act = counting_act(
        services,
        actor=CAMPAIGN_POLICY,
        act="undo",
        subject=campaign_id,
        detail="{} rejections taken back: people no longer reject enough of it",
    )

    def acts(undone: Sequence[Decision]) -> list[AuditEntry]:
        return [act(len(undone))]

    cursor = None
    while True:
        page = services.campaigns.members(
            campaign_id, site_ids=None, waiting_only=False, cursor=cursor, limit=_PORTION
        )
        rejected = [
            case
            for case in page.cases
            if case.withdrawn_at is None
            and case.decision
            and case.decision.decided_by == CAMPAIGN_POLICY
        ]
        if rejected:
            undone = undo_rulings(rejected, services, by=CAMPAIGN_POLICY, acts=acts)
            # Nobody learns from what a policy does.
            services.decisions.mark_remembered([one.decision for one in undone])
        cursor = page.next_cursor
        if cursor is None:
            return


# A decision takes 0.3 to 0.5 ms to be learnt, a portion about a tenth of a second.
_REBUILT_AT_ONCE = 250


def gather_whole(comments: Sequence[Comment], services: Services) -> list[History]:
    """Return the history of each comment, in order, in one round trip.

    Raises `HistoryBlankError` where histories were lost and are not filled again, and
    `StoreUnavailableError`. A new installation's are blank too, but no decision is missing.
    """
    now = services.clock()
    try:
        return services.history.gather(comments, now=now, only_filled=True)
    except HistoryBlankError:
        if services.decisions.find_in_force(after=0, limit=1).decided_comments:
            raise
    return services.history.gather(comments, now=now)


def rebuild_if_blank(services: Services, *, goes_on: Callable[[], bool]) -> bool:
    """Do a portion of a rebuild, and more while `goes_on`, if histories are blank.

    Return whether they were. Safe to run at any time and by several at once. Raises
    `StoreUnavailableError`.
    """
    if not services.history.is_blank():
        return False
    for _ in rebuild_portions(services):
        if not goes_on():
            break
    return True


def rebuild_all(services: Services, *, show: Callable[[int], None] = lambda _: None) -> int:
    """Learn every decision in force and return how many were read; `show` is told as it goes.

    It continues an interrupted rebuild, counts nothing twice, and loses nothing that is decided or
    undone meanwhile. Raises `StoreUnavailableError`.
    """
    done = 0
    for decisions in rebuild_portions(services):
        done += decisions
        show(done)
    return done


def rebuild_portions(services: Services) -> Iterator[int]:
    """Learn the decisions in force by portions, yield each one's number, mark histories filled.

    If another process was faster, or the server was wiped since the portion began, the next one
    continues from where the place then is. Raises `StoreUnavailableError`.
    """
    while True:
        after = services.rebuild_place.find()
        page = services.decisions.find_in_force(after=after, limit=_REBUILT_AT_ONCE)
        for decided_comment in page.decided_comments:
            apply_to_reputation(decided_comment, services)
        forget_erased([one.comment for one in page.decided_comments], services)
        if page.next_after is not None:
            services.rebuild_place.move(after, page.next_after)
        # Where the place is gone or moved, something was wiped or is under way: not all is filled.
        elif services.rebuild_place.clear(after):
            services.history.mark_filled()
            log.info("histories are filled")
            return
        yield len(page.decided_comments)


MOST_SHOWN = 3


def decisions_behind(case: Case, services: Services) -> tuple[Case, ...]:
    """Return up to `MOST_SHOWN` decided comments of the same site, the weightiest first.

    Their decisions are in force and were made before the verdict. None where decisions did not
    move the verdict, where the site forgot them, or while they cannot be read.
    """
    # Imported late: the API needs numpy, 10 MB, for this alone.
    from service.learning.features import count_features

    comment, verdict = case.comment, case.verdict
    lean = recorded_lean(verdict) if verdict else None
    if verdict is None or lean is None or not comment.text:
        return ()
    try:
        taught = services.taught()
    except StoreUnavailableError:
        return ()
    ids = taught.behind(
        comment.site_id,
        count_features(comment, None, taught.salt),
        by=lean.contribution,
        until=verdict.judged_at.toordinal(),
    )
    found = services.cases.find([one for one in ids if one != comment.id]) if ids else []
    in_force = [
        one
        for one in found
        if one.decision is not None
        and one.decision.decided_at <= verdict.judged_at
        and one.withdrawn_at is None
        and one.comment.text
    ]
    return tuple(in_force[:MOST_SHOWN])
