"""Detectors of links: where they lead, how they are written, and where they stand."""

from __future__ import annotations

import re

from service.domain.comment import Comment, ListKind
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.cues import Cue, find_cues
from service.signals.detector import Observation, detector
from service.signals.hosts import host_of, is_reference, sounds_commercial
from service.signals.links import Link
from service.signals.listings import listed
from service.signals.segments import segments_of
from service.signals.text import count_unspaced, find_words, inside
from service.signals.view import TextView, spans_of, spans_of_links, uncommon_links, view_of
from service.signals.wordlists import word_list, wordset


@detector
def commercial_link(comment: Comment, _history: History) -> Observation | None:
    """Fire where the words or the ending of a linked host are a seller's."""
    links = [link for link in uncommon_links(comment) if sounds_commercial(link.host)]
    if not links:
        return None
    return Observation(
        reason=Phrase("links to an address that is named like a shop or a service"),
        spans=spans_of_links(links),
    )


@detector
def reference_link(comment: Comment, _history: History) -> Observation | None:
    """Fire where every link that is offered leads to a common reference: evidence for ham."""
    links = view_of(comment).open_links
    if not links or not all(is_reference(link.host, link.domain) for link in links):
        return None
    return Observation(
        reason=Phrase("links only to references that readers commonly cite"),
        spans=spans_of_links(links),
    )


_SHORTENERS = word_list("shorteners")


@detector
def shortened_link(comment: Comment, _history: History) -> Observation | None:
    """Fire on links through a public shortener; its name alone is no link."""
    links = [link for link in view_of(comment).open_links if _is_shortened(link)]
    if not links:
        return None
    return Observation(
        reason=Phrase("hides where a link leads behind a shortening service"),
        spans=spans_of_links(links),
    )


def _is_shortened(link: Link) -> bool:
    if link.domain not in _SHORTENERS and link.host not in _SHORTENERS:
        return False
    _, _, path = link.target.rpartition(host_of(link.target))
    return len(path.strip("/")) > 1


_DOT_WORD = r"(?:dot|d0t|point|punto|punkt|ponto|punt|nokta|точка|крапка|נקודה|نقطة)"
# Without brackets only endings that are no everyday words: "at some point in", "the dot to".
_PLAIN_DOT = r"(?:dot|d0t|point|punto|punkt|ponto|точка|крапка|נקודה|نقطة)"
_PLAIN_TLD = (
    r"(?:com|org|shop|store|online|site|info|xyz|club|vip|bet|casino|co|io|app|ru|uk|tv|biz|gg)"
)
_NAME = r"(?<![\w.-])[\w-]{2,63}"
_TLD = (
    r"(?:com|net|org|shop|store|online|site|info|xyz|top|club|vip|bet|casino|co|io|app|ru|in|uk"
    r"|us|tv|me|biz"
    r"|pro|live|link|click|fun|space|website|gg|cc|to|example|de|fr|es|it|nl|pl|eu)"
)
# "dot net" and " .net" name a framework far more often than an address, so they are let be.
# "the dot com bubble" is as common, so neither may articles be the name nor periods of history
# follow.
_SPELLED = re.compile(
    rf"{_NAME} ?(?:[(\[{{<] ?(?:{_DOT_WORD}|[.,·•]) ?[)\]}}>]|[․。]) ?{_TLD}(?!\w)"
    rf"|(?<![\w.-])(?!(?:the|a|this|that|of|in|with|using|pre|post|and|or|by|on|every|each"
    rf"|at)(?!\w))"
    rf"[\w-]{{2,63}} {_PLAIN_DOT} {_PLAIN_TLD}(?!\w)"
    r"(?! (?:bubble|boom|crash|era|bust|crisis|framework|core|developer|world|days|product))"
    r"|(?<![\w.-])[\w-]{3,63} ?\. ?c ?o ?m(?<!\.com)(?!\w)"
    r"|(?<![\w.-])[\w-]{3,63} ?\.(?<= \.)(?:com|shop|store|online|org)(?!\w)(?! (?:domain"
    r"|address|name|site|tld))"
    r"|(?:remove|delete|without|paste with no|no) (?:the )?spaces?(?= |\)|,|\.|\Z)",
    re.IGNORECASE,
)
# Without one of these, or the word "dot" in some language, no address is spelled out.
_HINT = re.compile(r"[(\[{<] ?[.,·•]|[․。][A-Za-z]|\s\. ?[A-Za-z]|\.\s?[Cc] ?[Oo] ?[Mm]")
_DOT_WORDS = wordset("dot d0t point punto punkt ponto punt nokta точка крапка נקודה نقطة")
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
    spans = [plain.original(m.start(), m.end()) for m in (matches if found else ())]
    spans = [span for span in spans if not inside(view.shielded, span[0])]
    mail = [(contact.start, contact.end) for contact in view.contacts]
    spans = [span for span in spans if not any(a < span[1] and span[0] < b for a, b in mail)]
    if not spans:
        return None
    return Observation(
        reason=Phrase("writes a web address so that a link filter would miss it"),
        spans=spans_of(spans),
    )


# "see this", "Worth reading:" is what hurried readers put beside a link.
_MAX_WORDS_BESIDE = 2


@detector
def link_only(comment: Comment, _history: History) -> Observation | None:
    """Fire where at most two words stand outside the links, and none leads to a reference."""
    links = uncommon_links(comment)
    if not links or _words_outside(view_of(comment)) > _MAX_WORDS_BESIDE:
        return None
    return Observation(
        reason=Phrase("gives a link and hardly a word beside it"),
        spans=spans_of_links(links),
    )


def _words_outside(view: TextView) -> int:
    """Count the words outside links, up to one more than are let be."""
    count = done = 0
    for link in view.links:
        count += _words(view.text[done : link.start])
        done = link.end
        if count > _MAX_WORDS_BESIDE:
            return count
    return count + _words(view.text[done:])


def _words(text: str) -> int:
    """Count the words of a text in a script with spaces or without."""
    return max(len(text.split()), int(count_unspaced(text)))


# Somebody who shares their own work says "I" in the sentence with the link; those are left alone.
_OWN = (Cue.ME, Cue.HEDGE)


@detector
def link_after_remark(comment: Comment, _history: History) -> Observation | None:
    """Fire where the only links stand in the last sentence and nobody says "I" beside them."""
    links = uncommon_links(comment)
    segments = segments_of(comment)
    if not links or len(segments) < 2:
        return None
    last = segments[-1]
    if links[0].start < last.start or any(last.count(cue) for cue in _OWN):
        return None
    praised = any(segment.count(Cue.PRAISE) for segment in segments[:-1])
    return Observation(
        strength=1.0 if praised else 0.7,
        reason=Phrase("ends a remark without links in a sentence that gives one"),
        spans=spans_of_links(links),
    )


_FRONT_PAGE = re.compile(
    r"(?:[a-z]{1,8}://)?[^/?#]{1,253}/?(?:index\.(?:html?|php)|\?utm_[^#]{0,300})?\Z", re.IGNORECASE
)


@detector
def front_page_link(comment: Comment, _history: History) -> Observation | None:
    """Fire where a link names a site alone, in a sentence that holds no "I" and no doubt."""
    links = [link for link in uncommon_links(comment) if _FRONT_PAGE.match(link.target)]
    if not links:
        return None
    # Who shares their own work says so; readers cite a page, adverts name the shop.
    own = [(s.start, s.end) for s in segments_of(comment) if s.count(Cue.ME) or s.count(Cue.HEDGE)]
    offered = [link for link in links if not inside(own, link.start)]
    if not offered:
        return None
    return Observation(
        reason=Phrase("links to a site as a whole rather than to a page of it"),
        spans=spans_of_links(offered),
    )


_TRADE = (Cue.OFFER, Cue.VICE)
_MAX_ANCHOR_CHARS = 200
# One link of three words is enough; of hundreds of links the first ones are read.
_MAX_LINKS = 20
_MAX_ANCHOR_WORDS = 6
_MIN_NAMED = 2
_MIN_LETTERS = 3


@detector
def keyword_anchor(comment: Comment, _history: History) -> Observation | None:
    """Fire on words of an offer as a link, and on two words or more that name the target."""
    links = [link for link in uncommon_links(comment)[:_MAX_LINKS] if link.anchor]
    if not links:
        return None
    found = [link for link in links if _is_offer(link) or _names_target(link)]
    if not found:
        return None
    return Observation(
        reason=Phrase("puts a link on words of an offer, or on the name of the site it leads to"),
        spans=spans_of_links(found),
    )


def _is_offer(link: Link) -> bool:
    anchor = (link.anchor or "")[:_MAX_ANCHOR_CHARS]
    return any(hit.cue in _TRADE for hit in find_cues(anchor, find_words(anchor)))


def _names_target(link: Link) -> bool:
    words = {word.text for word in find_words((link.anchor or "")[:_MAX_ANCHOR_CHARS])}
    if len(words) > _MAX_ANCHOR_WORDS:
        return False
    name = link.domain.partition(".")[0].replace("-", "")
    return sum(len(word) >= _MIN_LETTERS and word in name for word in words) >= _MIN_NAMED


@detector
def listed_domain(comment: Comment, _history: History) -> Observation | None:
    """Fire on a linked domain that a list of domains holds, less the older the list was."""
    return listed(comment, ListKind.DOMAINS, what=Phrase("links to a domain"))
