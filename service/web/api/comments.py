"""Shows a site what became of its comments, and takes its moderators' decisions."""

from __future__ import annotations

from urllib.parse import urlencode

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.moderation.intake.revise import withdraw_versions
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.review.decide import decide_comment, undo_decision
from service.ports.services import Services
from service.web.api.answers import CommentAnswer, CommentPage, PageLinks, WithdrawnAnswer
from service.web.api.route import Call, Reply, Route
from service.web.api.schemas import DecisionRequest, ListQuery, SiteIdQuery, UndoQuery

_TAG = "Comments"
_DECISIONS = "Decisions"


def comment_routes(services: Services) -> list[Route]:
    """Return the routes that show comments and take decisions on them."""
    return [
        Route(
            method="GET",
            path="/comments",
            name="list_comments",
            tag=_TAG,
            summary="List comments",
            description="The site's own comments, the newest first, a page at a time.",
            view=lambda call: _list(call, services),
            query=ListQuery,
            answer=CommentPage,
            answered="One page of comments.",
        ),
        Route(
            method="GET",
            path="/comments/<id:comment_id>",
            name="get_comment",
            tag=_TAG,
            summary="Read a comment's state, verdict and history",
            view=lambda call: _get(call, services),
            answer=CommentAnswer,
            answered="The comment as far as it has come.",
        ),
        Route(
            method="DELETE",
            path="/comments/<id:comment_id>",
            name="withdraw_comment",
            tag=_TAG,
            summary="Withdraw a comment that the site has deleted",
            description=(
                "Its words, its author and sender, and what is known of its post are forgotten. "
                "Verdict and decisions stay, so that figures stay true. A repeat changes nothing."
            ),
            view=lambda call: _withdraw(call, services),
            answer=CommentAnswer,
            answered="What stays of the comment.",
        ),
        Route(
            method="DELETE",
            path="/comments",
            name="withdraw_by_site_id",
            tag=_TAG,
            summary="Withdraw a comment by the site's own id",
            description=(
                "For a site that got no answer when it sent the comment. A deletion may come first:"
                " what was written before it is then answered, and nothing of it is kept."
            ),
            view=lambda call: _withdraw_by_site_id(call, services),
            query=SiteIdQuery,
            answer=WithdrawnAnswer,
            answered="How many versions of it were withdrawn now.",
        ),
        Route(
            method="POST",
            path="/comments/<id:comment_id>/decision",
            name="decide_comment",
            tag=_DECISIONS,
            summary="Record a decision",
            description=(
                "For sites whose moderators decide elsewhere. The same ruling again changes "
                "nothing; the other one undoes the first, and the history shows both."
            ),
            view=lambda call: _decide(call, services),
            body=DecisionRequest,
            answer=CommentAnswer,
            answered="The comment as it stands now.",
            problems=(409,),
        ),
        Route(
            method="DELETE",
            path="/comments/<id:comment_id>/decision",
            name="undo_decision",
            tag=_DECISIONS,
            summary="Undo the decision in force",
            view=lambda call: _undo(call, services),
            query=UndoQuery,
            answer=CommentAnswer,
            answered="The comment as it stands now.",
            problems=(409,),
        ),
    ]


def _list(call: Call, services: Services) -> Reply:
    query = call.query(ListQuery)
    criteria = CaseFilter(
        site_id=call.site.id,
        state=query.state,
        outcome=query.outcome,
        needs_review=query.needs_review,
        degraded=query.degraded,
        received_from=query.received_from,
        received_before=query.received_before,
    )
    page = services.review.cases.page(
        criteria, order=Order.NEWEST, cursor=query.cursor, limit=query.limit
    )
    statements = services.telling.statements
    return Reply(
        answer=CommentPage(
            comments=[CommentAnswer.of(case, statements) for case in page.cases],
            next_cursor=page.next_cursor,
            links=PageLinks(next=_next(query, page.next_cursor)),
        )
    )


def _get(call: Call, services: Services) -> Reply:
    case = services.review.cases.get(_comment_id(call), site_id=call.site.id)
    return Reply(answer=CommentAnswer.of(case, services.telling.statements))


def _withdraw(call: Call, services: Services) -> Reply:
    withdraw_comment(_comment_id(call), services, by=_decider(None), site_id=call.site.id)
    return _get(call, services)


def _withdraw_by_site_id(call: Call, services: Services) -> Reply:
    site_comment_id = call.query(SiteIdQuery).site_comment_id
    withdrawn = withdraw_versions(call.site.id, site_comment_id, services, by=_decider(None))
    return Reply(answer=WithdrawnAnswer(withdrawn=withdrawn))


def _decide(call: Call, services: Services) -> Reply:
    given = call.body(DecisionRequest)
    case = decide_comment(
        _comment_id(call),
        given.ruling,
        services,
        decided_by=_decider(given.decided_by),
        site_id=call.site.id,
        note=given.note,
        at_once=True,
    )
    return Reply(answer=CommentAnswer.of(case, services.telling.statements))


def _undo(call: Call, services: Services) -> Reply:
    case = undo_decision(
        _comment_id(call),
        services,
        undone_by=_decider(None),
        decision_id=call.query(UndoQuery).decision,
        site_id=call.site.id,
    )
    return Reply(answer=CommentAnswer.of(case, services.telling.statements))


def _decider(name: str | None) -> str:
    """Return who decided; a site can never pass for one of our own moderators."""
    return f"site: {name}" if name else "site"


def _comment_id(call: Call) -> CommentId:
    return CommentId(call.path["comment_id"])


def _next(query: ListQuery, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    asked = query.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {
        "cursor": cursor
    }
    words = {True: "true", False: "false"}
    return "/v1/comments?" + urlencode(
        {name: words[value] if isinstance(value, bool) else value for name, value in asked.items()}
    )
