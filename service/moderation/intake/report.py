"""Takes a site's or an author's word that a comment was judged wrongly."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.delivery import EventKind
from service.domain.normal_form import content_key, same_address
from service.domain.report import Label, Report
from service.domain.site import Site
from service.moderation.admin.acts import make_act
from service.moderation.review.decide import decide_comment
from service.moderation.telling.announce import wake_deliverers, write_messages
from service.ports.services import Services
from service.signals.text import is_visible

# WordPress keeps what it submitted for 15 days and rebuilds later reports from its own database.
REPORTS_FIND = timedelta(days=30)
# Of a text that comes in floods the newest copies are looked at.
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
    """Keep a report of the comment with this content, and return it.

    The comment is found among those of the last 30 days by what `content_key` leaves of the
    text, then by author and post as far as they are told. A comment that was never seen is
    reported all the same, with no `comment_id`. Repeats change nothing. For sites whose reports
    decide, it is a moderator's ruling too; for others it brings the comment before a moderator.
    """
    comment_id = find_comment(
        site, text=text, services=services, post_url=post_url, author_name=author_name
    )
    name = reported_by[:_MAX_NAME_CHARS] if reported_by else None
    report = Report(
        id=services.new_id("rep")
        if comment_id
        else _same_for_repeats(site, label, text, author_name, post_url),
        site_id=site.id,
        label=label,
        reported_at=services.clock(),
        comment_id=comment_id,
        reported_by=name,
    )
    if comment_id is None:
        services.reports.add(report)
    elif site.settings.reports_decide:
        # Told of by the ruling alone.
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
) -> CommentId | None:
    """Return the site's newest comment of the last 30 days that this can be, None if there is none.

    Of several people's equal words ("Thanks!") nobody else's are taken: where both tell an author,
    it must be the same. Among an author's own, those under this post are preferred.
    """
    since = services.clock() - REPORTS_FIND
    ids = services.comments.find_by_content(site.id, content_key(text), since=since)
    found = services.cases.find(ids[:_MAX_LOOKED_AT])
    if author_name:
        wanted = content_key(author_name)
        found = [
            case
            for case in found
            if not case.comment.author.name or content_key(case.comment.author.name) == wanted
        ]
    under_post = [case for case in found if same_address(case.comment.post.url, post_url)]
    return next((case.comment.id for case in under_post or found), None)


def _same_for_repeats(
    site: Site, label: Label, text: str, author_name: str | None, post_url: str | None
) -> str:
    """Return an id that the same report of an unseen comment gets every time."""
    parts = [site.id, label.value, content_key(text), author_name, post_url]
    return "rep_" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:26]


def appeal(case: Case, text: str, services: Services) -> bool:
    """Keep the author's appeal and put the comment before all others in the review queue.

    Return False for one that says nothing, has over 500 characters or is not the first, and where
    there is nothing to appeal against. Raises `NotFoundError` if the comment has gone.
    """
    words = text.replace("\r\n", "\n").strip()
    if not is_visible(words) or len(words) > MAX_APPEAL_CHARS or not case.may_be_appealed:
        return False
    act = make_act(services, actor="author", act="appeal", subject=case.comment.id)
    return services.reports.appeal(case.comment.id, words, act=act)
