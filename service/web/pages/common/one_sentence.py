"""Says in one sentence what a comment looks like, in words that the verdict bears out."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.campaign import LOW_P_SPAM, SELLS_P_SPAM
from service.domain.verdict import Verdict
from service.scoring.weights import SET_WEIGHTS, Family
from service.signals.links import Link
from service.web.edge.language import noted
from service.web.pages.common.pages import pages

# What is known of the sender and of others' comments, rather than seen in this one.
_FROM_ELSEWHERE = frozenset(
    name
    for name, one in SET_WEIGHTS.items()
    if one.family not in {Family.REACTIONS, Family.ACCOUNTS}
)
# A host that is longer says nothing more in a sentence; where it leads stands below the comment.
_MAX_HOST_CHARS = 60
# Without a seam to point at, a comment is called an advertisement from as far above the middle as
# one that is called sincere lies below it.
_READS_LIKE_SPAM = 1 - LOW_P_SPAM
# By how the verdict stands: without a link, with one; each without and with a seam before it.
_STRONG = (
    (noted("Reads like an advertisement."), noted("A remark, then an advertisement.")),
    (
        noted("Reads like an advertisement for %(host)s."),
        noted("A remark, then an advertisement for %(host)s."),
    ),
)
_DOUBTFUL = (
    (
        noted("It could be sincere or an advertisement."),
        noted("A remark; what follows may be an advertisement."),
    ),
    (
        noted("It could be sincere or an advertisement for %(host)s."),
        noted("A remark; what follows may be an advertisement for %(host)s."),
    ),
)
_WEAK = (
    (noted("Reads like a sincere remark."), noted("Reads like a sincere remark.")),
    (
        noted("Reads like a sincere remark; it links to %(host)s."),
        noted("Reads like a sincere remark; it links to %(host)s."),
    ),
)
_KNOWN_FOR_SPAM = noted("What is known of its sender or its links suggests spam.")
_KNOWN_FOR_HAM = noted("What is known of its sender suggests a sincere remark.")


@pages.app_template_filter()
def meaning(verdict: Verdict, links: Sequence[Link]) -> tuple[str, str]:
    """Return what the comment looks like as a text to translate, and the host to put into it.

    It speaks of an advertisement only as far as the probability does. Where what is known from
    elsewhere outweighs what is read, it says that instead. The host is a stranger's.
    """
    if verdict.p_spam < LOW_P_SPAM:
        known, says = _known(verdict) < 0, _WEAK
    elif verdict.p_spam < (SELLS_P_SPAM if _has_seam(verdict) else _READS_LIKE_SPAM):
        known, says = False, _DOUBTFUL
    else:
        known, says = _known(verdict) > 0, _STRONG
    if known and abs(_known(verdict)) > abs(_read(verdict)):
        return _KNOWN_FOR_SPAM if verdict.p_spam >= SELLS_P_SPAM else _KNOWN_FOR_HAM, ""
    host = _host(verdict, links)
    return says[bool(host)][_has_seam(verdict)], host


def _known(verdict: Verdict) -> float:
    """Return the log-odds of what is known from elsewhere."""
    return sum(w.contribution for w in verdict.signals if w.signal.name in _FROM_ELSEWHERE)


def _read(verdict: Verdict) -> float:
    """Return the log-odds of what is read in the comment itself."""
    signals = (w for w in verdict.signals if w.signal.name not in _FROM_ELSEWHERE)
    return verdict.model_contribution + sum(w.contribution for w in signals)


def _has_seam(verdict: Verdict) -> bool:
    """Return True if an advertisement begins after other words."""
    return any(
        span.start in weighed.signal.boundaries
        for weighed in verdict.signals
        for span in weighed.signal.spans
    )


def _host(verdict: Verdict, links: Sequence[Link]) -> str:
    """Return where it leads: by the first link within what looks promoted, else the first one."""
    offered = [link for link in links if not link.shielded]
    promoted = [
        link
        for link in offered
        if any(s.start < link.end and link.start < s.end for s in verdict.promo_spans)
    ]
    for link in [*promoted, *offered]:
        host = link.domain if link.host.endswith(link.domain) else link.host
        return host if len(host) <= _MAX_HOST_CHARS else ""
    return ""
