"""The views of the Akismet protocol."""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from flask import Response, current_app, g

from service.domain.case import Case
from service.domain.comment import MAX_URL_CHARS, CommentId, Label
from service.domain.delivery import Delivery
from service.domain.errors import StoreUnavailableError
from service.domain.site import Site
from service.domain.text import same_address
from service.domain.verdict import Outcome
from service.moderation.delivering import is_blatant, plain_answer, plan_callback
from service.moderation.revise import find_comment, report_comment, withdraw_comment
from service.moderation.sites import is_blog, register_blog
from service.ports.comments import NewComment
from service.web.akismet import answers
from service.web.akismet.call import CLIENT, AkismetCall, new_comment, read_text, shown
from service.web.api.intake import keep_until
from service.web.edge.admission import USUAL_PATIENCE_SECONDS
from service.web.edge.current import services, waiter
from service.web.edge.fields import cut

log = logging.getLogger(__name__)

# The shortest timeout of any client is one second (the Python client's default). A response is
# promised in 0.8 s; reading, storing and responding take up to 0.2 s of it.
WAIT_BUDGET_SECONDS = USUAL_PATIENCE_SECONDS
_SPAM_AUTHORS = frozenset({"viagra-test-123", "akismet-guaranteed-spam"})
PROMISES = "slopsieve_promises"
"""The app extension that stores the callbacks of late verdicts, in batches."""


def check_comment(call: AkismetCall) -> Response:
    """Return the verdict, or a provisional one after `WAIT_BUDGET_SECONDS`.

    Raises what `keep_until` raises; the response is then no verdict.
    """
    if not is_blog(call.fields.get("blog", "")):
        return answers.refused(answers.BAD_BLOG)
    if "user_ip" not in call.fields:
        missing = "user_ip is missing: send it, empty if it must not be told."
        return answers.text(missing, {answers.DEBUG_HELP: missing, answers.ERROR: missing})
    # Nothing is stored for test values and administrators. The protocol does not say which takes
    # precedence; here the test value does.
    author = call.fields.get("comment_author", "").strip()
    email = call.fields.get("comment_author_email", "").strip().lower()
    if author in _SPAM_AUTHORS or email == "akismet-guaranteed-spam@example.com":
        return answers.text("true")
    roles = call.fields.get("user_role", "").lower().split(",")
    if "administrator" in {role.strip() for role in roles}:
        return answers.text("false")
    site = register_blog(call.site, call.fields["blog"].strip(), services, actor=CLIENT)
    case = _judge(call, site, until=g.get("started", time.perf_counter()) + WAIT_BUDGET_SECONDS)
    if call.is_test:
        withdraw_comment(case.comment.id, services, by="Akismet test")
    label = plain_answer(case, site.settings)
    if label is None:
        return _late(call, case.comment.id, site)
    if label is Label.HAM:
        return answers.text("false")
    is_unsure = case.verdict is not None and case.verdict.outcome is Outcome.UNSURE
    if call.is_wordpress and is_unsure and case.decision is None:
        # WordPress puts `true` into its spam folder, where nobody looks, and an error into Pending.
        return answers.text(
            "false", {answers.ERROR: "The verdict is unsure: a person should look."}
        )
    blatant = case.verdict is not None and is_blatant(case.verdict, site.settings)
    return answers.text("true", {answers.PRO_TIP: "discard"} if blatant else None)


def take_report(call: AkismetCall, label: Label) -> Response:
    """Store a report, also of an unknown comment. A test is not stored.

    `blog` and `user_ip` are ignored: Coral sends no blog, and the reporter's address.
    """
    if not call.is_test:
        report = report_comment(
            label,
            site=call.site,
            text=read_text(call),
            services=services,
            post_url=cut(shown(call.fields, "permalink"), MAX_URL_CHARS),
            author_name=shown(call.fields, "comment_author"),
            reported_by=shown(call.fields, "reporter"),
        )
        log.info(
            "comment reported",
            extra={"report_id": report.id, "comment_id": report.comment_id, "label": label.value},
        )
    return answers.text("Thanks for making the web a better place.")


def add_deliveries(deliveries: Sequence[Delivery]) -> Sequence[None]:
    """Store deliveries; return one value for each, as a coalescer requires."""
    services.deliveries.add(deliveries)
    return [None] * len(deliveries)


def _judge(call: AkismetCall, site: Site, *, until: float) -> Case:
    """Return the case of this check, of a known or a new comment.

    `until` is a time of `time.perf_counter`. If it cannot be judged by then, the case is returned
    at once: see `keep_in_line`.
    """
    new = new_comment(call, site)
    known = _find_known(new, site) if call.recheck and not call.is_test else None
    if known is None:
        return keep_until(new, site, until)
    if known.verdict is not None or known.decision is not None:
        return known
    return waiter.for_verdict(known.comment.id, seconds=until - time.perf_counter()) or known


def _find_known(new: NewComment, site: Site) -> Case | None:
    """Return the case of a comment that is checked again, or None if it was edited since.

    A comment is not judged twice. An edited comment is a new one, also if only its link changed.
    """
    comment = new.comment
    case = find_comment(
        site,
        text=comment.text,
        services=services,
        post_url=comment.post.url,
        author_name=comment.author.name,
    )
    was = case.comment if case else comment
    same_author = same_address(was.author.url, comment.author.url)
    return case if same_author and same_address(was.post.url, comment.post.url) else None


def _late(call: AkismetCall, comment_id: CommentId, site: Site) -> Response:
    """Return the provisional response; the verdict is sent to the client's callback later."""
    callback = shown(call.fields, "callback")
    if callback and not call.is_test:
        delivery = plan_callback(
            callback, services, guid=g.guid, comment_id=comment_id, site=site, key=call.key
        )
        if delivery is not None:
            # Without a callback the client checks again.
            with suppress(StoreUnavailableError):
                current_app.extensions[PROMISES](delivery)
    log.info("verdict is late", extra={"comment_id": comment_id})
    return answers.text("false", {answers.RECHECK_AFTER: "60"})


def verify_key(call: AkismetCall) -> Response:
    """Return `valid` or `invalid`; the first valid call registers its blog as the site's."""
    blog = call.fields.get("blog", "")
    if not is_blog(blog):
        return answers.refused(answers.BAD_BLOG)
    register_blog(call.site, blog.strip(), services, actor=CLIENT)
    return answers.text("valid")


def get_subscription(call: AkismetCall) -> Response:
    """Return an active subscription, which WordPress requires to store a new key."""
    return answers.as_json(
        {
            "account_id": 1,
            "account_type": "self-hosted",
            "account_name": call.site.name,
            "status": "active",
            "next_billing_date": False,
            "limit_reached": False,
        }
    )


def get_stats(call: AkismetCall) -> Response:
    """Return the site's figures; an unsure comment counts as what the client received.

    WordPress requires `breakdown` to be an object and does not show it.
    """
    site, now = call.site, services.clock()
    days = {"60-days": 60, "6-months": 183}.get(call.fields.get("from", ""))
    since = now - timedelta(days=days) if days else site.created_at
    tally = services.cases.tally(site.id, received_from=since, received_before=now)
    held = site.settings.holds_unsure
    spam = tally.spam + (tally.unsure if held else 0)
    return answers.as_json(
        {
            "spam": spam,
            "ham": tally.ham + (0 if held else tally.unsure),
            "missed_spam": tally.missed_spam,
            "false_positives": tally.false_positives,
            "accuracy": f"{tally.share_right * 100:.2f}",
            # A moderator takes 10 seconds for each comment.
            "time_saved": spam * 10,
            "breakdown": {},
        }
    )
