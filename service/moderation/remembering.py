"""Counts decisions in the histories, at once or as soon as possible, and rebuilds histories.

A decision is marked as remembered after all follow-ups; `remember_open` repeats failed ones. All
may run twice. A rebuild's place is stored on the histories' server, to be lost together.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from service.domain.campaign import CAMPAIGN_POLICY, is_by_person
from service.domain.case import Case
from service.domain.comment import Comment, Sender
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.errors import HistoryBlankError, StoreUnavailableError
from service.domain.sender import History
from service.moderation.acts import counting_act
from service.moderation.announcing import undo_rulings
from service.ports.services import Services
from service.scoring.residual import recorded_residual

log = logging.getLogger(__name__)

# A decision takes 0.3 to 0.5 ms to learn, these a quarter of a second at most.
_MOST_AT_ONCE = 500
# Chosen, not measured: more than one mistake, and few enough to stop a campaign while it runs.
REJECTED_BY_PEOPLE = 5
# Undone in one transaction, or learnt in about a tenth of a second.
_PORTION = 250
# The audit log's kinds of erased persons and forgotten senders.
_ERASED = ("person", "sender")
# More than the time between reading comments and updating histories, and the clocks' difference.
_LATELY = timedelta(minutes=15)


def remember(decided_comments: Sequence[DecidedComment], services: Services) -> None:
    """Do the follow-ups of decisions; if a store is unavailable, they are done later."""
    try:
        _follow_up(decided_comments, services)
    except StoreUnavailableError:
        log.warning(
            "not all that follows from a decision was done yet",
            extra={"ids": ",".join(one.decision.id for one in decided_comments)},
        )


def remember_open(services: Services) -> int:
    """Do up to 500 missing follow-ups of decisions. Raises `StoreUnavailableError`."""
    told = _follow_up(services.decisions.find_unremembered(limit=_MOST_AT_ONCE), services)
    if told:
        log.info("histories were told what they missed", extra={"decisions": told})
    return told


def _follow_up(decided_comments: Sequence[DecidedComment], services: Services) -> int:
    """Do the follow-ups and mark those that are done, even if a store fails half-way."""
    _recheck_policies(decided_comments, services)
    told: list[Decision] = []
    try:
        for one in decided_comments:
            if apply_to_reputation(one, services):
                told.append(one.decision)  # noqa: PERF401  # kept if the store fails half-way
    finally:
        if told:
            forget_erased([one.comment for one in decided_comments], services)
            services.decisions.mark_remembered(told)
    return len(told)


def _recheck_policies(decided_comments: Sequence[DecidedComment], services: Services) -> None:
    """Recheck policies' rejections in campaigns whose rejections by people were undone."""
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
            _undo_policy(campaign_id, services)


def apply_to_reputation(decided_comment: DecidedComment, services: Services) -> bool:
    """Learn a decision, or unlearn it if it was undone; return True if the histories have it.

    Unexpected errors are logged. A policy's decisions are not learnt. Raises
    `StoreUnavailableError`.
    """
    decision = decided_comment.decision
    if not is_by_person(decision):
        return True
    act = services.history.learn if decision.undone_at is None else services.history.unlearn
    try:
        act(decision.id, decided_comment.comment, decision.ruling, at=decision.decided_at)
    except StoreUnavailableError:
        raise
    except Exception:  # an error of one comment must not stop the others
        log.exception("a decision cannot be learnt", extra={"id": decision.id})
        return False
    return True


def forget_erased(comments: Sequence[Comment], services: Services) -> None:
    """Forget senders that were erased after `comments` were read and before they were counted.

    A withdrawal alone does not change histories. Raises `StoreUnavailableError`.
    """
    since = services.clock() - _LATELY
    log_of = services.audit_log.recent
    if not any(act.at >= since for one in _ERASED for act in log_of(subject=one, limit=1)):
        return
    senders = {one.id: one.sender for one in comments if one.sender != Sender()}
    now = services.cases.find([*senders])
    for sender in {senders[one.comment.id] for one in now if one.comment.sender == Sender()}:
        services.history.forget(sender)


def may_reject(rulings: Counter[Ruling]) -> bool:
    """Return True if people rejected enough of a campaign and approved none of it."""
    return not rulings[Ruling.APPROVE] and rulings[Ruling.REJECT] >= REJECTED_BY_PEOPLE


def _undo_policy(campaign_id: str, services: Services) -> None:
    """Undo a policy's rejections in a campaign, 250 in a transaction; safe to repeat."""
    detail = "{} rejections taken back: people no longer reject enough of it"
    by, subject = CAMPAIGN_POLICY, campaign_id
    act = counting_act(services, actor=by, act="undo", subject=subject, detail=detail)
    cursor = None
    while True:
        page = services.campaigns.members(
            campaign_id, site_ids=None, waiting_only=False, cursor=cursor, limit=_PORTION
        )
        rejected = [
            case
            for case in page.items
            if case.withdrawn_at is None
            and case.decision
            and case.decision.decided_by == CAMPAIGN_POLICY
        ]
        if rejected:
            undone = undo_rulings(rejected, services, by=by, act=act)
            # A policy's decisions are never learnt.
            services.decisions.mark_remembered([one.decision for one in undone])
        cursor = page.next_cursor
        if cursor is None:
            return


def gather_whole(comments: Sequence[Comment], services: Services) -> list[History]:
    """Return each comment's history, in order, in one round trip.

    Raises `HistoryBlankError` if a decision may be missing, and `StoreUnavailableError`.
    """
    now = services.clock()
    try:
        return services.history.gather(comments, now=now, only_filled=True)
    except HistoryBlankError:
        if services.decisions.find_in_force(after=0, limit=1).items:
            raise
    return services.history.gather(comments, now=now)


def rebuild_if_blank(services: Services, *, should_continue: Callable[[], bool]) -> bool:
    """Rebuild a portion if histories are blank, more while `should_continue`; return True if so.

    Several processes may do so at once. Raises `StoreUnavailableError`.
    """
    if not services.history.is_blank():
        return False
    for _ in rebuild_portions(services):
        if not should_continue():
            break
    return True


def rebuild_all(services: Services, *, show: Callable[[int], None] = lambda _: None) -> int:
    """Learn every decision in force and return how many were read; `show` gets the progress.

    Interrupted rebuilds are continued; nothing counts twice. Raises `StoreUnavailableError`.
    """
    done = 0
    for decisions in rebuild_portions(services):
        done += decisions
        show(done)
    return done


def rebuild_portions(services: Services) -> Iterator[int]:
    """Learn the decisions in force in portions, yield each one's number, mark histories filled.

    Each continues from the stored place. Raises `StoreUnavailableError`.
    """
    while True:
        after = services.rebuild_place.find()
        page = services.decisions.find_in_force(after=after, limit=_PORTION)
        for decided_comment in page.items:
            apply_to_reputation(decided_comment, services)
        forget_erased([one.comment for one in page.items], services)
        # If the place is missing or moved, histories were wiped or another rebuild runs.
        has_moved = services.rebuild_place.move(after, page.next_cursor)
        if has_moved and page.next_cursor is None:
            services.history.mark_filled()
            log.info("histories are filled")
            return
        yield len(page.items)


MOST_SHOWN = 3


def decisions_behind(case: Case, services: Services) -> tuple[Case, ...]:
    """Return up to `MOST_SHOWN` comments whose decisions changed the verdict most.

    They are of the same site, and in force. Returns none while they cannot be read.
    """
    # Imported late: only this needs numpy in the API, 10 MB.
    from service.learning.features import count_features

    comment, verdict = case.comment, case.verdict
    residual = recorded_residual(verdict) if verdict else None
    if verdict is None or residual is None or not comment.text:
        return ()
    try:
        learned = services.learned()
    except StoreUnavailableError:
        return ()
    ids = learned.behind(
        comment.site_id,
        count_features(comment, None, learned.salt),
        by=residual.contribution,
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
