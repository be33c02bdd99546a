"""Sees an invitation to talk elsewhere: contact details, or a request for the reader's."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.contacts import ContactKind
from service.signals.detector import Detector, Example
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import TextView, view_of
from service.signals.wordset import wordset

_REQUEST = re.compile(
    r"(?<!\w)(?:kindly |please |pls )?(?:share|send|drop|give|leave|reply (?:with|here)|text"
    r"|inbox)"
    r"(?: (?:me|us|with))? (?:your|ur|you) (?:full )?(?:phone|mobile|number|contact|whats ?app"
    r"|telegram|e-?mail|mail"
    r"|cv|details|name and|address and|ph)(?!\w)"
    r"|(?<!\w)(?:inbox|dm|pm|message|text|whats ?app|hit) me(?: up)? (?:for|if you|to|privately"
    r"|and)(?!\w)"
    r"|(?<!\w)hmu(?!\w)|(?<!\w)add me on (?:whats ?app|telegram|wechat|skype|viber)",
    re.IGNORECASE,
)
# A number or a handle wants using at once; a mail address is also what sincere people leave.
_STRENGTH = {ContactKind.EMAIL: 0.6, ContactKind.PHONE: 0.9, ContactKind.HANDLE: 1.0}


_ASKS = wordset("share send drop give leave reply text inbox dm pm message whatsapp whats hit add")
_FROM_READER = wordset(
    "phone mobile number contact whatsapp app telegram email e mail cv details name address ph",
    "privately wechat skype viber for if to and",
)


def contact_bait(comment: Comment, _history: History) -> Signal | None:
    """Fire on contact details outside code, and where the reader is asked for theirs."""
    view = view_of(comment)
    requests = _requests(view)
    if not view.contacts and not requests:
        return None
    kinds = dict.fromkeys(contact.kind for contact in view.contacts)
    gives = " and ".join(kinds)
    reason = f"gives {gives}" if gives else "asks the reader to get in touch in private"
    return Signal(
        name="contact_bait",
        strength=max((_STRENGTH[kind] for kind in kinds), default=0.8),
        reason=reason,
        spans=spans_of([*((c.start, c.end) for c in view.contacts), *requests]),
    )


def _requests(view: TextView) -> list[tuple[int, int]]:
    """Return where the reader is asked to get in touch or for a number."""
    words = view.word_set
    if "hmu" not in words and (words.isdisjoint(_ASKS) or words.isdisjoint(_FROM_READER)):
        return []
    found = (m.span() for m in _REQUEST.finditer(view.text))
    return [span for span in found if not inside(view.shielded, span[0])]


CONTACT_BAIT = Detector(
    name="contact_bait",
    detect=contact_bait,
    fires_on=(
        Example(text="Lovely read. For urgent loans WhatsApp +44 7700 900123"),
        Example(text="he cured me of herpes, write drobabaherbs (at) gmail.com"),
        Example(text="Kindly share your phone number, we have an offer for you"),
        Example(text="message me on telegram @rita_signals_fx"),
    ),
    silent_on=(
        Example(text="Clone it with `git clone git@example.com:ana/valves.git` first"),
        Example(text="I measured 1013 hPa on 2025-11-03 and 998 on 2025-11-04, room at 21.5"),
        Example(text="Do you publish your e-mail address anywhere? I would send the photos."),
        Example(text="WhatsApp compresses photos, so the serial number was unreadable"),
    ),
)
