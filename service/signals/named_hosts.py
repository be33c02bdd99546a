"""Finds every host that a text names, in whatever spelling: what a standing order must not miss.

Unlike `links`, which reads what a writer offers, this reads everything: quotations, code, the
targets inside redirectors, and dots that are written as words or as other characters.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from models.undisguise import HIDDEN, plain_letter, undisguise
from service.signals.hosts import registered_domain
from service.signals.markup import without_markup
from service.signals.phrases import ALONE, MARKS

# The most labels that a name may have in DNS.
_MAX_LABELS = 127
# A redirector's target is encoded once, that of a redirector inside a redirector twice.
_MAX_DECODINGS = 3
# What follows a host without a space is a sentence or two: "badshop.com.Then".
_MAX_LABELS_BEHIND = 3

_HIDDEN = re.compile(f"[{HIDDEN}]")
_USER_INFO = re.compile(r"(?<=//)[^\s/?#\\<>]*@")
_MAIL_NAME_CHAR = re.compile(r"\w@\Z")
_OTHER_DOTS = re.compile("[\u3002\uff61\u00b7\u2022\u2219\u2027\u30fb]")
# Chinese, Japanese and Korean leave no blank beside it.
_UNSPACED_DOT = "点|點|ドット|どっと|닷|점"
_DOT_WORDS = (
    "dot|d0t|punkt|punt|point|pont|punto|ponto|kropka|tečka|nokta|titik|chấm|точка|крапка|نقطة"
    f"|נקודה|डॉट|จุด|{_UNSPACED_DOT}"
)
_WRITTEN_DOT = re.compile(
    rf"[ \t]{{0,3}}[\[({{<*_~-][ \t]{{0,2}}(?:\.|{_DOT_WORDS})[ \t]{{0,2}}[\])}}>*_~-][ \t]{{0,3}}"
    rf"|[ \t]{{1,3}}(?:{_DOT_WORDS})[ \t]{{1,3}}"
    rf"|(?<=[a-z0-9])(?:{_UNSPACED_DOT})(?=[a-z0-9])"
    r"|[ \t]{1,3}\.[ \t]{0,3}(?=\w)",
    re.IGNORECASE,
)
# Beside a name other words may stand unparted in scripts without spaces ("请看badshop.com吧"), and
# a domain may be in such a script itself: every text is read both ways.
_RUNS = (
    re.compile(rf"(?:[^\W{ALONE}]|[{MARKS}.-])+"),
    re.compile(rf"[\w{MARKS}.-]+"),
)
_WORD_BEHIND = re.compile(f"[-_]|(?<=[a-z])[{ALONE}]")
# Letters in squares and small capitals have no compatibility form.
_STYLED = {
    code: plain
    for first, last in ((0x250, 0x2AF), (0x1D00, 0x1D22), (0xA730, 0xA731), (0x1F150, 0x1F189))
    for code in range(first, last + 1)
    if (plain := plain_letter(chr(code))) != chr(code)
}
_PLACEHOLDER = "\ue000"


def named_hosts(text: str) -> frozenset[str]:
    """Return the hosts that a text names, in lower case. Takes time linear in its length.

    A mail address names none: its domain is that of a mailbox.
    """
    return frozenset(
        host
        for reading in _readings(text)
        for runs in _RUNS
        for run in runs.finditer(reading)
        if "." in run[0]
        and not _MAIL_NAME_CHAR.search(reading, max(0, run.start() - 2), run.start())
        for host in _hosts_of(run[0])
    )


def _readings(text: str) -> tuple[str, ...]:
    """Return the text as written, without hidden characters, decoded, and without markup.

    In each, written dots become dots.

    What one reading joins another keeps apart, so none can hide a name from the others.
    """
    seen = unicodedata.normalize("NFKC", _HIDDEN.sub("", text))
    decoded = _decoded(seen)
    texts = [text, seen, decoded, *(_bare(one) for one in {seen, decoded})]
    texts = [_USER_INFO.sub("", one) for one in dict.fromkeys(texts)]
    texts += [_WRITTEN_DOT.sub(".", _OTHER_DOTS.sub(".", one)) for one in texts]
    return tuple(dict.fromkeys(one.lower() for one in texts if "." in one))


def _bare(text: str) -> str:
    """Return the text without markup and disguises; hosts stand in no shield of their own."""
    styled = without_markup(text).translate(_STYLED)
    return undisguise(styled.replace(".", _PLACEHOLDER)).text.replace(_PLACEHOLDER, ".")


def _decoded(text: str) -> str:
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(html.unescape(text))
        if decoded == text:
            break
        text = decoded
    # What was encoded may be hidden or of another width itself.
    return unicodedata.normalize("NFKC", _HIDDEN.sub("", text))


def _hosts_of(run: str) -> Iterator[str]:
    """Yield the hosts of a run of labels and dots; words that follow the last label are no part."""
    for name in run.split(".."):
        if "." not in name.strip("."):
            continue
        labels = [label.strip("-_") for label in name.strip(".").split(".")[-_MAX_LABELS:]]
        if not labels[-1].startswith("xn--"):
            labels[-1] = _WORD_BEHIND.split(labels[-1], maxsplit=1)[0]
        yield ".".join(labels)
        if registered_domain(".".join(labels[-2:])):
            continue
        for behind in range(1, min(_MAX_LABELS_BEHIND, len(labels) - 2) + 1):
            yield ".".join(labels[:-behind])
