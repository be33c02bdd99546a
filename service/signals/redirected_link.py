"""Sees a link that goes through another site's redirector."""

from __future__ import annotations

import re
from urllib.parse import unquote

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import host_of, registered_domain
from service.signals.links import Link
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

_CARRIED = re.compile(
    r"[?&](?P<name>url|u|q|to|target|dest|destination|redirect|redirect_ur[il]|link|goto|out|r|z"
    r"|next|return_?url|site|adurl)=(?P<address>(?:https?(?::|%3a)|www\.).{1,300})",
    re.IGNORECASE | re.DOTALL,
)
# "q" is also what people search for; only these pages lead on to it.
_LEADS_ON = re.compile(r"/(?:url|redirect|away(?:\.php)?)/?\?", re.IGNORECASE)
_MAX_TARGET_CHARS = 2_048
# A page translated, checked or kept by these is the page itself, shown by somebody else.
_SHOW_PAGES = wordset("translate.google.com validator.w3.org web.archive.org archive.org")


def redirected_link(comment: Comment, _history: History) -> Signal | None:
    """Fire on an address that carries the address of another registered domain to lead to."""
    links = [link for link in view_of(comment).open_links if _leads_elsewhere(link)]
    if not links:
        return None
    return Signal(
        name="redirected_link",
        strength=1.0,
        reason="leads to a site by way of another site's redirector",
        spans=spans_of((link.start, link.end) for link in links),
    )


def _leads_elsewhere(link: Link) -> bool:
    if "=" not in link.target or link.host in _SHOW_PAGES:
        return False
    target = link.target[:_MAX_TARGET_CHARS]
    carried = _CARRIED.search(target)
    if carried is None or (carried["name"].lower() == "q" and not _LEADS_ON.search(target)):
        return False
    there = registered_domain(host_of(unquote(carried["address"])))
    return bool(there) and there != link.domain


REDIRECTED_LINK = Detector(
    name="redirected_link",
    detect=redirected_link,
    fires_on=(
        Example(text="So true! https://www.google.com/url?q=https://valvehaus.shop/sale&sa=D"),
        Example(
            text="more here: https://l.facebook.com/l.php?u=https%3A%2F%2Fmintloan.example.com"
        ),
        Example(text="<a href='http://town-hall.example.org/go?url=http://spin.bet/'>photos</a>"),
    ),
    silent_on=(
        Example(text="Search it: https://www.google.com/search?q=https://valves.example.com+hiss"),
        Example(
            text="They log you out: https://id.example.com/login?next=https://www.example.com/me"
        ),
        Example(text="https://web.archive.org/web/2009/http://valves.example.org/ still has it"),
        Example(
            text="In English: https://translate.google.com/translate?u=https://ofen.example.de"
        ),
    ),
)
