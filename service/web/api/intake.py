"""Routes that accept comments, one by one or in batches."""

import hashlib
import time
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from flask import request

from service.domain.case import Case
from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    Author,
    Comment,
    CommentId,
    CommentKind,
    FormEvidence,
    Lane,
    Post,
)
from service.domain.errors import ConflictError, ModerationError, StoreUnavailableError
from service.domain.site import Site
from service.moderation.intake import submit_comments, with_sender, with_token
from service.moderation.revise import withdraw_comment
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.services import Services
from service.web.api import schemas
from service.web.api.answers import BatchAnswer, BatchResult, CommentAnswer, CommentLinks
from service.web.api.blueprint import api
from service.web.edge import strict_json
from service.web.edge.admission import USUAL_PATIENCE_SECONDS
from service.web.edge.auth import current_site
from service.web.edge.current import services, waiter
from service.web.edge.errors import EdgeError, TooLargeError, problem_of
from service.web.edge.fields import cut
from service.web.edge.headers import note_comments
from service.web.edge.operation import JSON, SINGLE_BODY_BYTES, operation, validate
from service.web.edge.overload import keep_in_line
from service.web.edge.strict_json import Json

NDJSON = "application/x-ndjson"

_MAX_BATCH_BYTES = 16 * 1024 * 1024
_ACCEPTED = 202
# `Retry-After` for a comment without a verdict. The queue is full then.
_ASK_AGAIN_SECONDS = 10


@api.post("/comments")
@operation(tag="Comments", statuses=(_ACCEPTED,), problems=(409, 410))
def submit_comment(
    query: schemas.WaitQuery, body: schemas.CommentRequest, idempotency_key: str | None
) -> tuple[CommentAnswer, dict[str, str]]:
    """Submit a comment.

    Stores the comment and queues it to be judged. The verdict is null until then; if `wait` ran
    out, `Retry-After` says when to read the comment at `links.self`. A repeat with the same
    `Idempotency-Key` or `site_comment_id` returns the first comment and is not judged again. A
    repeat with other content, or with `keep` true where the first had false, is refused with 409.
    """
    seconds = query.wait or 0.0
    site = current_site()
    new = new_comment(body, site, services, lane=Lane.INTERACTIVE, key=idempotency_key)
    added, in_time = keep_in_line(new, seconds=seconds or USUAL_PATIENCE_SECONDS)
    if refusal := _refusal_of(added):
        raise refusal
    case = waiter.for_verdict(added.comment_id, seconds=seconds if in_time else 0.0)
    if case is None:
        case = unjudged(new, site, added)
        # A new comment that was not waited for has not changed.
        if seconds or added.outcome is not AddOutcome.NEW:
            # The comment is stored, so a failing read is no error.
            with suppress(StoreUnavailableError):
                case = services.cases.get(case.comment.id, site_id=site.id)
    if case.verdict is not None and not added.is_kept:
        withdraw_comment(case.comment.id, services, by="site")
    answer = CommentAnswer.of(case, services.statements if added.is_kept else None)
    headers = {"Location": answer.links.self}
    if seconds and case.verdict is None and case.withdrawn_at is None:
        headers["Retry-After"] = str(_ASK_AGAIN_SECONDS)
    return answer, headers


@api.post("/comments/batch")
@operation(
    tag="Comments", body=schemas.BatchRequest, media=(JSON, NDJSON), max_body_bytes=_MAX_BATCH_BYTES
)
def submit_batch(raw: bytes, idempotency_key: str | None) -> BatchAnswer:
    """Submit up to 1,000 comments.

    Send an object with `comments`, or NDJSON with one comment a line. Each comment is accepted or
    refused on its own, and so is a malformed line. With an `Idempotency-Key` the whole batch can
    be repeated safely.
    """
    if request.mimetype == NDJSON:
        parts: list[bytes | Json] = [line for line in raw.split(b"\n") if line.strip()]
    else:
        parts = _read_object(raw)
    if len(parts) > schemas.MAX_BATCH:
        msg = f"The batch has more than {schemas.MAX_BATCH} comments. Send several batches."
        raise TooLargeError(msg)
    read = []
    for index, part in enumerate(parts):
        # The prefix keeps these keys apart from those of single submissions.
        digest = hashlib.sha256(f"{index}:{idempotency_key}".encode()).hexdigest()
        read.append(_read_item(part, f"batch:{digest}" if idempotency_key is not None else None))
    good = [new for new in read if isinstance(new, NewComment)]
    added = submit_comments(good, services) if good else []
    note_comments([one.comment_id for one in added])
    answers = iter(added)
    results = [
        _result(index, new, next(answers) if isinstance(new, NewComment) else None)
        for index, new in enumerate(read)
    ]
    accepted = sum(result.status == _ACCEPTED for result in results)
    return BatchAnswer(accepted=accepted, refused=len(results) - accepted, results=results)


def _read_object(raw: bytes) -> list[bytes | Json]:
    body = strict_json.parse(raw)
    comments: list[bytes | Json] = []
    if isinstance(body, dict):
        # 16 MiB can hold a million unknown fields; a response lists fewer than 100.
        for name in list(body)[100:]:
            del body[name]
        given = body.get("comments")
        if isinstance(given, list):
            # An invalid comment must not refuse the others.
            comments, body["comments"] = [*given], []
    validate(schemas.BatchRequest, body)
    return comments


def _read_item(part: bytes | Json, key: str | None) -> NewComment | ModerationError:
    """Return the comment of a line or an object, or the error that refuses it."""
    try:
        if isinstance(part, bytes):
            if len(part) > SINGLE_BODY_BYTES:
                raise TooLargeError(f"The line has more than {SINGLE_BODY_BYTES} bytes.")
            part = strict_json.parse(part)
        given = validate(schemas.KeptRequest, part)
        return new_comment(given, current_site(), services, lane=Lane.BULK, key=key)
    except ModerationError as refusal:
        return refusal


def _result(index: int, read: NewComment | ModerationError, added: Added | None) -> BatchResult:
    refusal = _refusal_of(added) if added else read
    problem = problem_of(refusal) if isinstance(refusal, ModerationError) else None
    comment_id = added.comment_id if added and not problem else None
    return BatchResult(
        index=index,
        status=problem.status if problem else _ACCEPTED,
        id=comment_id,
        site_comment_id=read.comment.site_comment_id if isinstance(read, NewComment) else None,
        links=CommentLinks.to(comment_id) if comment_id else None,
        problem=problem,
    )


def new_comment(
    given: schemas.CommentRequest, site: Site, services: Services, *, lane: Lane, key: str | None
) -> NewComment:
    """Return the comment to store, with address and e-mail replaced by keyed hashes."""
    post, author = (
        {name: value for name, value in one or () if value not in (None, "")}
        for one in (given.post, given.author)
    )
    form = dict(given.form or ())
    # The full text is used if there is no excerpt.
    post.setdefault("excerpt", post.pop("text", None))
    comment = receive(
        site,
        services,
        address=given.address,
        email=author.pop("email", None),
        token=form.pop("token", None),
        text=given.text,
        post=Post(**post),
        author=Author(**author),
        form=FormEvidence(**form),
        site_comment_id=given.site_comment_id,
        written_at=given.written_at,
        language=given.language,
        user_agent=given.user_agent,
        reply_to=given.reply_to or None,
        kind=CommentKind.read(given.comment_type),
    )
    return NewComment(comment=comment, lane=lane, idempotency_key=key, keep=given.keep is not False)


def receive(
    site: Site,
    services: Services,
    *,
    post: Post,
    address: str | None = None,
    email: str | None = None,
    token: str | None = None,
    **values: Any,
) -> Comment:
    """Return a comment that arrived now; `values` are the other fields of `Comment`."""
    comment = Comment(
        id=CommentId(services.new_id("com")),
        site_id=site.id,
        received_at=services.clock(),
        post=replace(post, excerpt=cut(post.excerpt, MAX_EXCERPT_CHARS)),
        **values,
    )
    comment = with_sender(comment, services, address=address, email=email)
    return with_token(comment, token, services)


def keep_until(new: NewComment, site: Site, until: float) -> Case:
    """Store a comment; return its case, with the verdict if it is judged by `until`.

    `until` is a time of `time.perf_counter`. Raises what `keep_in_line` raises.
    """
    added, in_time = keep_in_line(new, seconds=until - time.perf_counter())
    case = None
    # A repeat may have its verdict.
    if in_time or added.comment_id != new.comment.id:
        case = waiter.for_verdict(added.comment_id, seconds=until - time.perf_counter())
    return case or unjudged(new, site, added)


def unjudged(new: NewComment, site: Site, added: Added) -> Case:
    """Return the case of a stored comment, without a verdict."""
    return Case(comment=replace(new.comment, id=added.comment_id), mode=site.settings.mode)


def _refusal_of(added: Added) -> ModerationError | None:
    """Return the error for a comment that was not stored, or None if it is stored."""
    if added.outcome is AddOutcome.CONFLICT:
        return ConflictError(
            "This Idempotency-Key or site_comment_id came before, with other content or not to be "
            f"kept, as {added.comment_id}. Send other content under another key."
        )
    if added.outcome is AddOutcome.DELETED:
        msg = "The site has deleted the comment with this site_comment_id. Nothing was stored."
        return EdgeError(msg, status=HTTPStatus.GONE)
    return None
