"""Reads hosts out of addresses and texts, and tells what kind of site a host is."""

import base64
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from urllib.parse import unquote

from publicsuffixlist import PublicSuffixList

from models.undisguise import undisguise
from service.domain.text import unescape
from service.signals.text import (
    ALONE,
    MARKS,
    NOT_SHOWN,
    PLAIN_CAPITALS,
    TO_CYRILLIC,
    decode,
    turn,
    without_markup,
)
from service.signals.wordlists import word_list

# 253 is the longest name that DNS can carry.
_MAX_HOST_CHARS = 253
SCHEME = re.compile(r"(?:([a-z][a-z0-9+.-]{0,15}):)?//", re.IGNORECASE)
# What stands behind others is no host: "upload://xYz.jpeg". "hxxp" is written for "http".
_WEB = re.compile(r"h(?:tt|xx)ps?|s?ftps?", re.IGNORECASE)
_HOST_END = re.compile(r"[/?#\\\s]")
_IP4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")


@cache
def _suffixes() -> PublicSuffixList:
    # Loading takes 70 ms, so it waits for the first address; the list comes inside the package.
    return PublicSuffixList(accept_unknown=False)


def host_of(address: str) -> str:
    """Return the host of a URL or of a bare address in lower case, "" where there is none."""
    address = address[:2_048].strip()
    scheme = SCHEME.match(address)
    if scheme and scheme[1] and not _WEB.fullmatch(scheme[1]):
        return ""
    rest = address[scheme.end() :] if scheme else address
    authority = _HOST_END.split(rest, maxsplit=1)[0].rpartition("@")[2]
    host = authority.partition(":")[0].lower().strip(".")
    return host if len(host) <= _MAX_HOST_CHARS and "." in host else ""


@lru_cache(maxsize=4_096)
def registered_domain(host: str) -> str:
    """Return the registered domain of a host ("shop.example.co.uk" gives "example.co.uk").

    An IPv4 address is its own domain. A host under no known public suffix gives "".
    """
    return host if _IP4.match(host) else _suffixes().privatesuffix(host) or ""


def domain_of(host: str) -> str:
    """Return the registered domain of a host, or the host itself if it has none."""
    return registered_domain(host) or host


def is_public_suffix(host: str) -> bool:
    """Return True if strangers have sites of their own under a host, as under "blogspot.com"."""
    return _suffixes().publicsuffix(host) == host


_REFERENCES = word_list("reference_hosts")
_OPEN = word_list("open_hosts")
# Of governments, health services and universities. "go.id" and "edu" below a country are left out:
# advertisements stand on many hacked pages there.
_REFERENCE_SUFFIX = re.compile(
    r"(?<=\.)(?:gov|edu|mil|int|(?:gov|govt|gouv|gob|gub)\.[a-z]{2}|gv\.at|gc\.ca|go\.(?:jp|kr|th)"
    r"|ac\.(?:uk|at|il|jp|kr|nz|za)|nhs\.uk|readthedocs\.io)\Z"
)


def is_reference(host: str, domain: str) -> bool:
    """Return True if readers commonly cite this host."""
    if domain in _REFERENCES or host in _REFERENCES:
        return True
    found = _REFERENCE_SUFFIX.search(host)
    # Anybody could buy "gouv.io".
    return found is not None and is_public_suffix(found[0])


def is_closed_reference(host: str, domain: str) -> bool:
    """Return True if readers commonly cite this host, and few strangers can advertise there."""
    is_open = host in _OPEN or domain in _OPEN or host.endswith(".readthedocs.io")
    return is_reference(host, domain) and not is_open


_SHOP_SUFFIXES = word_list("shop_suffixes")
_PIECES, _WORDS, _HINTS, _DOT, _BRACKETED_DOT, _UNSPACED_DOT = (
    "|".join(sorted(word_list(name), reverse=True))
    for name in ("shop_pieces", "shop_words", "shop_hints", "dots", "bracketed_dots", "cjk_dots")
)
_HINT = rf"(?:(?<![^\W\d_])(?:{_HINTS})|(?:{_HINTS})(?=s?(?:[\W\d_]|\Z|{_HINTS})))"
_SHOP = re.compile(rf"{_PIECES}|(?<![^\W\d_])(?:{_WORDS})s?(?![^\W\d_])|{_HINT}.*{_HINT}")


def sounds_commercial(host: str) -> bool:
    """Return True if the words or the ending of a host are a seller's."""
    # Only what somebody registered counts: a page on "github.io" is no hub.
    name = registered_domain(host).partition(".")[0] or host
    return host.rpartition(".")[2] in _SHOP_SUFFIXES or bool(_SHOP.search(name[:63]))


# The most labels that a name may have in DNS.
_MAX_LABELS = 127
# What follows a host without a space is a sentence or two: "badshop.com.Then".
_MAX_LABELS_BEHIND = 3

# Browsers read any slashes behind a scheme as two.
_SLASHES = re.compile(r"(?:https?|ftp):[/\\]*|[/\\]{2,}", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=//)[^\s/?#\\<>]*@")
_MAIL_NAME_CHAR = re.compile(r"\w@\Z")
_OTHER_DOTS = re.compile("[\u3002\uff61\u00b7\u2022\u2219\u2027\u30fb]")
_WRITTEN_DOT = re.compile(
    rf"[ \t]{{0,3}}+[\[({{<*_~-][ \t]{{0,2}}+(?:\.|{_DOT}|{_BRACKETED_DOT})[ \t]{{0,2}}[\])}}>*_~-]"
    rf"[ \t]{{0,3}}|[ \t]{{1,3}}+(?:{_DOT})[ \t]{{1,3}}"
    rf"|(?<=[a-z0-9])(?:{_UNSPACED_DOT})(?=[a-z0-9])"
    r"|(?<!\b\w)[ \t]{1,3}+\.[ \t]{0,3}(?=\w)",
    re.IGNORECASE,
)
# No name is the end of "can't.Me too", nor the last word of a sentence before the next one without
# a blank between: "no notion.So we", "iPhone X.Com ele". With "http", "www" or a path it is one.
_SENTENCE_END = re.compile(
    r"(?<=\w)(?:[\"'’ʼ´`]|&(?:#0?39|#x27|#8217|apos|rsquo);)[^\W\d_]{1,2}(?=\.)"
    r"|(?<![\w./@:-])[^\W\d_]{1,63}+"
    r"(?=\.[A-Z][a-z]{1,17}+(?:['’]\w|,?[ \t]{1,3}(?:[^\W\d_A-Z]|I\b)))"
)
# Beside a name other words may stand unparted in scripts without spaces ("请看badshop.com吧"), and
# a domain may be in such a script itself: every text is read both ways.
_RUNS = (
    re.compile(rf"(?:[^\W{ALONE}]|[{MARKS}.-])+"),
    re.compile(rf"[\w{MARKS}.-]+"),
)
_WORD_BEHIND = re.compile(f"[-_]|(?<=[a-z])[{ALONE}]")
_PLACEHOLDER = "\ue000"


# The rest is only compared with known domains: what it reads as a name need not be one.
# Prose has commas and dots before a blank as well: there the name must have "www" or "http://"
# before it, or a digit or hyphen in it, and a small letter must follow ("no windows10. Com isso").
_PROSE_DOT = re.compile(
    r"((?:[PpXx][Ss]?:?//|\b[Ww]{3}[ \t.,]{1,3})[\w-]{1,63}+)[ \t.,]{1,3}(?=[a-z]|[A-Z]{2})"
    r"|((?<![\w-])(?=[^\W\d_]{0,62}+[\d-])[\w-]{6,63}+)(?:,|\.\s{1,3}|\s{1,3}\.)(?=[a-z]|[A-Z]{2})"
)
# Other full stops, symbols and emoji, and the English word where it can be no other.
_SIGNS = (
    "\u00b0\u0589\u0660\u06d4\u06f0\u0701\u0702\u0964\u1362\u1390\u1427\u16eb\u22c5\u2e31-\u2e33\ua4f8"
    "\ua60e\ua78f\u25a0-\u27bf\u2b00-\u2bff\U00010101\U00010a50\U0001d16d\U0001f300-\U0001faff"
)
_SIGN_DOT = re.compile(
    rf"(?<=\w)(?:[{_SIGNS}]{{1,2}}|[{_SIGNS}]{{0,2}}\.[{_SIGNS}]{{1,2}})(?=\w)"
    r"|(?i:(?<=[a-z0-9])dot(?=(?:com|net|org|info)\b))|[ \t][\"'“‘|](?:\.|dot)[\"'”’|][ \t]"
)
# Brackets are alike, and quotes; U+2800 looks like nothing. Code has "f(x).to", prose "it (.NET)".
_BESIDE = str.maketrans("【〔「『《({<】〕」』》)}>“”‘’«»|'", "[" * 8 + "]" * 8 + '"' * 8, "\u2800")
_NAME = r"(?=(?:[\d_.-]{0,9}[^\W\d_]){4})(\w(?:[\w-]|\.(?=\w)){3,62}+)"
_ENCLOSED = re.compile(
    rf'(?<![\w$#\[\]"])(?:["\[]{_NAME}["\]]\.\[?|{_NAME}(?:\[\.|\.\[)(?=\w+\]))'
    r"(?![A-Z][a-z])((?:com?\.)?[^\W_]{2,63}+)\]?+(?![\w(\[]|\.\w)"
)
_ANY_TAG = re.compile(r"<[^<>]*+>")
_HYPHENS = dict.fromkeys((*range(0x2010, 0x2016), 0x2043, 0x207B, 0x2212), "-")
_APART = re.compile(r"(?<=\b\w)[ \t](?=(?:- )?\w\b)|(?<=\b\w -)[ \t](?=\w\b)")
# No registry sells names of Latin and these letters. A single one may be a Latin letter disguised.
_GLUED = re.compile(
    "(?:(?<=[\u0370-\u058f]{2})|(?<=[б-дж-нптфц-я\u0590-\u139f]))-?(?=[0-9]*[A-Za-z])"
    "|(?<=[A-Za-z])(?=[\u0370-\u139f])"
)
_BASE64 = re.compile(
    r"(?:(?=aHR0c)|(?<=[=/?])(?!\w{1,3}aHR0c))(?:[\w+-]{4}){2,500}(?:[\w+-]{2,3})?", re.ASCII
)
# No top-level domain has a digit or letters of two scripts.
_LIKE_LATIN = str.maketrans("0асеіјкмнорѕтху", "oaceijkmhopstxy")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
# They write "." as "-" and "-" as "--".
_PROXIED = re.compile(r"(.+)\.(?:translate\.goog|cdn\.ampproject\.org)")
# Before a name in Chinese or Japanese other words end with these; anything else may be a part.
_BEFORE_NAME = re.compile(
    f"[{ALONE}]*(?:请看|请上|请到|点击|點擊|访问|訪問|打开|打開|进入|進入|登录|登錄|搜索|网址|網址"
    "|官网|官網|来到|來到|就是|[ぁ-ゖ](?=[ァ-ヺ\u3400-\u9fff]))"
)


def named_hosts(text: str, *, loosely: bool = False) -> frozenset[str]:
    """Return the hosts that a text names, in lower case. Takes time linear in its length.

    It reads everything: quotations, code, the targets inside redirectors, and dots that are written
    as words or as other characters. With `loosely` it also returns what only a comparison with
    known domains shows to be a host.

    A mail address names none: its domain is that of a mailbox.
    """
    hosts = frozenset(
        host
        for reading in _readings(text, loosely=loosely)
        for runs in _RUNS
        for run in runs.finditer(reading)
        if "." in run[0]
        and not _MAIL_NAME_CHAR.search(reading, max(0, run.start() - 2), run.start())
        for host in _hosts_of(run[0])
    )
    return hosts.union(*map(_likely_hosts, hosts)) if loosely else hosts


def _readings(text: str, *, loosely: bool) -> tuple[str, ...]:
    """Return the text as written, without hidden characters, decoded, and without markup.

    In each, written dots become dots. What one reading joins another keeps apart, so none can hide
    a name from the others.
    """
    seen = unicodedata.normalize("NFKC", NOT_SHOWN.sub("", text))
    decoded = decode(seen)
    bare = {_bare(one) for one in {seen, decoded}}
    texts = [NOT_SHOWN.sub(" ", text), seen, decoded, *bare]
    if loosely:
        if "<" in decoded:
            bare.add(_bare(_ANY_TAG.sub("", decoded)))
            # Browsers drop tabs and line breaks in an address.
            texts.append(_ANY_TAG.sub(lambda tag: re.sub(r"[\t\r\n]", "", tag[0]), decoded))
        texts += map(_loose, {decoded, *bare})
        if "\u202e" in (whole := unescape(text)):
            texts.append(decode(turn(whole)))
        if "-3A__" in decoded:  # Proofpoint's "://"
            texts.append(unquote(re.sub("-(?=[0-9A-F]{2})", "%", decoded).replace("_", "/")))
        packed = map(base64.urlsafe_b64decode, (f"{one}==" for one in _BASE64.findall(decoded)))
        texts.append(b"\n".join(packed).decode("utf-8", "replace"))
    texts = [_USER_INFO.sub("", _SLASHES.sub("//", one)) for one in dict.fromkeys(texts)]
    texts += [_WRITTEN_DOT.sub(".", _OTHER_DOTS.sub(".", one)) for one in texts]
    texts = [_SENTENCE_END.sub(" ", one).lower() for one in texts if "." in one]
    return tuple(dict.fromkeys(texts))


def _bare(text: str) -> str:
    """Return the text without markup and disguises; hosts stand in no shield of their own."""
    styled = without_markup(text).translate(PLAIN_CAPITALS)
    return undisguise(styled.replace(".", _PLACEHOLDER)).text.replace(_PLACEHOLDER, ".")


def _loose(text: str) -> str:
    """Return the text with all that may be meant as a dot as one, and split between scripts."""
    text = _SIGN_DOT.sub(".", _APART.sub("", text.translate(_HYPHENS)))
    text = _PROSE_DOT.sub(r"\1\2.", _GLUED.sub(" ", text))
    text = _WRITTEN_DOT.sub(".", text.translate(_BESIDE))
    return _ENCLOSED.sub(r"\1\2.\3", text)


def _likely_hosts(host: str) -> list[str]:
    """Return the host, and those it may mean: behind a proxy, in look-alikes, after other words."""
    name, _, last = host.rpartition(".")
    hosts = [host, f"{name}.{last.translate(_LIKE_LATIN)}"]
    if _CYRILLIC.search(last):
        hosts.append(host.translate(TO_CYRILLIC))
    if re.match(f"[{ALONE}]{{3}}", last):
        hosts.append(f"{name}.{last[:2]}")
    if proxied := _PROXIED.fullmatch(host):
        hosts.append(proxied[1].replace("--", "/").replace("-", ".").replace("/", "-"))
    if before := _BEFORE_NAME.match(host[:_MAX_HOST_CHARS]):
        hosts += [one[before.end() :] for one in hosts]
    return hosts


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
