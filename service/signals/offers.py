"""Finds offers in a comment: a seller's link, a contact, a product, a pitch."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from service.domain.comment import Comment
from service.domain.verdict import Span
from service.signals.contacts import ContactKind
from service.signals.cues import Cue
from service.signals.hosts import host_of, is_reference, registered_domain, sounds_commercial
from service.signals.segments import BRAND, Segment, segments_of, topic_words
from service.signals.text import find_words
from service.signals.view import uncommon_links, view_of
from service.signals.wordlists import LISTS, any_of, word_list, wordset

_WE = any_of(**LISTS["we"])
_MAKES = any_of(**LISTS["makes"])
_MADE = re.compile(rf"(?={_WE.pattern}).{{0,40}}?(?:{_MAKES.pattern})", re.I)
# Who is called like the thing needs no "we".
_WAS_MADE = any_of(["was_made was_built was_developed was_designed was_created"])
_FITS = any_of(**LISTS["fits"])
_GIVEN = any_of(**LISTS["given"])
_NAME = re.compile(r"[^\W\d_][\w'’]*(?:[-.&][\w'’]+)*")
_QUOTED = re.compile(r"[「『“\"«]([^「」『』“”\"«»\n]{2,30})[」』”\"»]")
_COMMON = word_list("common_capitals")
_TITLES = wordset("team official app pro hq support the inc gmbh ltd llc io com")
# German nouns have capitals, too: what follows a determiner or an adjective is no name.
_GERMAN = re.compile(r"\b(?:und|ist|wir|nicht|ich|das|auf)\b")
_DETERMINED = re.compile(
    r"\b(?:d(?:as|em|en|er|es|ie)|zu[mr]|[ai]m|vom|beim|ins|ein|\w{2,}(?:e[mnrs]?|ein))\s\Z", re.I
)
# A thing among others, or a place, is no product of somebody's: "a Raspberry Pi box".
_INDEFINITE = re.compile(r"\b(?:an?|une?|um|uma|una|een|ett|in)\s\Z", re.I)
_GREETING = any_of(["i'm i_am this_is name_is ich_bin je_suis soy sou sono ik_ben jestem я зовут"])
_WITH = re.compile(
    r"\b(?:with|com|con|mit|avec|met|med|z|с) (?:(?:os?|as?|le|la|il|el|the|our) )?[«“\"]?\Z", re.I
)
_EASE = any_of(**LISTS["ease"])
_WORD_BEFORE = 40
_MOST_NAMES = 8
_GREETING_CHARS = len("name is ")
_SELLING = (Cue.OFFER, Cue.CALL, Cue.PITCH)
_STEM_LETTERS = 6
_LEAST_LETTERS, _MOST_OF_ACRONYM, _NAME_CHARS = 3, 4, 100


class Pitch(NamedTuple):
    """A product's name in lower case, where it stands, and whether its author is called so."""

    name: str
    at: Span
    is_own: bool = False


@lru_cache(maxsize=8)
def pitches(comment: Comment) -> tuple[Pitch, ...]:
    """Return the names in sentences that claim to have made a thing for just what is needed.

    The author's own name, or that of their site, needs less: a maker's claim, a fitting purpose,
    an offer or a call beside it, not a greeting. Every sentence begins with a capital, and people
    have sites of their own name: a first word or a host needs a maker's claim ("Hope it works").
    There is none where the writer gives it away, did it for a school or a club, or tells their
    interest: a regular's own project is no pitch.
    """
    text, own = comment.text, _own_names(comment)
    if not (own or (_FITS.search(text) and _MADE.search(text))) or _GIVEN.search(text):
        return ()
    found: list[Pitch] = []
    for one in segments_of(comment):
        is_made = _MADE.search(text, one.start, one.end)
        fits = _FITS.search(text, one.start, one.end)
        if is_made and fits:
            found += islice(_named(comment, one), _MOST_NAMES)
        sells = fits or any(one.cues[cue] for cue in _SELLING)
        is_made = is_made or _WAS_MADE.search(text, one.start, one.end)
        for match in own.finditer(text, one.start, one.end) if own else ():
            at, to = match.span()
            is_name = text[at].isupper() and (at > one.start or " " in match[0])
            greets = _GREETING.search(text, max(0, at - _GREETING_CHARS), at)
            if (is_made or (sells and is_name)) and not greets:
                found.append(Pitch(match[0].lower(), Span(start=at, end=to), is_own=True))
    return tuple(found)


def promises(comment: Comment) -> tuple[Pitch, ...]:
    """Return the names of things with which something "is done in seconds"."""
    text = comment.text
    if not _EASE.search(text) or _GIVEN.search(text):
        return ()
    return tuple(
        found
        for one in segments_of(comment)
        if not one.cues[Cue.ME] and _EASE.search(text, one.start, one.end)
        for found in _named(comment, one)
        if _WITH.search(text, one.start, found.at.start)
    )


def names(comment: Comment) -> frozenset[str]:
    """Return the names of products and the hosts that a comment may speak of, at most eight."""
    found = (name for one in segments_of(comment) for name, *_ in _named(comment, one, first=True))
    return frozenset(islice(dict.fromkeys(found), _MOST_NAMES))


def _own_names(comment: Comment) -> re.Pattern[str] | None:
    """Return a pattern of the author's name, less "team" and the like, or that of their site.

    A site that has the name of a person in it is a person's. Compiling costs most, so a name that
    does not stand in the text gives none.
    """
    lowered = comment.text.lower()
    words = [word.text for word in find_words((comment.author.name or "")[:_NAME_CHARS])]
    site = registered_domain(host_of(comment.author.url or "")).partition(".")[0]
    known = [[word for word in words if word not in _TITLES]]
    known += [] if any(word in site for word in words) else [[site]]
    found = [
        r"[ .-]?".join(map(re.escape, one))
        for one in known
        if len("".join(one)) >= _LEAST_LETTERS and all(word in lowered for word in one)
    ]
    return re.compile(rf"(?<![\w@/.-])(?:{'|'.join(found)})(?![\w-])", re.I) if found else None


def _named(comment: Comment, one: Segment, *, first: bool = False) -> Iterator[Pitch]:
    """Yield the names in a sentence, hosts by their own part; with `first` even its first word."""
    topic, text = topic_words(comment.post), comment.text
    nouns = _GERMAN.search(text) is not None
    for link in uncommon_links(comment):
        if one.start <= link.start < one.end:
            yield Pitch(link.domain.partition(".")[0], Span(start=link.start, end=link.end))
    for quoted in _QUOTED.finditer(text, one.start, one.end):
        yield Pitch(quoted[1].strip().lower(), Span(start=quoted.start(1), end=quoted.end(1)))
    for word in _NAME.finditer(text, one.start, one.end):
        name, (at, to) = word[0], word.span()
        before = max(one.start, at - _WORD_BEFORE)
        is_odd = not name[1:].islower()
        is_acronym = len(name) <= (_MOST_OF_ACRONYM if name.isupper() else _LEAST_LETTERS - 1)
        if not name[0].isupper() or is_acronym or name.lower() in _COMMON:
            continue
        is_noun = (nouns and _DETERMINED.search(text, before, at)) or (
            at == one.start and not first
        )
        if (is_noun and not is_odd) or _INDEFINITE.search(text, before, at):
            continue
        if name.lower()[:_STEM_LETTERS] not in topic:
            yield Pitch(name.lower(), Span(start=at, end=to))


# Asked twice a comment: where its history is named, and by what reads it.
@lru_cache(maxsize=8)
def offers(comment: Comment) -> bool:
    """Return True if a comment links a seller, gives a number or name to call, sells or pitches.

    A link to a source is no offer, and no product that is only named.
    """
    if any(sounds_commercial(link.host) for link in uncommon_links(comment)):
        return True
    if has_commercial_address(comment.author.url or "") or pitches(comment):
        return True
    view = view_of(comment)
    if any(contact.kind is not ContactKind.EMAIL for contact in view.contacts):
        return True
    # Describing sentences costs most; without a thing or a way to it none can sell.
    if not (view.open_links or view.contacts or BRAND.search(comment.text)):
        return False
    return any(map(_sells, segments_of(comment)))


def has_commercial_address(url: str) -> bool:
    """Return True if an address is named like a shop or a service."""
    host = host_of(url)
    return sounds_commercial(host) and not is_reference(host, registered_domain(host))


def links(comment: Comment) -> frozenset[str]:
    """Return the domains of the links that a comment offers, common references left out."""
    return frozenset(link.domain for link in uncommon_links(comment))


def _sells(segment: Segment) -> bool:
    """Return True if one sentence has a product or a way to it, and a price or an offer."""
    what = segment.links or segment.contacts or segment.brands
    return bool(what and (segment.prices or segment.cues[Cue.OFFER]))
