"""Sees a reader sent to the writer's own page, channel or profile."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.quoted import is_quoted
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

_OWN = wordset(
    "my our mein meine meinem meinen meiner unsere unser unserem",
    "mon ma notre mi nuestra nuestro meu minha nosso мой",
)
_PLACES = wordset(
    "profile channel chanel channels page site website web blog bio name video videos homepage",
    "music cover covers account profil kanal seite webseite profilbild chaîne site perfil canal",
    "página sitio picture avatar канал профиль сайт",
)
# A gap may hold small words only, so that "click the link in my talk's page" stays out.
_PROMISE = re.compile(
    r"(?<!\w)(?:check|checkout|visit|see|view|look|click|subscribe|sub|follow|watch|go)"
    r"(?: (?:out|to|on|at|please|pls|plz|it|me|the|link|in|over|also|and)){0,4} (?:my|our)"
    r"(?: (?:new|own|latest|you ?tube|facebook|music|full|other))?"
    r" (?:profile|chan+els?|page|site|web ?site|blog|bio|name|videos?|homepage|music|covers?"
    r"|account|picture|avatar)(?!\w)"
    r"|(?<!\w)(?:link|details?|info|more|number|contact)(?: is| are)? (?:in|on) (?:my|our)"
    r" (?:profile|bio|name|page|channel)(?!\w)"
    r"|(?<!\w)(?:besucht?|schaut?|klickt?|siehe)(?: (?:doch|mal|auf|bei|euch|dir|an)){0,3}"
    r" (?:mein|meine|unsere?)[mnrs]? (?:profil|kanal|(?:web)?seite|blog)(?!\w)"
    r"|(?<!\w)(?:visite[zr]?|voir|regardez|visita|visiten|mira|visitem?|veja) (?:mon|ma|notre|mi"
    r"|nuestr[ao]|meu|minha|nosso) (?:profil|cha[iî]ne|site|page|blog|perfil|canal|p[aá]gina|sitio)"
    r"(?!\w)|(?<!\w)(?:заходите|смотрите|загляните|подпишитесь)(?: (?:на|в|ко мне на)){0,2}"
    r" (?:мой|наш) (?:канал|профиль|сайт|блог)(?!\w)",
    re.IGNORECASE,
)


def vague_promise(comment: Comment, _history: History) -> Signal | None:
    """Fire on a call to look at the writer's own page, wherever that may be."""
    view = view_of(comment)
    words = view.word_set
    if words.isdisjoint(_OWN) or words.isdisjoint(_PLACES):
        return None
    spans = [
        m.span()
        for m in _PROMISE.finditer(view.text)
        if not inside(view.shielded, m.start()) and not is_quoted(view.text, m.start())
    ]
    if not spans:
        return None
    return Signal(
        name="vague_promise",
        strength=1.0,
        reason="sends the reader to the writer's own page, channel or profile",
        spans=spans_of(spans),
    )


VAGUE_PROMISE = Detector(
    name="vague_promise",
    detect=vague_promise,
    fires_on=(
        Example(text="So relaxing! Please check out my channel for more of this"),
        Example(text="Earned my first 1000 from home, details in my profile"),
        Example(text="Toll! Schaut mal auf meinem Kanal vorbei, da gibt es mehr"),
        Example(text="Muy lindo, visita mi canal para ver los míos"),
    ),
    silent_on=(
        Example(text="My site broke the same way, see the third picture in your post"),
        Example(text="Subscribe to the channel of the water works, they explain it with my valve"),
        Example(text="The visit to our house took two hours and the plumber left his page open"),
        Example(text='He wrote "check out my channel" under every single video, and it worked'),
    ),
)
