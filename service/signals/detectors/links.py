"""Detectors of links: where they lead."""

from service.domain.comment import Comment, ListKind
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.detector import Detector, Observation
from service.signals.hosts import host_of
from service.signals.links import Link
from service.signals.listings import listed
from service.signals.view import spans_of, view_of
from service.signals.wordlists import word_list

_SHORTENERS = word_list("shorteners")


@Detector
def shortened_link(comment: Comment, _history: History) -> Observation | None:
    """Fire on links through a public shortener; its name alone is no link."""
    links = [link for link in view_of(comment).open_links if _is_shortened(link)]
    if not links:
        return None
    return Observation(
        reason=Phrase("hides where a link leads behind a shortening service"),
        spans=spans_of((link.start, link.end) for link in links),
    )


def _is_shortened(link: Link) -> bool:
    if link.domain not in _SHORTENERS and link.host not in _SHORTENERS:
        return False
    _, _, path = link.target.rpartition(host_of(link.target))
    return len(path.strip("/")) > 1


@Detector
def listed_domain(comment: Comment, _history: History) -> Observation | None:
    """Fire on a linked domain that a list of domains holds, less the older the list was."""
    return listed(comment, ListKind.DOMAINS, what=Phrase("links to a domain"))
