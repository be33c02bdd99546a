"""Sees a commercial address in the author's URL beside a remark that says little."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import host_of, registered_domain
from service.signals.lexicon import Cue
from service.signals.reference_hosts import is_reference
from service.signals.segments import segments_of
from service.signals.shop_names import sounds_commercial
from service.signals.view import view_of

# A remark longer than this usually says something of its own.
_MAX_WORDS = 45
_MAX_OVERLAP = 0.3


def author_link(comment: Comment, _history: History) -> Signal | None:
    """Fire where the author's address is named like a shop and the text would fit any post."""
    host = host_of(comment.author.url or "")
    if not host or not sounds_commercial(host):
        return None
    if is_reference(host, registered_domain(host)) or not _is_bland(comment):
        return None
    return Signal(
        name="author_link",
        strength=0.8,
        reason="comes with an author address named like a shop, beside a remark that says little",
    )


def _is_bland(comment: Comment) -> bool:
    """Say whether a text is short, link-free and without experience, figures or doubts."""
    view = view_of(comment)
    segments = segments_of(comment)
    if view.links or view.shielded or len(view.words) > _MAX_WORDS or not segments:
        return False
    specific = any(s.figures or s.asks or s.count(Cue.HEDGE) for s in segments)
    own = sum(s.count(Cue.ME) for s in segments)
    praise = sum(s.count(Cue.PRAISE) for s in segments)
    return not specific and own <= praise and max(s.overlap for s in segments) <= _MAX_OVERLAP


AUTHOR_LINK = Detector(
    name="author_link",
    detect=author_link,
    fires_on=(
        Example(text="Great post, very informative!", author_url="https://quick-loans-today.com/"),
        Example(
            text="Thanks for sharing this useful article.", author_url="http://essayhelp.online"
        ),
        Example(text="Such a lovely story.", author_url="http://hot-casino-bonus.bet"),
    ),
    silent_on=(
        Example(
            text="Great post, very informative!", author_url="https://ana-karlsson.example.org"
        ),
        Example(
            text="Mine hissed until I opened the third valve a quarter turn, but now it leaks.",
            author_url="https://karlsson-plumbing-service.example.com",
        ),
        Example(text="Thanks for sharing this useful article."),
        Example(text="Nice one", author_url="https://github.com/valve-shop"),
    ),
)
