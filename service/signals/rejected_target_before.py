"""Sees a link to a domain for which moderators rejected earlier comments."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.bare_link import uncommon_links
from service.signals.detector import Detector, Example
from service.signals.earlier import TARGET, clearest_rejection, comments
from service.signals.hosts import host_of, registered_domain
from service.signals.reference_hosts import is_reference


def rejected_target_before(comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on comments that link to the same domain lean to rejecting.

    Silent where every link leads to a reference that readers commonly cite: what was decided on
    those was decided on other grounds.
    """
    if not (uncommon_links(comment) or _uncommon_site(comment)):
        return None
    found = clearest_rejection(history, (TARGET,))
    if found is None:
        return None
    return Signal(
        name="rejected_target_before",
        strength=found.lean,
        reason=f"moderators rejected {comments(found.count)} {found.where}",
    )


def _uncommon_site(comment: Comment) -> bool:
    host = host_of(comment.author.url or "")
    domain = registered_domain(host)
    return bool(domain) and not is_reference(host, domain)


_TEXT = "Same here, this helped: https://valves-and-more.com/stuck"


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


REJECTED_TARGET_BEFORE = Detector(
    name="rejected_target_before",
    detect=rejected_target_before,
    fires_on=(
        _example("domains", rejected=1),
        _example("domains", rejected=9, approved=1),
        _example("domains", rejected=40),
        Example(
            text="Same here, the third valve was stuck.",
            author_url="https://valves-and-more.com",
            history=History(domains=Standing(everywhere=Record(rejected=7))),
        ),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("domains", rejected=1, approved=1),
        _example("domains", rejected=3, approved=9),
        _example("domains", approved=7),
        Example(
            text="See https://en.wikipedia.org/wiki/Valve",
            history=History(domains=Standing(everywhere=Record(rejected=7))),
        ),
    ),
)
