"""Answers whether a comment is spam: the call `comment-check`."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from flask import Response

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.errors import NotFoundError, StoreUnavailableError
from service.domain.normal_form import same_address
from service.domain.report import Label
from service.domain.site import Site, SiteKey
from service.moderation.akismet_callback import promise_callback
from service.moderation.plain_answer import is_blatant, plain_answer
from service.moderation.report import find_comment
from service.moderation.sites import is_blog, register_blog
from service.ports import NewComment, Services
from service.web.akismet import answers
from service.web.akismet.call import AkismetCall, shown
from service.web.akismet.comment import new_comment
from service.web.intake import Submit
from service.web.waiting import Waiting

log = logging.getLogger(__name__)

# The shortest patience of any client is one second (the Python one's default). From the request's
# arrival to here leaves 0.2 s of the 0.8 s promised for reading, keeping and answering.
WAIT_BUDGET_SECONDS = 0.6
# When to ask again. The verdict is there long before, unless the workers are far behind; a client
# with a callback hears of it earlier.
RECHECK_AFTER_SECONDS = 60
_SPAM_AUTHORS = frozenset({"viagra-test-123", "akismet-guaranteed-spam"})
_SPAM_EMAIL = "akismet-guaranteed-spam@example.com"
_ADMINISTRATOR = "administrator"


def check_comment(
    call: AkismetCall,
    guid: str,
    services: Services,
    submit: Submit,
    waiting: Waiting,
    *,
    arrived: float,
) -> Response:
    """Return the answer to a check; `arrived` is when the request did, by `time.perf_counter`.

    Raises what keeping the comment raises: there is no answer then that could be taken for a
    verdict.
    """
    headers = {answers.GUID: guid}
    if call.site is None or call.key is None:
        return answers.refused(answers.BAD_KEY if call.key_was_sent else answers.NO_KEY, headers)
    if not is_blog(call.fields.get("blog", "")):
        return answers.refused(answers.BAD_BLOG, headers)
    if "user_ip" not in call.fields:
        return _unjudged("user_ip is missing: send it, empty if it must not be told.", headers)
    forced = _forced(call)
    if forced is not None:
        return answers.text(forced, headers)
    site = register_blog(call.site, call.fields["blog"].strip(), services, actor="Akismet client")
    kept = _keep(call, site, services, submit)
    case = _await(kept, waiting, until=arrived + WAIT_BUDGET_SECONDS)
    if call.is_test:
        services.comments.withdraw(kept.comment.id, at=services.clock())
    label = plain_answer(case, site.settings)
    log.info(
        "comment checked",
        extra={"comment_id": case.comment.id, "guid": guid, "answer": label, "test": call.is_test},
    )
    if label is None:
        return _late(call, case.comment.id, guid, site=site, key=call.key, services=services)
    if label is Label.HAM:
        return answers.text(answers.FALSE, headers)
    if case.verdict is not None and is_blatant(case.verdict, site.settings):
        headers[answers.PRO_TIP] = "discard"
    return answers.text(answers.TRUE, headers)


def _forced(call: AkismetCall) -> str | None:
    """Return the documented answer to the documented test values; nothing is kept of those.

    Documentation leaves open what wins if both are there: whoever sends a test name, tests.
    """
    author = call.fields.get("comment_author", "").strip()
    email = call.fields.get("comment_author_email", "").strip().lower()
    if author in _SPAM_AUTHORS or email == _SPAM_EMAIL:
        return answers.TRUE
    roles = {role.strip().lower() for role in call.fields.get("user_role", "").split(",")}
    return answers.FALSE if _ADMINISTRATOR in roles else None


def _unjudged(help_text: str, headers: dict[str, str]) -> Response:
    shown_text = answers.header_text(help_text)
    return answers.text(
        help_text, {**headers, answers.DEBUG_HELP: shown_text, answers.ERROR: shown_text}
    )


def _keep(call: AkismetCall, site: Site, services: Services, submit: Submit) -> Case:
    """Return the case that this check is about: a known comment's, or that of a new one."""
    new = new_comment(call, site, services)
    known = _find_known(new, site, services) if call.recheck and not call.is_test else None
    if known is not None:
        return known
    added = submit(new)
    kept = replace(new.comment, id=added.comment_id)
    return Case(comment=kept, mode=site.settings.mode)


def _find_known(new: NewComment, site: Site, services: Services) -> Case | None:
    """Return the comment that is asked about again, None if it is another one by now.

    No comment is judged twice; an edited one is a new one, also if only its link was edited.
    """
    comment = new.comment
    comment_id = find_comment(
        site,
        text=comment.text,
        services=services,
        post_url=comment.post.url,
        author_name=comment.author.name,
    )
    if comment_id is None:
        return None
    try:
        case = services.cases.get(comment_id, site_id=site.id)
    except NotFoundError:
        return None
    was = case.comment
    is_same = same_address(was.author.url, comment.author.url) and same_address(
        was.post.url, comment.post.url
    )
    return case if is_same else None


def _await(kept: Case, waiting: Waiting, *, until: float) -> Case:
    if kept.verdict is not None or kept.decision is not None:
        return kept
    seconds = until - time.perf_counter()
    return waiting.for_verdict(kept.comment.id, seconds=seconds) or kept


def _late(
    call: AkismetCall,
    comment_id: CommentId,
    guid: str,
    *,
    site: Site,
    key: SiteKey,
    services: Services,
) -> Response:
    """Return the provisional answer; the comment is kept, and its verdict will be told."""
    headers = {answers.GUID: guid, answers.RECHECK_AFTER: str(RECHECK_AFTER_SECONDS)}
    callback = shown(call.fields, "callback")
    if callback and not call.is_test:
        promised = _promise(callback, comment_id, guid, site=site, key=key, services=services)
        log.info("verdict is late", extra={"comment_id": comment_id, "callback": promised})
    return answers.text(answers.FALSE, headers)


def _promise(
    url: str, comment_id: CommentId, guid: str, *, site: Site, key: SiteKey, services: Services
) -> bool:
    """Return whether the verdict will be told; the client asks again by itself if not."""
    try:
        return promise_callback(
            url, guid=guid, comment_id=comment_id, site=site, key=key, services=services
        )
    except StoreUnavailableError:
        return False
