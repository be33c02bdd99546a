"""Sees a mail domain from which moderators rejected earlier comments, and hardly approved any."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import MAIL_DOMAIN, clearest_rejection, comments, is_known


def rejected_mail_domain_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the mail domain lean clearly to rejecting.

    Silent for a person who has decisions of their own: these outrank those of others.
    """
    if is_known(history):
        return None
    found = clearest_rejection(history, (MAIL_DOMAIN,))
    if found is None:
        return None
    return Signal(
        name="rejected_mail_domain_before",
        strength=found.lean,
        reason=f"moderators rejected {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


REJECTED_MAIL_DOMAIN_BEFORE = Detector(
    name="rejected_mail_domain_before",
    detect=rejected_mail_domain_before,
    fires_on=(
        _example("email_domain", rejected=3),
        _example("email_domain", rejected=30),
        _example("email_domain", rejected=30, approved=2),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("email_domain", rejected=2),
        # A free mail service.
        _example("email_domain", rejected=900, approved=300),
        _example("email_domain", approved=7),
    ),
)
