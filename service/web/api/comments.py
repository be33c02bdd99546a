"""Routes to read and withdraw a site's comments, and to record decisions."""

from flask import url_for

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.moderation import decisions, revise
from service.web.api.answers import CommentAnswer, CommentPage, PageLinks, WithdrawnAnswer
from service.web.api.blueprint import api
from service.web.api.schemas import DecisionRequest, ListQuery, SiteIdQuery, UndoQuery
from service.web.edge.auth import current_site
from service.web.edge.current import services
from service.web.edge.operation import operation

_DECISIONS = "Decisions"
# The prefix keeps a site's actors apart from moderators' accounts.
_SITE = "site"


@api.get("/comments")
@operation(tag="Comments")
def list_comments(query: ListQuery) -> CommentPage:
    """List comments.

    Only the site's own comments are listed, newest first, in pages.
    """
    narrowed = {name: value for name, value in query if name not in ("cursor", "limit")}
    criteria = CaseFilter(site_ids=(current_site().id,), **narrowed)
    page = services.cases.page(criteria, order=Order.NEWEST, cursor=query.cursor, limit=query.limit)
    asked = query.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return CommentPage(
        comments=[CommentAnswer.of(case, services.statements) for case in page.items],
        next_cursor=page.next_cursor,
        links=PageLinks(
            next=page.next_cursor
            and url_for(".list_comments", **asked | {"cursor": page.next_cursor})
        ),
    )


@api.get("/comments/<id:comment_id>")
@operation(tag="Comments")
def get_comment(comment_id: CommentId) -> CommentAnswer:
    """Read a comment's state, verdict and history."""
    case = services.cases.get(comment_id, site_id=current_site().id)
    return CommentAnswer.of(case, services.statements)


@api.delete("/comments/<id:comment_id>")
@operation(tag="Comments")
def withdraw_comment(comment_id: CommentId) -> CommentAnswer:
    """Withdraw a comment that the site has deleted.

    Deletes its text, author and sender, and what is known of its post. The verdict and the
    decisions are kept, so that figures stay correct. A repeat changes nothing.
    """
    site_id = current_site().id
    revise.withdraw_comment(comment_id, services, by=_SITE, site_id=site_id)
    return CommentAnswer.of(services.cases.get(comment_id, site_id=site_id), services.statements)


@api.delete("/comments")
@operation(tag="Comments")
def withdraw_by_site_id(query: SiteIdQuery) -> WithdrawnAnswer:
    """Withdraw a comment by the site's own id.

    For a site that got no response when it sent the comment. The withdrawal may arrive first: a
    comment that was written before it is then refused with 410.
    """
    withdrawn = revise.withdraw_versions(
        current_site().id, query.site_comment_id, services, by=_SITE
    )
    return WithdrawnAnswer(withdrawn=withdrawn)


@api.post("/comments/<id:comment_id>/decision")
@operation(tag=_DECISIONS, problems=(409,))
def decide_comment(comment_id: CommentId, body: DecisionRequest) -> CommentAnswer:
    """Record a decision.

    For sites whose moderators decide elsewhere. Repeating a ruling changes nothing. The opposite
    ruling undoes the first, and the history shows both.
    """
    case = decisions.decide_comment(
        comment_id,
        body.ruling,
        services,
        decided_by=f"{_SITE}: {body.decided_by}" if body.decided_by else _SITE,
        site_id=current_site().id,
        note=body.note,
        at_once=True,
    )
    return CommentAnswer.of(case, services.statements)


@api.delete("/comments/<id:comment_id>/decision")
@operation(tag=_DECISIONS, problems=(409,))
def undo_decision(comment_id: CommentId, query: UndoQuery) -> CommentAnswer:
    """Undo the decision in force."""
    case = decisions.undo_decision(
        comment_id, services, undone_by=_SITE, decision_id=query.decision, site_id=current_site().id
    )
    return CommentAnswer.of(case, services.statements)
