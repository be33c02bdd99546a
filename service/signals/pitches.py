"""Finds what a comment pitches: a named product with "we built it for exactly this"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from service.domain.comment import Comment
from service.domain.verdict import Span
from service.signals.hosts import host_of, registered_domain
from service.signals.lexicon import Cue
from service.signals.regions import Range, inside
from service.signals.segments import topic_words
from service.signals.uncommon_links import uncommon_links
from service.signals.view import view_of
from service.signals.words import find_words
from service.signals.wordset import wordset

_I = re.IGNORECASE
# Somebody made the thing and speaks for it. "I made" alone is left out: so do people with hobbies.
_MADE = re.compile(
    r"\b(?:we|our|my (?:team|company|startup|co-?founder)) (?:\w+[ -]){0,4}?"
    r"(?:buil[dt]|ma[dk]e|making|creat|develop|launch|design|founded|started|sell\b|offer\b)"
    r"|\bwe['’](?:re|ve) (?:\w+ ){0,2}?(?:buil|ma[dk]|creat|develop|launch|design|solv|work)"
    r"|\bour (?:\w+[ -]){0,2}?(?:app|tool|platform|product|service|software|clinic|consultants"
    r"|experts|team|device|\w+band)\b"
    r"|\b(?:i|we) (?:founded|started the company)"
    r"|\bwir (?:\w+ ){0,5}?(?:gebaut|entwickelt|gemacht|geschaffen|gegründet)"
    r"|\bwir (?:bauen|entwickeln|machen)\b|\bunser(?:e[mnrs]?)? (?:team|app|tool|produkt|lösung)"
    r"|\b(?:nous avons|on a|j['’]ai) (?:\w+ ){0,2}?(?:créé|développé|fondé|lancé|conçu|pensé)"
    r"|\bnotre (?:équipe|appli|application|outil|solution)"
    r"|\b(?:creamos|desarrollamos|lanzamos|fundamos|diseñamos|hemos creado|nuestr[ao] (?:app|equipo"
    r"|herramienta|plataforma|aplicación))\b"
    r"|\b(?:criámos|criamos|desenvolvemos|lançámos|lançamos|foi (?:criad|pensad|feit)[ao]"
    r"|noss[ao] (?:app|equipa|equipe|ferramenta|aplicação))\b"
    r"|\babbiamo (?:\w+ ){0,2}?(?:creato|sviluppato|lanciato|fondato|progettato)"
    r"|\b(?:la nostra|il nostro) (?:app|squadra|team|strumento|servizio)\b"
    r"|\bwij? (?:\w+ ){0,5}?(?:gebouwd|gemaakt|ontwikkeld|bedacht)|\bonze (?:app|tool|dienst)\b"
    r"|\b(?:stworzyliśmy|zbudowaliśmy|opracowaliśmy|zrobiliśmy|nasza (?:aplikacja|firma))\b"
    r"|\bмы (?:\w+ ){0,4}?(?:сделали|создали|разработали|запустили|делаем)"
    r"|\bнаш(?:а|е)? (?:команда|сервис|приложение)"
    r"|\bми (?:\w+ ){0,4}?(?:зробили|створили|розробили|запустили)"
    r"|\b(?:har vi|vi har|vi) (?:\w+ ){0,2}?(?:byggt|skapat|utvecklat|bygget|lavet|laget|udviklet)"
    r"|\b(?:vytvořili|vyvinuli|postavili) jsme|\bjsme (?:\w+ ){0,3}?(?:vytvořili|vyvinuli)"
    r"|\b(?:geliştirdik|yaptık|kurduk|tasarladık)\b|\bkami (?:\w+ ){0,2}?(?:membuat|kembangkan)"
    r"|(?:私たち|弊社|当社|我々).{0,40}?(?:作り|開発|つくり|リリース|提供)"
    r"|我们(?:团队)?.{0,12}?(?:做了|开发|打造|推出)|저희(?:가|는|도)?.{0,20}?(?:만들|개발)",
    _I,
)
# Who is called like the thing needs no "we".
_WAS_MADE = re.compile(r"\bwas (?:made|built|developed|designed|created) (?:for|with|by|to)\b", _I)
# What it was made for is just what the post or the remark named.
_FITS = re.compile(
    r"\b(?:exactly|precisely|specifically) (?:for|this|that|the|these|those|such|what|why|here)\b"
    r"|\bfor (?:exactly|precisely|specifically|just|this|these|those)\b"
    r"|\bin just this|\b(?:that|it|this)['’]?(?: i)?s (?:\w+ ){0,2}?(?:why|what|the whole)\b"
    r"|\bto (?:fix|solve)\b"
    r"|\b(?:solve[sd]?|fix(?:es)?) (?:exactly|precisely|this|that|just)\b|\bthis very\b"
    r"|\bgenau (?:da|dies|das|die|nach|hier|für|so)|\b(?:daf[üu]e?r|deshalb|darum) haben wir\b"
    r"|\b(?:exactement|précisément|justement)\b|\bbesoin précis|\bpensé pour\b"
    r"|\b(?:justo|precisamente|exactamente) (?:para|por|est|es)"
    r"|\b(?:precisamente|exatamente|mesmo|justamente) (?:para|por|ist|iss)|\bfoi para isso\b"
    r"|\b(?:proprio|esattamente|apposta) (?:per|quest)"
    r"|\b(?:precies|juist|speciaal) (?:daar|hier|voor|dit|dat)|\bdaarom\b"
    r"|\b(?:właśnie|dokładnie|specjalnie) (?:dlatego|po|do|dla|tak)"
    r"|\b(?:как раз|именно|специально) (?:для|под|за|по|эт|с эт)|\bсаме (?:для|тому)\b"
    r"|\b(?:precis|just|netop|nettopp) (?:därför|det|den|derfor|for)|\bpřesně (?:pro|na|k|z|t)"
    r"|\b(?:tam|işte) (?:da )?(?:bu|bunun)|\b(?:justru|memang) untuk"
    r"|\b(?:for you|für (?:sie|euch|dich)|pour (?:vous|toi)|para (?:ti|usted|você)|voor je)\b"
    r"|まさに|そのために|ぴったり|正是为|专门为|就是为|바로 (?:이|그)|이를 위해",
    _I,
)
# What is given away, done for one's own, or told with one's interest in it is no pitch.
_GIVEN = re.compile(
    r"open[ -]?(?:source|data)|(?-i:\bMIT\b)|GPL\b|\bBSD\b|\bCC0\b|\bapache\b|public domain"
    r"|git(?:hub|lab|ea)|codeberg|framagit|sourcehut|source is|\bno (?:ads|account|sign-?up)"
    r"|\b(?:hobby|weekend|side project|for fun|for ourselves|in-?house|internal(?:ly)?"
    r"|pull requests?|PRs|patches|repo(?:sitory)?|readme|disclosure|disclaimer|bias(?:ed)?"
    r"|volunteer\w*|non-?profit|charity|a talk|slides|scripts?|self-hosted|my employer"
    r"|society|allotment|nobody (?:paid|used|uses)|cancelled|closed it|shut (?:it )?down"
    r"|i work (?:at|for)"
    r"|(?:at|our|my|the) (?:school|university|library|museum|club|parish|choir|blog|students"
    r"|brother|sister|mum|mom|dad|kids|daughter|son|family)"
    r"|(?:little|small|tiny|silly) (?:\w+ )?(?:tool|thing|app|program|plugin|package|page|site))\b"
    r"|quelloffen|freie software|\b(?:verein|ehrenamtlich|befangen|schule|vortrag|folien|skript"
    r"|kleine[ns]? (?:tool|programm|app)|arbeite (?:bei|für))\b"
    r"|\blibres?\b|code ouvert|bénévol|bricol|petit (?:outil|programme)|travaille chez|diapos"
    r"|\bassociation\b|código|softwares? livre|sin registro|programinha"
    r"|\btrabal?[jh]o (?:en|na|no)\b"
    r"|pequeñ[oa] (?:programa|herramienta)|codice (?:aperto|sorgente)|licenza|volontari|lavoro per"
    r"|piccolo programma|otwart|stowarzyszen|pracuję w|исходн|открыт|кружк|школ|работаю в"
    r"|маленьк\w+ (?:программ|утилит)|öppen källkod|åpen kilde|jobbar på|vrijwillig|vereniging"
    r"|\bwerk bij|オープンソース|公開|スクリプト|开源|오픈소스|açık kaynak",
    _I,
)
_NAME = re.compile(r"[^\W\d_][\w'’]*(?:[-.&][\w'’]+)*")
_QUOTED = re.compile(r"[「『“\"«]([^「」『』“”\"«»\n]{2,30})[」』”\"»]")
_COMMON = wordset(
    "i i'm i've i'd i'll ich sie ihr ihnen gott ok tv pc ai ki api url pdf usb html css sql http"
    " january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday english german french spanish"
    " google apple microsoft amazon facebook youtube whatsapp android windows linux excel"
)
_TITLES = wordset("team official app pro hq support the inc gmbh ltd llc io com")
# German nouns have capitals, too: what follows a determiner or an adjective is no name.
_GERMAN = re.compile(r"\b(?:und|ist|wir|nicht|ich|das|auf)\b")
_DETERMINED = re.compile(
    r"\b(?:d(?:as|em|en|er|es|ie)|zu[mr]|[ai]m|vom|beim|ins|ein|\w{2,}(?:e[mnrs]?|ein))\s\Z", _I
)
# A thing among others is no product of somebody's: "a Raspberry Pi box".
_INDEFINITE = re.compile(r"\b(?:an?|une?|um|uma|una|een|ett)\s\Z", _I)
_WORD_BEFORE = 40
_MOST_NAMES = 8
_SELLING = (Cue.OFFER, Cue.CALL, Cue.PITCH)
_STEM_LETTERS = 6
_LEAST_LETTERS, _MOST_OF_ACRONYM, _NAME_CHARS = 3, 4, 100
_INTRODUCED = re.compile(
    r"\b(?:i['’]?m|i am|this is|name is|ich bin|je suis|soy|sou|sono|ik ben|jestem|я|зовут"
    r"|jag är)\s\Z",
    _I,
)


class Named(NamedTuple):
    """A name in lower case, and where it stands."""

    name: str
    at: Span


def is_pitch(comment: Comment) -> bool:
    """Return True if a comment names what its writer made, as just what is needed here."""
    return bool(pitches(comment))


@lru_cache(maxsize=8)
def pitches(comment: Comment) -> tuple[Named, ...]:
    """Return the names in sentences that claim to have made a thing for just what is needed.

    None where the writer gives it away, did it for a school or a club, or tells their interest: a
    regular's own project is no pitch.
    """
    text = comment.text
    if not (_FITS.search(text) and _MADE.search(text)) or _GIVEN.search(text):
        return ()
    claims = [
        one
        for one in _open_sentences(comment)
        if _FITS.search(text, *one) and _MADE.search(text, *one)
    ]
    return tuple(islice(_named(comment, claims), _MOST_NAMES))


def own_pitch(comment: Comment) -> tuple[Span, ...]:
    """Return where a comment names its author, or their site, as something to have.

    That is beside a maker's claim, a fitting purpose, an offer or a call, not in a greeting. Every
    sentence begins with a capital, and people have sites of their own name: a first word or a host
    needs a maker's claim ("Hope it works for you").
    """
    text = comment.text
    owns = [own for own in _own_names(comment) if own.search(text)]
    if not owns or _GIVEN.search(text):
        return ()
    view = view_of(comment)
    cues = sorted(view.original(hit)[0] for hit in view.cues if hit.cue in _SELLING)
    spans = []
    for start, end in _open_sentences(comment):
        is_made = _MADE.search(text, start, end) or _WAS_MADE.search(text, start, end)
        sells = bisect_left(cues, start) < bisect_left(cues, end) or _FITS.search(text, start, end)
        for at, to in (match.span() for own in owns for match in own.finditer(text, start, end)):
            is_name = text[at].isupper() and (at > start or " " in text[at:to])
            greets = _INTRODUCED.search(text[max(0, at - _WORD_BEFORE) : at])
            if (is_made or (sells and is_name)) and not greets:
                spans.append(Span(start=at, end=to))
    return tuple(spans)


def names(comment: Comment) -> frozenset[str]:
    """Return the names of products and the hosts that a comment may speak of, at most eight."""
    found = _named(comment, _open_sentences(comment), first=True)
    return frozenset(islice(dict.fromkeys(one.name for one in found), _MOST_NAMES))


def _open_sentences(comment: Comment) -> list[Range]:
    view = view_of(comment)
    return [one for one in view.sentences if not inside(view.shielded, one[0])]


def _own_names(comment: Comment) -> Iterator[re.Pattern[str]]:
    """Yield what finds the author's name, less "team" and the like, or that of their site.

    A site that has the name of a person in it is a person's. Compiling costs most, so a name that
    does not stand in the text gives none.
    """
    lowered = comment.text.lower()
    words = [word.text for word in find_words((comment.author.name or "")[:_NAME_CHARS])]
    site = registered_domain(host_of(comment.author.url or "")).partition(".")[0]
    known = [[word for word in words if word not in _TITLES]]
    known += [] if any(word in site for word in words) else [[site]]
    for one in known:
        if len("".join(one)) >= _LEAST_LETTERS and all(word in lowered for word in one):
            yield re.compile(rf"(?<![\w@/.-]){r'[ .-]?'.join(map(re.escape, one))}(?![\w-])", _I)


def _named(comment: Comment, sentences: list[Range], *, first: bool = False) -> Iterator[Named]:
    """Yield names in lower case, with where they stand; hosts by their own part.

    With `first` even a sentence's first word, which has its capital from there.
    """
    topic, text = topic_words(comment.post), comment.text
    nouns = _GERMAN.search(text) is not None
    links = uncommon_links(comment)
    at = [link.start for link in links]
    for start, end in sentences:
        for link in links[bisect_left(at, start) : bisect_left(at, end)]:
            yield Named(link.domain.partition(".")[0], Span(start=link.start, end=link.end))
        for quoted in _QUOTED.finditer(text, start, end):
            yield Named(quoted[1].strip().lower(), Span(start=quoted.start(1), end=quoted.end(1)))
        for word in _NAME.finditer(text, start, end):
            name = word[0]
            plain = name.lower()
            if not name[0].isupper() or plain in _COMMON or len(name) < _LEAST_LETTERS:
                continue
            before = text[max(start, word.start() - _WORD_BEFORE) : word.start()]
            odd = not name[1:].islower()
            if not odd and ((nouns and _DETERMINED.search(before)) or not (before or first)):
                continue
            is_acronym = name.isupper() and len(name) <= _MOST_OF_ACRONYM
            if is_acronym or _INDEFINITE.search(before):
                continue
            if plain[:_STEM_LETTERS] not in topic:
                yield Named(plain, Span(start=word.start(), end=word.end()))
