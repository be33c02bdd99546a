"""Names the targets of a comment: addresses, contacts, and guessed product names."""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from service.domain.comment import Comment
from service.domain.sender import History, TrackRecord
from service.reputation.names import FREE_MAIL_DOMAINS
from service.signals.contacts import ContactKind, own_digits
from service.signals.hosts import host_of, is_public_suffix, is_reference, registered_domain
from service.signals.view import TextView, linked_domains, view_of
from service.signals.wordlists import word_list, wordset

# Shorter sentences of a post are said by its readers as well.
_MIN_QUOTED_CHARS = 24


def own_words(comment: Comment) -> str:
    """Return the text without code, quotations, and sentences that the post has word for word."""
    view, post = view_of(comment), said_by_post(comment)
    text = comment.text
    quoted = [
        (start, end)
        for start, end in view.sentences
        if end - start >= _MIN_QUOTED_CHARS and _flat(text[start:end]) in post
    ]
    kept, position = [], 0
    for start, end in sorted([*quoted, *view.shielded]):
        kept.append(text[position : max(start, position)])
        position = max(end, position)
    return " ".join((*kept, text[position:])) if position else text


def said_by_post(comment: Comment) -> str:
    """Return the post's title and excerpt in one spelling, as far as the site sent them."""
    return _flat(f"{comment.post.title or ''} {comment.post.excerpt or ''}")


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


MIN_NAME_CHARS = 5
_MAX_NAMES = 12
_MAX_CHARS = 40
_SEPARATORS = re.compile(r"[\W\d_]+")
_GENERIC = word_list("generic_names")
# Glued to a name: "getproseveil", "proseveilapp". Short ones would eat into names.
_GLUED = tuple(
    sorted(
        (word for word in _GENERIC if len(word) >= 3),
        key=lambda word: (-len(word), word),
    )
)


def names_in_label(label: str) -> Iterator[str]:
    """Yield the names in a host's label, a mail address's or a messenger's name.

    The whole first, then its parts. Separators, digits and words that say nothing are left out,
    glued ones too.
    """
    parts = [part for part in _SEPARATORS.split(label[:_MAX_CHARS].casefold()) if part]
    specific = [part for part in parts if part not in _GENERIC]
    for name in dict.fromkeys(("".join(specific), *specific[:4])):
        if long_enough := _long_enough(_without_glued(name)):
            yield long_enough


def names_in_text(view: TextView, post: str) -> Iterator[str]:
    """Yield words that are written like names: capitals inside a sentence, two such words joined.

    At most `_MAX_NAMES`, without words of the post.
    """
    known = frozenset(_SEPARATORS.split(post.casefold()))
    yield from islice(_names(view, known), _MAX_NAMES)


def _names(view: TextView, known: frozenset[str]) -> Iterator[str]:
    text = view.plain.text
    words = [(w.start, w.end, text[w.start : w.end]) for w in view.words[:2_000]]
    for (start, end, word), (next_start, _, after) in pairwise([*words, (0, 0, "")]):
        if word.casefold() in known or not _is_capital(word):
            continue
        joined = _is_capital(after) and text[end:next_start] in (" ", "-", "")
        if joined and (name := _long_enough((word + after).casefold())):
            yield name
        if not _starts_sentence(text, start) or not word[1:].islower():
            yield from names_in_label(word)


def _is_capital(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def _starts_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" \"'“„«(")
    return not before or before[-1] in ".!?\n:…"


def _without_glued(name: str) -> str:
    for word in _GLUED:
        if name.startswith(word) and len(name) - len(word) >= MIN_NAME_CHARS:
            name = name[len(word) :]
        if name.endswith(word) and len(name) - len(word) >= MIN_NAME_CHARS:
            name = name[: -len(word)]
    return name


def _long_enough(name: str) -> str | None:
    return name if MIN_NAME_CHARS <= len(name) <= _MAX_CHARS else None


SITE, MAIL, PHONE, HANDLE, NAME = "site", "mail", "phone", "handle", "name"

_PLATFORMS = word_list("platforms")
# Free hosts that give each stranger a subdomain and are not in the Public Suffix List, as most are.
_FREE_HOSTS = wordset(
    "wordpress.com over-blog.com free.fr typepad.com livejournal.com tumblr.com weebly.com",
)
# Their path is somebody's name in a messenger.
_MESSENGERS = wordset("t.me telegram.me wa.me m.me line.me")
_MAX_PATH_PARTS = 3
_PATH_END = re.compile(r"[#\s]")
_VIDEO = re.compile(r"[?&]v=([\w-]{6,20})")
_AT = re.compile(r"\s*(?:@|[(\[{<]\s*\w{2,10}\s*[)\]}>]|\s\w{2,10}\s)\s*")
_DOT = re.compile(r"\s*(?:\.|[(\[{<]\s*\w{3,6}\s*[)\]}>]|\s(?:dot|DOT)\s)\s*")
_NAME = re.compile(r"@?[\w.-]{4,32}")
_HAS_MARK = re.compile(r"[_\d@]")
_MIN_PHONE_DIGITS = 8
_PLACEHOLDERS = frozenset({"<email>", "<phone>"})


def targets_of(comment: Comment, *, blog: str | None, history: History) -> Iterator[str]:
    """Yield the targets of a comment, strongest kinds first; the same one may come twice.

    Left out are links that the writer quotes rather than offers, the site's own domain, domains of
    which the post speaks, those that comments approved here lead to, the site of a writer who was
    approved here, and sites that readers cite. Each target is a kind, a colon and the thing in one
    spelling, so that two ways of writing one number or address are one target. Names come
    last: they are guesses from the addresses and the text.
    """
    named = []
    hosts = [host_of(address or "") for address in (comment.post.url, blog)]
    own = {*hosts, *map(registered_domain, hosts)}
    for target in _addresses(comment, frozenset(own | _known_here(comment, history))):
        yield target
        named.append(target)
    for label in (label for target in named for label in _labels(target)):
        for name in names_in_label(label):
            yield f"{NAME}:{name}"
    of_site = {name for domain in own for name in names_in_label(domain.partition(".")[0])}
    for name in names_in_text(view_of(comment), said_by_post(comment)):
        if name not in of_site:
            yield f"{NAME}:{name}"


def is_name(target: str) -> bool:
    """Return True if a target is a guessed name, which is weaker evidence than an address."""
    return target.startswith(f"{NAME}:")


def _known_here(comment: Comment, history: History) -> set[str]:
    """Return the domains that say nothing against a comment where it was written."""
    known: set[str] = set()
    # The track record is that of the worst one: where it was approved the others were, too.
    if _is_approved(history.domains):
        known.update(linked_domains(comment))
    sender = comment.sender
    persons = [
        track_record
        for key, track_record in (
            (sender.email_key, history.email),
            (sender.address_key, history.address),
        )
        if key
    ]
    if any(map(_is_approved, persons or [history.name])):
        known.add(registered_domain(host_of(comment.author.url or "")))
    return known


def _is_approved(track_record: TrackRecord) -> bool:
    return track_record.here.approved > track_record.here.rejected


def _addresses(comment: Comment, known: frozenset[str]) -> Iterator[str]:
    view = view_of(comment)
    for contact in view.contacts:
        yield from _contact(comment.text[contact.start : contact.end], contact.kind)
    post = said_by_post(comment)
    for address in (*(link.target for link in view.open_links), comment.author.url or ""):
        yield from _site(address, known, post)


def _labels(target: str) -> Iterator[str]:
    """Yield the parts of an address that somebody chose."""
    kind, _, thing = target.partition(":")
    if kind == HANDLE:
        yield thing
    elif kind == SITE and "/" not in thing:
        yield thing.partition(".")[0]
    elif kind == MAIL:
        local, _, host = thing.partition("@")
        yield local
        if host not in FREE_MAIL_DOMAINS:
            yield host.partition(".")[0]


def _site(address: str, known: frozenset[str], post: str) -> Iterator[str]:
    host = host_of(address)
    domain = registered_domain(host) or host
    if not domain:
        return
    if domain in _MESSENGERS:
        yield from _handle("".join(_path_parts(address, host)[:1]))
    elif domain in _PLATFORMS or host in _PLATFORMS or is_public_suffix(host.removeprefix("www.")):
        parts = _path_parts(address, host)
        video = _VIDEO.search(address[:2_048])
        if parts:
            yield f"{SITE}:{'/'.join([domain, *parts, *(video.groups() if video else ())])}"
    elif domain in _FREE_HOSTS:
        if host.removeprefix("www.") != domain and host not in known:
            yield f"{SITE}:{host}"
    elif domain not in known and domain not in post and not is_reference(host, domain):
        yield f"{SITE}:{domain}"


def _path_parts(address: str, host: str) -> list[str]:
    """Return the first parts of an address's path; the host stands in it in any case."""
    address = address[:2_048]
    start = address.lower().find(host) + len(host)
    path = _PATH_END.split(address[start:], maxsplit=1)[0].partition("?")[0]
    return [part for part in path.split("/")[1:] if part][:_MAX_PATH_PARTS]


def _contact(written: str, kind: ContactKind) -> Iterator[str]:
    if written in _PLACEHOLDERS:
        return
    if kind is ContactKind.EMAIL:
        local, *rest = _AT.split(written.casefold(), maxsplit=1)
        host = _DOT.sub(".", rest[0]).replace(" ", "") if rest else ""
        local = local.partition("+")[0]
        if local and "." in host:
            yield f"{MAIL}:{local}@{host}"
    elif kind is ContactKind.PHONE:
        yield from _phone(written)
    else:
        yield from _handle(written)


def _phone(written: str) -> Iterator[str]:
    digits = own_digits(written)
    if len(digits) >= _MIN_PHONE_DIGITS:
        yield f"{PHONE}:{digits}"


def _handle(written: str) -> Iterator[str]:
    """Yield the name in "telegram: @some_name", "some_name on telegram" or "t.me/some_name"."""
    names = _NAME.findall(written.rpartition("/")[2])
    if not names:
        return
    name = next((n for n in reversed(names) if _HAS_MARK.search(n)), names[-1])
    name = name.lstrip("@").casefold().strip(".-")
    digits = sum(char.isdigit() for char in name)
    if digits >= _MIN_PHONE_DIGITS and digits >= len(name) - 3:
        yield from _phone(name)
    elif name:
        yield f"{HANDLE}:{name}"
