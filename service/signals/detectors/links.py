"""Detectors of links: where they lead and how they are written."""

import re

from service.domain.comment import Comment, ListKind
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.detector import Observation, detector
from service.signals.hosts import host_of
from service.signals.links import Link
from service.signals.listings import listed
from service.signals.text import inside
from service.signals.view import spans_of, view_of
from service.signals.wordlists import word_list, wordset

_SHORTENERS = word_list("shorteners")


@detector
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


_DOT_WORDS = wordset("dot d0t point punto punkt ponto punt nokta точка крапка נקודה نقطة")
# Without brackets only endings that are no everyday words: "at some point in", "the dot to".
_PLAIN_DOT = r"(?:dot|d0t|point|punto|punkt|ponto|точка|крапка|נקודה|نقطة)"
_PLAIN_TLD = "com|org|shop|store|online|site|info|xyz|club|vip|bet|casino|co|io|app|ru|uk|tv|biz|gg"
_TLD = (
    f"{_PLAIN_TLD}|net|top|in|us|me|pro|live|link|click|fun|space|website|cc|to|example|de|fr|es|it"
    "|nl|pl|eu"
)
# "dot net" and " .net" name a framework far more often than an address, so they are let be.
# "the dot com bubble" is as common, so neither may articles be the name nor periods of history
# follow.
_SPELLED = re.compile(
    rf"(?<![\w.-])[\w-]{{2,63}}"
    rf" ?(?:[(\[{{<] ?(?:{'|'.join(sorted(_DOT_WORDS))}|[.,·•]) ?[)\]}}>]|[․。]) ?(?:{_TLD})(?!\w)"
    r"|(?<![\w.-])"
    r"(?!(?:the|a|this|that|of|in|with|using|pre|post|and|or|by|on|every|each|at)(?!\w))"
    rf"[\w-]{{2,63}} {_PLAIN_DOT} (?:{_PLAIN_TLD})(?!\w)"
    r"(?! (?:bubble|boom|crash|era|bust|crisis|framework|core|developer|world|days|product))"
    r"|(?<![\w.-])[\w-]{3,63} ?\. ?c ?o ?m(?<!\.com)(?!\w)"
    r"|(?<![\w.-])[\w-]{3,63} ?\.(?<= \.)(?:com|shop|store|online|org)(?!\w)"
    r"(?! (?:domain|address|name|site|tld))"
    r"|(?:remove|delete|without|paste with no|no) (?:the )?spaces?(?= |\)|,|\.|\Z)",
    re.IGNORECASE,
)
# Without one of these, or the word "dot" in some language, no address is spelled out.
_HINT = re.compile(r"[(\[{<] ?[.,·•]|[․。][A-Za-z]|\s\. ?[A-Za-z]|\.\s?[Cc] ?[Oo] ?[Mm]")
_SPACE_HINT = re.compile(r"spaces?\Z", re.IGNORECASE)


@detector
def spelled_out_domain(comment: Comment, _history: History) -> Observation | None:
    """Fire on a web address in words or with a broken dot; on "remove space" only beside one."""
    view = view_of(comment)
    plain = view.plain
    if view.word_set.isdisjoint(_DOT_WORDS) and not _HINT.search(plain.text):
        return None
    matches = list(_SPELLED.finditer(plain.text))
    found = [m for m in matches if not _SPACE_HINT.search(m[0], max(0, len(m[0]) - 6))]
    written = (plain.original(m.start(), m.end()) for m in (matches if found else ()))
    spans = [
        (start, end)
        for start, end in written
        if not inside(view.shielded, start)
        and not any(contact.start < end and start < contact.end for contact in view.contacts)
    ]
    if not spans:
        return None
    return Observation(
        reason=Phrase("writes a web address so that a link filter would miss it"),
        spans=spans_of(spans),
    )


@detector
def listed_domain(comment: Comment, _history: History) -> Observation | None:
    """Fire on a linked domain that a list of domains holds, less the older the list was."""
    return listed(comment, ListKind.DOMAINS, what=Phrase("links to a domain"))
