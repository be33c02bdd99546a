"""Detects whether a comment offers a commercial link or a product."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Comment
from service.signals.contacts import ContactKind
from service.signals.hosts import host_of, registered_domain
from service.signals.lexicon import Cue
from service.signals.pitches import pitches
from service.signals.reference_hosts import is_reference
from service.signals.segments import Segment, may_name_brand, segments_of
from service.signals.shop_names import sounds_commercial
from service.signals.uncommon_links import uncommon_links
from service.signals.view import view_of


def offers(comment: Comment) -> bool:
    """Return True if a comment links a seller, gives a number or name to call, sells or pitches.

    A link to a source is no offer, and no product that is only named.
    """
    # Asked twice a comment: where its history is named, and by what reads it.
    return _offers(comment)


@lru_cache(maxsize=8)
def _offers(comment: Comment) -> bool:
    if any(sounds_commercial(link.host) for link in uncommon_links(comment)):
        return True
    if has_commercial_address(comment) or pitches(comment):
        return True
    view = view_of(comment)
    if any(contact.kind is not ContactKind.EMAIL for contact in view.contacts):
        return True
    # Describing sentences costs most; without a thing or a way to it none can sell.
    if not (view.open_links or view.contacts or may_name_brand(comment.text)):
        return False
    return any(map(_sells, segments_of(comment)))


def has_commercial_address(comment: Comment) -> bool:
    """Return True if the author's address is named like a shop or a service."""
    host = host_of(comment.author.url or "")
    if not host or not sounds_commercial(host):
        return False
    return not is_reference(host, registered_domain(host))


def links(comment: Comment) -> frozenset[str]:
    """Return the domains of the links that a comment offers, common references left out."""
    return frozenset(link.domain for link in uncommon_links(comment))


def _sells(segment: Segment) -> bool:
    """Return True if one sentence has a product or a way to it, and a price or an offer.

    2026-11-23: of 80 delayed payloads 34 % offer something, of 949 comments of regulars 2.5 %.
    """
    what = segment.links or segment.contacts or segment.brands
    return bool(what and (segment.prices or segment.count(Cue.OFFER)))
