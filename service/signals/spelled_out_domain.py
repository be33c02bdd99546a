"""Sees a web address written so that link filters miss it."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

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


def spelled_out_domain(comment: Comment, _history: History) -> Signal | None:
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
    return Signal(
        name="spelled_out_domain",
        strength=1.0,
        reason="writes a web address so that a link filter would miss it",
        spans=spans_of(spans),
    )


SPELLED_OUT_DOMAIN = Detector(
    name="spelled_out_domain",
    detect=spelled_out_domain,
    fires_on=(
        Example(text="Great post! See brightloans dot com for more"),
        Example(text="visit cheapseo[dot]shop today"),
        Example(text="ganz viel Auswahl: ventilwelt (punkt) de"),
        Example(text="vigoral-meds . c o m (remove space) no doctor"),
    ),
    silent_on=(
        Example(text="I lived through the dot com bubble, every dot com product was a joke"),
        Example(text="take the dot product of both. Community projects do it like that."),
        Example(text="All .com domains were gone, so I took a .org one"),
        Example(text="At some point in time I lost the point to it, connect each dot to the next"),
        Example(
            text="We moved from dot net to Go, then the .net team to C. No spaces in the path!"
        ),
    ),
)
