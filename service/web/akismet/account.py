"""Answers what WordPress's settings page asks about a key: validity, subscription, figures."""

from __future__ import annotations

from datetime import timedelta

from flask import Response

from service.moderation.sites import is_blog, register_blog
from service.web.akismet import answers
from service.web.akismet.call import CLIENT, AkismetCall
from service.web.edge.current import services

_REACHES = {"60-days": timedelta(days=60), "6-months": timedelta(days=183)}
# What a moderator takes to look at one comment and bin it.
_SECONDS_SAVED_PER_SPAM = 10


def verify_key(call: AkismetCall) -> Response:
    """Return `valid` or `invalid`; the first valid one registers its blog as the site's."""
    blog = call.fields.get("blog", "")
    if not is_blog(blog):
        return answers.refused(answers.BAD_BLOG)
    register_blog(call.site, blog.strip(), services, actor=CLIENT)
    return answers.text(answers.VALID)


def get_subscription(call: AkismetCall) -> Response:
    """Return an active subscription: WordPress stores a new key for no other."""
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
    """Return the site's figures; an unsure comment counts as what the client was told.

    WordPress wants a `breakdown` that is an object, and shows none of it.
    """
    site, now = call.site, services.clock()
    reach = _REACHES.get(call.fields.get("from", ""))
    tally = services.cases.tally(
        site.id, received_from=now - reach if reach else site.created_at, received_before=now
    )
    held = site.settings.holds_unsure
    spam = tally.spam + (tally.unsure if held else 0)
    return answers.as_json(
        {
            "spam": spam,
            "ham": tally.ham + (0 if held else tally.unsure),
            "missed_spam": tally.missed_spam,
            "false_positives": tally.false_positives,
            "accuracy": f"{tally.share_right * 100:.2f}",
            "time_saved": spam * _SECONDS_SAVED_PER_SPAM,
            "breakdown": {},
        }
    )


def token(_call: AkismetCall) -> Response:
    """Return an empty token: it opens nothing but frames of the vendor's own site."""
    return answers.text("")


def deactivate(_call: AkismetCall) -> Response:
    """Return that the plugin may go; the key stays valid for its return."""
    return answers.text(answers.DEACTIVATED)
