"""Takes what a site says of a verdict: the calls `submit-spam` and `submit-ham`."""

from __future__ import annotations

import logging

from flask import Response

from service.domain.report import Label
from service.moderation.intake.report import report_comment
from service.web.akismet import answers
from service.web.akismet.call import AkismetCall, shown
from service.web.akismet.comment import read_text
from service.web.edge.current import services

log = logging.getLogger(__name__)


def take_report(call: AkismetCall, label: Label) -> Response:
    """Return the thanks; a report of a comment never seen is welcome too, a test teaches nothing.

    Needs neither `blog` nor `user_ip`: Coral sends no blog, and the address of whoever reports.
    """
    if not call.is_test:
        report = report_comment(
            label,
            site=call.site,
            text=read_text(call),
            services=services,
            post_url=shown(call.fields, "permalink"),
            author_name=shown(call.fields, "comment_author"),
            reported_by=shown(call.fields, "reporter"),
        )
        log.info(
            "comment reported",
            extra={"report_id": report.id, "comment_id": report.comment_id, "label": label.value},
        )
    return answers.text(answers.THANKS)
