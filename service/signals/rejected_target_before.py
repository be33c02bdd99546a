"""Sees a link to a domain for which moderators rejected earlier comments."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import TARGET, decided, rejected_before
from service.signals.hosts import host_of, registered_domain
from service.signals.reference_hosts import is_reference
from service.signals.uncommon_links import uncommon_links


def rejected_target_before(comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on comments that link to the same domain lean to rejecting.

    Silent where every link leads to a reference that readers commonly cite: what was decided on
    those was decided on other grounds.
    """
    if not (uncommon_links(comment) or _uncommon_site(comment)):
        return None
    return rejected_before("rejected_target_before", history, (TARGET,))


def _uncommon_site(comment: Comment) -> bool:
    host = host_of(comment.author.url or "")
    domain = registered_domain(host)
    return bool(domain) and not is_reference(host, domain)


_TEXT = "Same here, this helped: https://valves-and-more.com/stuck"


REJECTED_TARGET_BEFORE = Detector(
    name="rejected_target_before",
    detect=rejected_target_before,
    fires_on=(
        decided(_TEXT, "domains", rejected=1),
        decided(_TEXT, "domains", rejected=9, approved=1),
        decided(_TEXT, "domains", rejected=40),
        Example(
            text="Same here, the third valve was stuck.",
            author_url="https://valves-and-more.com",
            history=History(domains=TrackRecord(everywhere=Record(rejected=7))),
        ),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "domains", rejected=1, approved=1),
        decided(_TEXT, "domains", rejected=3, approved=9),
        decided(_TEXT, "domains", approved=7),
        Example(
            text="See https://en.wikipedia.org/wiki/Valve",
            history=History(domains=TrackRecord(everywhere=Record(rejected=7))),
        ),
    ),
)
