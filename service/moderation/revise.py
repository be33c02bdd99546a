"""Handles edits, deletions, reports and appeals of stored comments.

The first version is stored under the site's own id, each later one under `<id>@2`, `<id>@3` and so
on, which withdraws the earlier ones and deletes their text.

A person's ruling applies to later edits that change little of the text, compared by digests. An
approval stays unless the edit adds a link, a contact, an offer or many words; a rejection stays
only if the edit adds and removes nothing of that kind. Any other edit is judged, and that of a
rejected comment goes to a person unless it is spam.
"""

import hashlib
import json
import logging
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import Comment, CommentId, Edit, Label, Report, RuledText, SiteId
from service.domain.decision import (
    BY_STAFF,
    EDIT_POLICY,
    KEPT_BY_STAFF,
    KEPT_FEW_WORDS,
    KEPT_WORDS,
    Ruling,
)
from service.domain.delivery import EventKind, unversioned, versioned
from service.domain.errors import ConflictError, NotFoundError, StoreUnavailableError
from service.domain.published import as_published
from service.domain.site import Site
from service.domain.text import content_key, same_address
from service.moderation.acts import make_act
from service.moderation.announcing import wake_deliverers, withdraw, write_messages
from service.moderation.decisions import decide_comment
from service.moderation.intake import submit_comments
from service.ports.comments import AddOutcome, NewComment
from service.ports.services import Services
from service.signals.edits import added_link, measure, ruled_text
from service.signals.offers import offers
from service.signals.text import is_visible

log = logging.getLogger(__name__)

# Two edits of one comment may arrive at once; each round stores at least one.
_TRIES = 5
_NAMES_AT_ONCE = 50


def looks_like_version(site_comment_id: str) -> bool:
    """Return True if a site's id looks like a later version of another comment."""
    return unversioned(site_comment_id) != site_comment_id


def submit_version(
    new: NewComment, services: Services, *, by: str, recovers: bool = False, by_staff: bool = False
) -> CommentId | None:
    """Store a comment as its site shows it now and withdraw its earlier versions.

    `new.comment.site_comment_id` is the comment's own id, `written_at` when it was written or
    edited. Returns the id under which it is stored, None if a newer version is known or the comment
    was deleted. With `recovers` the site undoes a deletion, with `by_staff` the editor may moderate
    at the site. A repeat changes nothing. Raises as `submit_comments`.
    """
    comment = new.comment
    if comment.site_comment_id is None:
        return submit_comments([new], services)[0].comment_id
    for _ in range(_TRIES):
        ids = _version_ids(comment.site_id, comment.site_comment_id, services)
        if ids:
            newest = services.cases.get(ids[-1], site_id=comment.site_id)
            if newest.withdrawn_at is None and _shown(newest.comment) == _shown(comment):
                if not newest.decisions:
                    _keep_ruling(newest.comment, services)
                _withdraw_all(ids[:-1], services, by=by)
                return newest.comment.id
            if _is_overtaken(newest, comment, recovers=recovers):
                return None
        version = replace(comment, site_comment_id=versioned(comment.site_comment_id, len(ids) + 1))
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
    """Withdraw every version of a comment; return how many were not withdrawn yet.

    The time (by default now) is stored: later deliveries of earlier versions are refused.
    """
    now = services.clock()
    # First, so that a concurrent version either finds the deletion or is found.
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
    ids: list[CommentId] = []
    while True:
        numbers = range(len(ids) + 1, len(ids) + 1 + _NAMES_AT_ONCE)
        names = [versioned(site_comment_id, number) for number in numbers]
        found = services.comments.find_by_site_ids(site_id, names)
        ids += [found[name] for name in names if name in found]
        if len(found) < _NAMES_AT_ONCE:
            return ids


def _shown(comment: Comment) -> tuple[str | None, ...]:
    return comment.text, comment.author.name, comment.author.url


def _edited(shown: Comment, newest: Case, *, by: str, by_staff: bool) -> Comment:
    """Return a version with the edit since a person's ruling, else since the newest version."""
    if newest.withdrawn_at is not None:
        # The earlier text is deleted.
        return replace(shown, edit=Edit.BY_STAFF if by_staff else Edit.UNAPPROVED)
    ruled = _ruled(newest)
    if ruled is not None and not ruled.approved:
        return replace(shown, edit=Edit.REJECTED, ruled=ruled)
    was_shown = as_published(newest) is not None
    if by_staff:
        # Staff who edit a comment and leave it published approve of it.
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
    decision = newest.decision
    if decision is None:
        return None if newest.decisions else newest.comment.ruled
    if not is_by_person(decision):
        return newest.comment.ruled
    approved = decision.ruling is Ruling.APPROVE
    return ruled_text(newest.comment, approved=approved, by=decision.decided_by)


def _keep_ruling(comment: Comment, services: Services) -> None:
    ruled = comment.ruled
    why = _why_kept(comment, ruled) if ruled is not None else None
    if ruled is None or why is None:
        return
    # A repeat may have been decided or withdrawn since.
    with suppress(ConflictError, NotFoundError):
        decide_comment(
            comment.id,
            Ruling.APPROVE if ruled.approved else Ruling.REJECT,
            services,
            decided_by=f"{EDIT_POLICY}{ruled.by}",
            note=why,
            at_once=True,
            instead_of=(),
        )


def _why_kept(comment: Comment, ruled: RuledText) -> str | None:
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
    # The newest first: the earlier ones were withdrawn with it, unless a call was interrupted.
    return sum(withdraw_comment(comment_id, services, by=by) for comment_id in reversed(ids))


def withdraw_comment(
    comment_id: CommentId, services: Services, *, by: str, site_id: SiteId | None = None
) -> bool:
    """Delete a comment's text and sender; return True unless that was done before.

    Verdict, decisions and log stay. Raises `NotFoundError` if it is unknown or another site's.
    """
    if services.cases.get(comment_id, site_id=site_id).withdrawn_at is not None:
        return False
    act = make_act(services, actor=by, act="withdraw", subject=comment_id)
    withdraw([comment_id], services, at=act.at, act=lambda new: act if new else None)
    log.info("comment withdrawn", extra={"comment_id": comment_id})
    return True


# WordPress keeps submissions for 15 days and rebuilds later reports from its own database.
REPORTS_FIND = timedelta(days=30)
# Of a text that comes in floods only the newest copies are compared.
_MAX_LOOKED_AT = 20
_MAX_NAME_CHARS = 100
MAX_APPEAL_CHARS = 500


def report_comment(
    label: Label,
    *,
    site: Site,
    text: str,
    services: Services,
    post_url: str | None = None,
    author_name: str | None = None,
    reported_by: str | None = None,
) -> Report:
    """Store a report of the comment with this content, and return it; see `find_comment`.

    Repeats change nothing. If the site's reports decide, it is also a moderator's ruling; otherwise
    the comment goes to a moderator.
    """
    case = find_comment(
        site, text=text, services=services, post_url=post_url, author_name=author_name
    )
    comment_id = case.comment.id if case else None
    name = reported_by[:_MAX_NAME_CHARS] if reported_by else None
    # A repeated report of an unknown comment has the same id.
    parts = [site.id, label.value, content_key(text), author_name, post_url]
    unseen_id = "rep_" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:26]
    report = Report(
        id=services.new_id("rep") if comment_id else unseen_id,
        site_id=site.id,
        label=label,
        reported_at=services.clock(),
        comment_id=comment_id,
        reported_by=name,
    )
    if comment_id is None:
        services.reports.add(report)
    elif site.settings.reports_decide:
        # The ruling's message is enough.
        services.reports.add(report)
        decide_comment(
            comment_id,
            Ruling.REJECT if label is Label.SPAM else Ruling.APPROVE,
            services,
            decided_by=f"report: {name}" if name else "report",
            site_id=site.id,
            at_once=True,
        )
    else:
        endpoints = {site.id: services.endpoints.get(site.id)}
        is_new = services.reports.add(
            report,
            tell=lambda cases: write_messages(
                [(case, EventKind.REVIEW) for case in cases], services, endpoints
            ),
        )
        if is_new and endpoints[site.id]:
            wake_deliverers(services)
    return report


def find_comment(
    site: Site,
    *,
    text: str,
    services: Services,
    post_url: str | None = None,
    author_name: str | None = None,
) -> Case | None:
    """Return the site's newest matching comment of the last 30 days, None if there is none.

    If several people wrote the same words ("Thanks!"), the author must match where both are known.
    Among an author's own comments, those under this post are preferred.
    """
    since = services.clock() - REPORTS_FIND
    ids = services.comments.find_by_content(site.id, content_key(text), since=since)
    found = services.cases.find(ids[:_MAX_LOOKED_AT])
    if author_name:
        wanted = content_key(author_name)
        found = [
            one for one in found if content_key(one.comment.author.name or author_name) == wanted
        ]
    under_post = [case for case in found if same_address(case.comment.post.url, post_url)]
    return next(iter(under_post or found), None)


def appeal(case: Case, text: str, services: Services) -> bool:
    """Store the author's appeal and put the comment first in the review queue.

    Returns False if the appeal is empty, has over 500 characters or is not the first, and if
    nothing can be appealed. Raises `NotFoundError` if the comment does not exist.
    """
    words = text.replace("\r\n", "\n").strip()
    if not is_visible(words) or len(words) > MAX_APPEAL_CHARS or not case.may_be_appealed:
        return False
    act = make_act(services, actor="author", act="appeal", subject=case.comment.id)
    return services.reports.appeal(case.comment.id, words, act=act)
