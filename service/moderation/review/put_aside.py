"""Puts a waiting comment aside, for later or for somebody, and takes it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.domain.aside import Aside, AsideKind
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.errors import ConflictError, InvalidInputError, Problem
from service.domain.user import Permission, Role, User
from service.moderation.review.decide import refuse_note
from service.ports.audit import AuditEntry
from service.ports.services import AccountsPorts, CommonPorts, ReviewPorts, Services

MAX_SNOOZE = timedelta(days=30)
# Whoever was asked may be away: after a week it is everybody's again.
HELD_FOR = timedelta(days=7)
MOST_HELD = 500
_ACTS = {
    AsideKind.SNOOZED: "snooze",
    AsideKind.HANDED_OVER: "hand over",
    AsideKind.ESCALATED: "escalate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A waiting comment that was put aside for somebody, and how."""

    case: Case
    aside: Aside


def snooze(
    comment_id: CommentId,
    until: datetime,
    review: ReviewPorts,
    common: CommonPorts,
    *,
    by: User,
    note: str | None = None,
) -> Aside:
    """Take a comment out of its line until then; it comes back by itself.

    Raises `InvalidInputError` for a moment that has passed or lies more than `MAX_SNOOZE` ahead, or
    for a note that is too long; `ConflictError` for a comment that does not wait.
    """
    now = common.clock()
    if not now < until <= now + MAX_SNOOZE:
        problem = Problem(
            field="until",
            problem="has passed, or is too far off",
            remedy=f"choose a time within {MAX_SNOOZE.days} days",
        )
        raise InvalidInputError([problem])
    return _put(comment_id, AsideKind.SNOOZED, until, review, common, by=by, note=note)


def hand_over(
    comment_id: CommentId, to: str, services: Services, *, by: User, note: str | None = None
) -> Aside:
    """Leave a comment to the moderator of this name, for a week at most.

    Raises `InvalidInputError` if there is none who may decide it, or for a note that is too long;
    `ConflictError` for a comment that does not wait.
    """
    site_id = services.review.cases.get(comment_id).comment.site_id
    user = next((one for one in colleagues(services.accounts, by=by) if one.name == to), None)
    if user is None or not user.may(Permission.DECIDE, site_id):
        problem = Problem(
            field="to",
            problem="is nobody who may decide this comment",
            remedy="choose a moderator of its site",
        )
        raise InvalidInputError([problem])
    until = services.common.clock() + HELD_FOR
    return _put(
        comment_id,
        AsideKind.HANDED_OVER,
        until,
        services.review,
        services.common,
        by=by,
        note=note,
        user_id=user.id,
    )


def escalate(
    comment_id: CommentId, services: Services, *, by: User, note: str | None = None
) -> Aside:
    """Leave a comment to the owners, for a week at most.

    Raises `InvalidInputError` if no other owner sees its site, or for a note that is too long;
    `ConflictError` for a comment that does not wait.
    """
    site_id = services.review.cases.get(comment_id).comment.site_id
    if not any(
        one.role is Role.OWNER and one.sees(site_id) for one in colleagues(services.accounts, by=by)
    ):
        problem = Problem(
            field="to", problem="is no other owner", remedy="hand it over to a moderator"
        )
        raise InvalidInputError([problem])
    until = services.common.clock() + HELD_FOR
    return _put(
        comment_id, AsideKind.ESCALATED, until, services.review, services.common, by=by, note=note
    )


def take_back(comment_id: CommentId, review: ReviewPorts, common: CommonPorts, *, by: User) -> Case:
    """Put a comment back into its line, whoever put it aside; return its case.

    One that is in its line already is left there.
    """
    act = AuditEntry(at=common.clock(), actor=by.name, act="take back aside", subject=comment_id)
    review.asides.end(comment_id, act=act)
    return review.cases.get(comment_id)


def list_held_for(
    user: User, review: ReviewPorts, common: CommonPorts, *, asides: Sequence[Aside] | None = None
) -> list[Held]:
    """Return what waits for this person: handed over to them, or escalated if they are an owner.

    `asides` are those that hold now, where they are known already.
    """
    if asides is None:
        asides = review.asides.held(now=common.clock(), limit=MOST_HELD)
    held = {
        one.comment_id: one
        for one in asides
        if one.user_id == user.id
        or (one.kind is AsideKind.ESCALATED and user.role is Role.OWNER and one.by != user.name)
    }
    cases = review.cases.find(list(held)) if held else []
    return [
        Held(case=case, aside=held[case.comment.id])
        for case in cases
        if case.needs_review and user.sees(case.comment.site_id)
    ]


def colleagues(accounts: AccountsPorts, *, by: User) -> list[User]:
    """Return the accounts in use but one's own, by name."""
    return [one for one in accounts.users.all() if one.id != by.id and one.ended_at is None]


def _put(
    comment_id: CommentId,
    kind: AsideKind,
    until: datetime,
    review: ReviewPorts,
    common: CommonPorts,
    *,
    by: User,
    note: str | None,
    user_id: str | None = None,
) -> Aside:
    refuse_note(note)
    case = review.cases.get(comment_id)
    if not case.needs_review:
        msg = "this comment does not wait for a moderator any more"
        raise ConflictError(msg)
    aside = Aside(
        comment_id=comment_id,
        kind=kind,
        by=by.name,
        at=common.clock(),
        until=until,
        user_id=user_id,
        note=note,
    )
    act = AuditEntry(
        at=aside.at,
        actor=by.name,
        act=_ACTS[kind],
        subject=comment_id,
        detail=f"until {until.isoformat(timespec='minutes')}"
        + (f", to {user_id}" if user_id else ""),
    )
    review.asides.put(aside, act=act)
    return aside
