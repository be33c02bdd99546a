"""Follows a comment through its edits to its deletion.

The first version is kept under the site's own id, each later one under `<id>@2`, `<id>@3` and so
on. When a later one is kept, the earlier ones are withdrawn: what a site shows is judged, what it
no longer shows is forgotten.

What a person ruled holds for an edit that changes little of the text that was ruled on, however
many edits lie between; digests of that text are kept for it. An approval is kept unless the edit
adds a link, a contact, an offer or many words; a rejection only if it adds and takes away nothing
of the kind. Any other edit is judged, and that of a rejected comment goes to a person unless it is
spam: nobody frees a comment of theirs by rewriting it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from functools import partial

from service.domain.applying import unversioned, versioned
from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import Comment, CommentId, Edit, SiteId
from service.domain.decision import (
    BY_STAFF,
    EDIT_POLICY,
    KEPT_BY_STAFF,
    KEPT_FEW_WORDS,
    KEPT_WORDS,
    Ruling,
)
from service.domain.errors import ConflictError, NotFoundError, StoreUnavailableError
from service.domain.published import as_published
from service.domain.ruled_text import RuledText
from service.moderation.intake.submit import submit_comments
from service.moderation.review.decide import decide_comment
from service.moderation.telling.announce import wake_deliverers, write_withdrawn_messages
from service.ports.audit import AuditEntry
from service.ports.comments import AddOutcome, NewComment
from service.ports.services import Services
from service.signals.edits import added_link, measure, ruled_text
from service.signals.offers import offers

log = logging.getLogger(__name__)

# Two edits of one comment may arrive at once; of each round at least one is kept.
_TRIES = 5
_NAMES_AT_ONCE = 50


def looks_like_version(site_comment_id: str) -> bool:
    """Return True if a site's id looks like a later version of another comment."""
    return unversioned(site_comment_id) != site_comment_id


def submit_version(
    new: NewComment,
    services: Services,
    *,
    by: str,
    recovers: bool = False,
    by_staff: bool = False,
) -> CommentId | None:
    """Keep a comment as its site shows it now and withdraw what it showed before.

    `new.comment.site_comment_id` is the comment's own id, `written_at` when it was written or
    edited. Return the id under which it is kept, None if there is nothing to keep: a newer version
    is known, or the comment was deleted. With `recovers` the site takes a deletion back, with
    `by_staff` somebody made the edit who may moderate at the site. The same call again changes
    nothing. Raises what `submit_comments` raises.
    """
    comment = new.comment
    if comment.site_comment_id is None:
        return submit_comments([new], services)[0].comment_id
    for _ in range(_TRIES):
        ids = _version_ids(comment.site_id, comment.site_comment_id, services)
        if ids:
            newest = services.cases.get(ids[-1], site_id=comment.site_id)
            if newest.withdrawn_at is None and _shows_the_same(newest.comment, comment):
                if not newest.decisions:
                    _keep_ruling(newest.comment, services)
                _withdraw_all(ids[:-1], services, by=by)
                return newest.comment.id
            if _is_overtaken(newest, comment, recovers=recovers):
                return None
        name = versioned(comment.site_comment_id, len(ids) + 1)
        version = replace(comment, site_comment_id=name)
        if ids:
            version = _edited(version, newest, by=by, by_staff=by_staff)
        added = submit_comments(
            [replace(new, comment=version)],
            services,
            before_queueing=partial(_keep_ruling, version, services),
        )[0]
        if added.outcome is not AddOutcome.CONFLICT:
            _withdraw_all(ids, services, by=by)
            return None if added.outcome is AddOutcome.DELETED else added.comment_id
    raise StoreUnavailableError("too many edits of one comment arrive at once")


def withdraw_versions(
    site_id: SiteId,
    site_comment_id: str,
    services: Services,
    *,
    by: str,
    deleted_at: datetime | None = None,
) -> int:
    """Withdraw every version of a comment; return how many there still were.

    A deletion may overtake its comment, or an edit of it: it is remembered when it was deleted, now
    unless given, and no version that was written before is ever kept.
    """
    now = services.clock()
    # First: a version that comes meanwhile either finds this or is found.
    services.comments.note_deletion(site_id, site_comment_id, deleted_at=deleted_at or now, at=now)
    return _withdraw_all(_version_ids(site_id, site_comment_id, services), services, by=by)


def find_state(site_id: SiteId, site_comment_id: str, services: Services) -> str | None:
    """Return the newest version of a comment and whether it is withdrawn; None if unknown."""
    ids = _version_ids(site_id, site_comment_id, services)
    if not ids:
        return None
    newest = services.cases.get(ids[-1], site_id=site_id)
    return f"{ids[-1]}:{'shown' if newest.withdrawn_at is None else 'withdrawn'}"


def _version_ids(site_id: SiteId, site_comment_id: str, services: Services) -> list[CommentId]:
    """Return the ids of all versions that were ever kept, oldest first."""
    ids: list[CommentId] = []
    while True:
        numbers = range(len(ids) + 1, len(ids) + 1 + _NAMES_AT_ONCE)
        names = [versioned(site_comment_id, number) for number in numbers]
        found = services.comments.find_by_site_ids(site_id, names)
        ids += [found[name] for name in names if name in found]
        if len(found) < _NAMES_AT_ONCE:
            return ids


def _shows_the_same(kept: Comment, shown: Comment) -> bool:
    return (kept.text, kept.author.name, kept.author.url) == (
        shown.text,
        shown.author.name,
        shown.author.url,
    )


def _edited(shown: Comment, newest: Case, *, by: str, by_staff: bool) -> Comment:
    """Return a version with what the edit did since a person ruled, else since the newest one."""
    if newest.withdrawn_at is not None:
        # Not a word is left to compare with.
        return replace(shown, edit=Edit.BY_STAFF if by_staff else Edit.UNAPPROVED)
    ruled = _ruled(newest)
    if ruled is not None and not ruled.approved:
        return replace(shown, edit=Edit.REJECTED, ruled=ruled)
    was_shown = as_published(newest) is not None
    if by_staff:
        # Who may moderate there and lets stand what is shown approves of it.
        if was_shown:
            ruled = ruled_text(shown, approved=True, by=ruled.by if ruled else f"{BY_STAFF}{by}")
        return replace(shown, edit=Edit.BY_STAFF, ruled=ruled)
    if ruled is None and not was_shown:
        return replace(shown, edit=Edit.UNAPPROVED)
    measured = ruled or ruled_text(newest.comment, approved=True, by=by)
    if offers(shown) and not measured.offers:
        edit = Edit.ADDED_OFFER
    else:
        edit = Edit.ADDED_LINK if added_link(measured, shown) else Edit.APPROVED
    return replace(shown, edit=edit, ruled=ruled)


def _ruled(newest: Case) -> RuledText | None:
    """Return the text of the last decision in force by a person, None without one."""
    decision = newest.decision
    if decision is None:
        return None if newest.decisions else newest.comment.ruled
    if not is_by_person(decision):
        return newest.comment.ruled
    approved = decision.ruling is Ruling.APPROVE
    return ruled_text(newest.comment, approved=approved, by=decision.decided_by)


def _keep_ruling(comment: Comment, services: Services) -> None:
    """Decide an edit as a person decided what it was before, if it is still that."""
    ruled = comment.ruled
    why = _why_kept(comment, ruled) if ruled is not None else None
    if ruled is None or why is None:
        return
    try:
        decide_comment(
            comment.id,
            Ruling.APPROVE if ruled.approved else Ruling.REJECT,
            services,
            decided_by=f"{EDIT_POLICY}{ruled.by}",
            note=why,
            at_once=True,
            instead_of=(),
        )
    except (ConflictError, NotFoundError):
        # A repeat that was kept before, decided or withdrawn since.
        return


def _why_kept(comment: Comment, ruled: RuledText) -> str | None:
    """Return why a ruling holds for an edit, None where it does not."""
    change = measure(ruled, comment)
    if not change.is_small or change.opens_way or (change.closes_way and not ruled.approved):
        return None
    if comment.edit is Edit.BY_STAFF:
        return KEPT_BY_STAFF
    return KEPT_FEW_WORDS if change.new_words else KEPT_WORDS


def _is_overtaken(newest: Case, shown: Comment, *, recovers: bool) -> bool:
    """Return True if this delivery is older than the stored version: order isn't guaranteed."""
    if newest.withdrawn_at is not None:
        return not recovers
    known_at = newest.comment.written_at
    return known_at is not None and shown.written_at is not None and shown.written_at < known_at


def _withdraw_all(ids: list[CommentId], services: Services, *, by: str) -> int:
    # Newest first: the earlier ones were withdrawn when it came, save for an interrupted call.
    return sum(withdraw_comment(comment_id, services, by=by) for comment_id in reversed(ids))


def withdraw_comment(
    comment_id: CommentId, services: Services, *, by: str, site_id: SiteId | None = None
) -> bool:
    """Forget a comment's words and who sent it; return whether that was still to be done.

    Its verdict, its decisions and the log stay, so that figures stay true. Raises `NotFoundError`
    for a comment that is not kept or belongs to another site.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if case.withdrawn_at is not None:
        return False
    now = services.clock()
    act = AuditEntry(at=now, actor=by, act="withdraw", subject=comment_id)
    messages = write_withdrawn_messages([case], services)
    services.personal_data.withdraw(
        [comment_id], at=now, act=lambda new: act if new else None, deliveries=messages
    )
    if messages:
        wake_deliverers(services)
    log.info("comment withdrawn", extra={"comment_id": comment_id})
    return True
