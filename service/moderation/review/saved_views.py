"""Keeps, renames and forgets searches under names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.saved_view import MAX_VIEW_NAME_CHARS, SavedView
from service.domain.search import Field, parse_search
from service.domain.search_words import words_of
from service.domain.user import Permission, User
from service.moderation.admin.acts import record_act
from service.moderation.review.search import read_line
from service.ports.audit import AuditEntry
from service.ports.services import CommonPorts, ReviewPorts

MAX_VIEWS = 50


def list_views(review: ReviewPorts, *, user: User) -> list[SavedView]:
    """Return the account's own views and those shared with all, by name."""
    return review.saved_views.visible_to(user.id)


def save_view(
    name: str,
    line: str,
    review: ReviewPorts,
    common: CommonPorts,
    *,
    user: User,
    shared: bool = False,
) -> SavedView:
    """Keep a search under a name; shared with all if so wished and `may_share`.

    Raises `InvalidInputError` with every problem of name and line.
    """
    problems = _problems(name)
    try:
        read_line(line, common, user=user)
    except InvalidInputError as error:
        problems += error.problems
    own = [view for view in list_views(review, user=user) if view.owner_id == user.id]
    if len(own) >= MAX_VIEWS:
        problems.append(_TOO_MANY)
    if problems:
        raise InvalidInputError(problems)
    view = SavedView(
        id=common.new_id("view"),
        owner_id=user.id,
        name=name.strip(),
        query=line.strip(),
        shared=shared and may_share(user),
        created_at=common.clock(),
    )
    review.saved_views.put(view)
    if view.shared:
        record_act(common, actor=user.name, act="share view", subject=view.id)
    return view


def rename_view(view_id: str, name: str, review: ReviewPorts, *, user: User) -> SavedView:
    """Give a view another name. Raises `NotFoundError`, `InvalidInputError`."""
    view = _may_change(view_id, review, user=user)
    problems = _problems(name)
    if problems:
        raise InvalidInputError(problems)
    renamed = replace(view, name=name.strip())
    review.saved_views.put(renamed)
    return renamed


def remove_view(view_id: str, review: ReviewPorts, common: CommonPorts, *, user: User) -> None:
    """Forget a view. Raises `NotFoundError` for one that is not this account's to change."""
    view = _may_change(view_id, review, user=user)
    act = AuditEntry(at=common.clock(), actor=user.name, act="remove shared view", subject=view.id)
    review.saved_views.remove(view.id, act=act if view.shared else None)


def forget_views(name: str, review: ReviewPorts, common: CommonPorts, *, by: str) -> int:
    """Remove all accounts' views that name a person, to be forgotten; return how many.

    A view names them if its search looks for authors of this name, or if the name, of two words at
    least, stands in its line or its own name: a single word means too much else. The log tells
    how many, not which.
    """
    wanted = words_of(name)
    found = [view for view in review.saved_views.all() if _names(view, wanted)]
    if found:
        act = AuditEntry(
            at=common.clock(),
            actor=by,
            act="erase person",
            subject="person",
            detail=f"{len(found)} saved views removed",
        )
        review.saved_views.remove(*(view.id for view in found), act=act)
    return len(found)


def _names(view: SavedView, wanted: Sequence[str]) -> bool:
    if not wanted:
        return False
    try:
        authors = [term.value for term in parse_search(view.query).of(Field.AUTHOR)]
    except InvalidInputError:
        # A line that was understood once may not be any more.
        authors = [view.query]
    texts = authors if len(wanted) == 1 else [*authors, view.query, view.name]
    return any(_holds(words_of(text), wanted) for text in texts)


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def may_share(user: User) -> bool:
    """Say whether an account may show its views to all others."""
    return user.may(Permission.MANAGE_SITES)


def may_change(view: SavedView, user: User) -> bool:
    """Say whether an account may rename or remove a view: its own, and shared ones if it shares."""
    return view.owner_id == user.id or (view.shared and may_share(user))


def _may_change(view_id: str, review: ReviewPorts, *, user: User) -> SavedView:
    view = review.saved_views.get(view_id)
    if view is None or not may_change(view, user):
        msg = "there is no such view"
        raise NotFoundError(msg)
    return view


def _problems(name: str) -> list[Problem]:
    if 0 < len(name.strip()) <= MAX_VIEW_NAME_CHARS:
        return []
    remedy = f"give the view a name of at most {MAX_VIEW_NAME_CHARS} characters"
    return [Problem(field="name", problem="is empty or too long", remedy=remedy)]


_TOO_MANY = Problem(
    field="name", problem=f"would be one of more than {MAX_VIEWS}", remedy="remove a view first"
)
