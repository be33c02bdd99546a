"""Sees a mail domain from which moderators rejected earlier comments, and hardly approved any."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import MAIL_DOMAIN, decided, is_known, rejected_before


def rejected_mail_domain_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the mail domain lean clearly to rejecting.

    Silent for a person who has decisions of their own: these outrank those of others.
    """
    if is_known(history):
        return None
    return rejected_before("rejected_mail_domain_before", history, (MAIL_DOMAIN,))


_TEXT = "Same here, the third valve was stuck."


REJECTED_MAIL_DOMAIN_BEFORE = Detector(
    name="rejected_mail_domain_before",
    detect=rejected_mail_domain_before,
    fires_on=(
        decided(_TEXT, "email_domain", rejected=3),
        decided(_TEXT, "email_domain", rejected=30),
        decided(_TEXT, "email_domain", rejected=30, approved=2),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "email_domain", rejected=2),
        # A free mail service.
        decided(_TEXT, "email_domain", rejected=900, approved=300),
        decided(_TEXT, "email_domain", approved=7),
    ),
)
