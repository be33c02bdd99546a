"""Sees link markup of forums, which means that one text was sent to many kinds of site."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import view_of

_FORUM = re.compile(
    r"\[(?:url|link)(?:=[^\[\]\n]{1,500}\]|\](?=\s?(?:https?:|www)))|\[/(?:url|link|b|i|u|color"
    r"|size|center|img)\]"
    r"|\[img\]|\[(?:color|size)=[^\[\]\n]{1,30}\]"
    r"|&lt;a href=|\{\{?link\}?\}|%(?:link|url|keyword|domain)%"
    r"|\{[^{}|\n]{1,60}\|[^{}\n]{1,200}\}",
    re.IGNORECASE,
)


def wrong_markup(comment: Comment, _history: History) -> Signal | None:
    """Fire on forum link markup, escaped links and unfilled templates outside code."""
    view = view_of(comment)
    spans = [m.span() for m in _FORUM.finditer(view.text) if not inside(view.shielded, m.start())]
    if not spans:
        return None
    return Signal(
        name="wrong_markup",
        strength=1.0 if len(spans) > 1 else 0.7,
        reason="carries markup of forums or of an unfilled template",
        spans=spans_of(spans),
    )


WRONG_MARKUP = Detector(
    name="wrong_markup",
    detect=wrong_markup,
    fires_on=(
        Example(text="Nice! [url=http://sofa-deals.ru]sofa[/url]"),
        Example(text="Great {post|article|blog}, thank you"),
        Example(text="see [link]http://sofa-deals.ru[/link]"),
    ),
    silent_on=(
        Example(text="I compared arr[i] with arr[b] and list[url] was empty"),
        Example(text="Old forums wrote `[url=x]y[/url]`, remember?"),
        Example(text="[the docs](https://docs.python.org) say otherwise"),
        Example(text="It prints {a: 1, b: 2} for me"),
    ),
)
