"""Tells an address that is named like a shop or a service from any other."""

from __future__ import annotations

import re

from service.signals.hosts import registered_domain, suffix_of
from service.signals.wordset import wordset

# Suffixes sold mostly to shops, betting sites and hit-and-run campaigns.
_SUFFIXES = wordset(
    "shop store online site xyz top club vip bet casino poker click link deals sale buy loan loans",
    "win bid trade market marketing agency services solutions tours travel clinic dental fitness",
    "supply supplies parts repair cleaning training coach academy pro biz ltd guru money cash",
    "finance credit insurance energy health care pharmacy games game icu live cam dating",
)
_PIECES = re.compile(
    r"shop|store|deal|cheap|discount|offer|sale|buy|bargain|outlet|price|coupon|promo|bonus"
    r"|casino|bet(?:s|ting)?\b"
    r"|slot|poker|loan|credit|kredit|crypto|coin|forex|trad(?:e|ing)|invest|earn|cash|profit"
    r"|pharm|meds|pill|rx"
    r"|cbd|keto|slim|detox|herbal|clinic|dental|essay|thesis|dissert|assignment|homework|tutor"
    r"|writing|writers"
    r"|seo|backlink|rank|traffic|follower|likes|iptv|stream|apk|crack|keygen|hosting|host|vpn"
    r"|cleaner|plumb"
    r"|repair|roof|movers|moving|visa|immigra|travel|tours|hotel|rental|taxi|escort|dating"
    r"|agency|service|solution"
    r"|supply|supplies|wholesale|factory|direct|market|hub|pro\b|experts|official|online|4less"
    r"|course|academy|coach"
    r"|insur|finance|tax|law|attorney|printing|custom|gift|wear|jewel|watch|gummies|vape|kaufen"
    r"|billig|rabatt|barato"
)  # fmt: skip


def sounds_commercial(host: str) -> bool:
    """Return True if the words or the ending of a host are a seller's."""
    # Only what somebody registered counts: a page on "github.io" is no hub.
    name = registered_domain(host).partition(".")[0] or host
    return suffix_of(host) in _SUFFIXES or bool(_PIECES.search(name[:63]))
