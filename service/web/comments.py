"""Serves comments: taking them in and showing what became of them."""

from __future__ import annotations

from dataclasses import replace

from service.domain.case import Case
from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    Author,
    Comment,
    CommentId,
    Lane,
    Post,
)
from service.domain.errors import ConflictError, StoreUnavailableError
from service.domain.sender import make_sender
from service.domain.site import Site
from service.moderation.submit import submit_comments
from service.ports import Added, AddOutcome, NewComment, Services
from service.web.answers import CommentAnswer
from service.web.api import Call, Reply, Route
from service.web.config import WebConfig
from service.web.schemas import CommentRequest, WaitQuery, wait_query
from service.web.waiting import Waiting

TAG = "Comments"


def comment_routes(services: Services, config: WebConfig) -> list[Route]:
    """Return the routes that take comments in and show them."""
    waiting = Waiting(max_waiting=config.max_waiting)

    def submit(call: Call) -> Reply:
        return _submit(call, services, waiting)

    return [
        Route(
            method="POST",
            path="/comments",
            name="submit_comment",
            tag=TAG,
            summary="Submit a comment",
            description=(
                "Keeps the comment, then has it judged. A repeat with the same `Idempotency-Key` "
                "or `site_comment_id` is answered as the first was and judged once; with other "
                "content it is refused with 409."
            ),
            view=submit,
            query=wait_query(config.max_wait_seconds),
            body=CommentRequest,
            takes_idempotency_key=True,
            status=202,
            answer=CommentAnswer,
            answered="The comment is kept. Its verdict is null until it has been judged.",
            problems=(409,),
        ),
    ]


def new_comment(
    given: CommentRequest, site: Site, services: Services, *, lane: Lane, key: str | None
) -> NewComment:
    """Return the comment as it is to be kept; address and e-mail end here."""
    author, post = given.author, given.post
    comment = Comment(
        id=CommentId(services.new_id("com")),
        site_id=site.id,
        text=given.text,
        received_at=services.clock(),
        post=Post(
            url=(post.url or None) if post else None,
            title=(post.title or None) if post else None,
            excerpt=((post.excerpt or post.text or "")[:MAX_EXCERPT_CHARS] or None)
            if post
            else None,
        ),
        author=Author(
            name=author.name or None,
            url=author.url or None,
            account_id=author.account_id,
            account_age_days=author.account_age_days,
        )
        if author
        else Author(),
        sender=make_sender(
            address=given.address,
            email=author.email if author else None,
            secret=services.sender_secret,
        ),
        site_comment_id=given.site_comment_id,
        written_at=given.written_at,
        language=given.language,
        user_agent=given.user_agent,
        reply_to=given.reply_to,
    )
    return NewComment(comment=comment, lane=lane, idempotency_key=key)


def conflict(added: Added) -> ConflictError:
    """Return the refusal of a comment whose key is taken by other content."""
    return ConflictError(
        f"This Idempotency-Key or site_comment_id came before with other content, "
        f"kept as {added.comment_id}. Send other content under another key."
    )


def _submit(call: Call, services: Services, waiting: Waiting) -> Reply:
    new = new_comment(
        call.body(CommentRequest),
        call.site,
        services,
        lane=Lane.INTERACTIVE,
        key=call.reading.idempotency_key,
    )
    added = submit_comments([new], services)[0]
    if added.outcome is AddOutcome.CONFLICT:
        raise conflict(added)
    kept = Case(comment=replace(new.comment, id=added.comment_id), mode=call.site.settings.mode)
    case = waiting.for_verdict(
        lambda: _look_up(kept, services), seconds=call.query(WaitQuery).wait or 0.0
    )
    answer = CommentAnswer.of(case)
    return Reply(answer=answer, status=202, headers={"Location": answer.links.self})


def _look_up(kept: Case, services: Services) -> Case:
    """Return the case as it stands; what was kept stays kept while the store cannot be read."""
    try:
        return services.cases.get(kept.comment.id, site_id=kept.comment.site_id)
    except StoreUnavailableError:
        return kept
