"""Answers whether a key is valid: the call `verify-key`."""

from __future__ import annotations

from flask import Response

from service.moderation.admin.sites import is_blog, register_blog
from service.ports.services import Services
from service.web.akismet import answers
from service.web.akismet.call import CLIENT, AkismetCall


def verify_key(call: AkismetCall, services: Services) -> Response:
    """Return `valid` or `invalid`; the first valid one registers its blog as the site's."""
    if call.site is None:
        return answers.refused(answers.BAD_KEY if call.key_was_sent else answers.NO_KEY)
    blog = call.fields.get("blog", "")
    if not is_blog(blog):
        return answers.refused(answers.BAD_BLOG)
    register_blog(call.site, blog.strip(), services, actor=CLIENT)
    return answers.text(answers.VALID)
