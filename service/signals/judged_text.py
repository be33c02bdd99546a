"""Leaves out of a comment what its writer did not write, before it is judged and learnt from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from models.undisguise import undisguise
from service.domain.comment import Comment, CommentKind, Post
from service.domain.delivery import platform_of
from service.signals.contacts import ContactKind, find_contacts
from service.signals.cues import Cue, find_cues
from service.signals.hosts import (
    domain_of,
    host_of,
    named_hosts,
    registered_domain,
    sounds_commercial,
)
from service.signals.links import Link, find_links
from service.signals.text import count_words, inside, words_of
from service.signals.view import TextView, is_about, view_of_text
from service.signals.wordlists import word_list

_BY_MAIL = frozenset({"github", "github-thread", "discourse"})
# Sentences of GitHub and Discourse, which write English to all, and of legal departments.
_FOOTER = re.compile(
    r"(?:[—–#\s-]|<br ?/?>)*(?:reply to this e-?mail directly|virus-?free\b|virenfrei\b"
    r"|you(?: a|['’])re receiving this (?:because|e-?mail)|message-? ?id:|triage notifications\b"
    r"|visit topic|to unsubscribe|unsubscribe from|previous replies"
    r"|(?:this|diese|cet?|este|esta|quest[oa]|dit|deze) (?:e-?mail|message|nachricht|messaggio"
    r"|mensa[jg]em?|correo|courriel|bericht)\b.{1,200}(?:\bconfiden"
    r"|vertraulich|riservat|vertrouwelijk|vir(?:us|en)\w* (?:ge|über)(?:prüft|controleerd|scan)"
    r"|\b(?:check|scan|v[eé]rifi|anal[iy]|comprob|controll?|ge(?:check|scan))\w+ .{1,60}v[ií]rus)"
    r"|confidentiality notice\b"
    r"|(?:id:\s?)?<?(?:\*{3}@\*{3}\.\*{3}|[^\s<>@]{1,200}@github\.com)>?$|id:$)"
    r"|[—–]$|[—–_-]{3,80}$",
    re.IGNORECASE,
)
# A signature names a program or a device, and says that it was sent or links to its makers.
_FROM, _MY, _DEVICE, _KNOWN, _SENT = (
    f"(?:{'|'.join(word_list(f'mail_{name}')).replace('_', ' ')})"
    for name in ("from", "my", "devices", "programs", "sent")
)
_NAMES = r"(?-i:(?:\W{0,2}[^\s,;:!?]*[A-Z0-9][^\s,;:!?]*){1,5})"
# "from my new watch", "from my Moto G", "from OnePlus", and "с Nokia" among letters of its script.
_PROGRAM = re.compile(
    rf"{_KNOWN}|\b{_FROM}\b[^,;:!?]{{1,20}}(?:\b{_DEVICE}\w*"
    rf"|(?:{_MY}\b|(?=.*\b{_MY}\W*$)|(?-i:\b(?=\w*[a-z][A-Z]))){_NAMES})"
    rf"(?:(?: (?:f[oöü]r|p\w{{2,3}}|v[ao]\w+|til))?\W+{_NAMES})?(?:\W+(?:{_MY}|(?:ge|ver)\w+))?\W*$"
    rf"|^(?=.*[\u0370-\u1fff\u3040-\ud7ff])(?=.*{_FROM})"
    r"[^a-z]{0,25}[a-z](?:[\w.+-]+\s?){1,4}[^a-z,.!?]{0,16}$",
    re.IGNORECASE,
)
_WAS_SENT = re.compile(rf"{_SENT}|.{{0,80}}{_SENT}\w{{0,5}}\W{{0,3}}$", re.IGNORECASE)
_MAX_PROGRAM_CHARS = 120
_MAKERS = word_list("mail_makers")
# "Virus-free.www.avast.com" has lost a blank.
_JOINED = re.compile(r"\.(?=www\.)")
# Where the footers of GitHub lead.
_PLATFORMS = ("github.com", "apps.apple.com", "play.google.com")
# "com.github.android" would be a host as well.
_PACKAGE = re.compile(r"(?<=//play\.google\.com/store/apps/details\?id=)[\w.]+")
# Quoted mail has when and by whom it was written above it, in one sentence or in fields.
_DATE = re.compile(r"(?<!\d)\d{4}(?!\d)|\d[./-]\d{1,2}[./-]\d\d")
_TIME = re.compile(r"\d[:.]\d\d")
_ADDRESS = re.compile(r"[<(][^\s<>()@]{1,100}@[^\s<>()@]{1,255}|\*{3}@\*{3}")
_COLONS = (":", "：")
_FIELD = re.compile(r"\*{0,2}[^\W\d_][^\d:：<>]{0,30}[:：]\*{0,2}\s?(?=(\S?))")
_RULE = re.compile(r"_{4,80}$|-{3,40}[^-](?:.{0,40}[^-])?-{3,40}$")
_MIN_FIELDS, _MAX_FIELDS, _MAX_HEADING_CHARS = 3, 8, 500
_MAX_WRAPPED = 3
# Marks of direction, which stand around addresses in Hebrew and Arabic.
_UNSEEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SIGNATURE = "--"
_MOST_LINES, _MAX_LINE_CHARS = 400, 4_000
_MAX_SIGNATURE_LINES, _MAX_SIGNATURE_CHARS = 6, 80
_MAIL_SALES = frozenset({Cue.OFFER, Cue.VICE, Cue.CALL})


def may_come_by_mail(comment: Comment) -> bool:
    """Return True if the comment's platform takes replies by mail."""
    return platform_of(comment.site_comment_id)[0] in _BY_MAIL


def end_of_own_words(text: str, *, platform_host: str = "") -> int:
    """Return where a mail's footer, quoted mail or signature begins, else the text's length.

    A line with a link elsewhere, with a contact or that sells is the writer's own: nothing that
    leads a reader away is cut. `platform_host` is where the comment stands.
    """
    lines = text.splitlines(keepends=True)
    hosts = (*_PLATFORMS, platform_host) if platform_host else _PLATFORMS
    last = [_UNSEEN.sub("", line).strip() for line in lines[-_MOST_LINES:]]
    first = len(lines) - len(last) + _first_of_trailer(last, hosts)
    kept = "".join(lines[:first])
    return len(kept.rstrip()) if first < len(lines) and kept.strip() else len(text)


def _first_of_trailer(lines: Sequence[str], hosts: Sequence[str]) -> int:
    """Return the first line of the last lines that are all of a mail's own making."""
    headings = _headings(lines)
    first, loose, longest = len(lines), 0, 0
    for at in reversed(range(len(lines))):
        line, is_quoted = lines[at], lines[at].startswith(">")
        view = TextView(text=_JOINED.sub(". ", line.lstrip("> \t")))
        if len(line) > _MAX_LINE_CHARS or _leads_away(
            view, hosts, is_quoted=is_quoted, is_heading=at in headings
        ):
            break
        if line == _SIGNATURE:
            is_end = loose <= _MAX_SIGNATURE_LINES and longest <= _MAX_SIGNATURE_CHARS
        else:
            is_end = headings.get(at, False) or (
                not loose and (at in headings or _is_footer(view, lines[max(at - 1, 0)]))
            )
        if is_end:
            first, loose, longest = at, 0, 0
        elif (
            view.text.strip(".,;>")
            and not is_quoted
            and not (view.links and len(view.text.split()) <= 4)
        ):
            loose, longest = loose + 1, max(longest, len(view.text))
    return first


def _headings(lines: Sequence[str]) -> Mapping[int, bool]:
    """Return the lines above quoted mail, with whether the mail need not be marked as quoted."""
    headings: dict[int, bool] = {}
    bare = [line.lstrip("> \t")[: _MAX_HEADING_CHARS + 1] for line in lines]
    for at, line in enumerate(bare):
        if line.endswith(_COLONS) and len(line) <= _MAX_HEADING_CHARS:
            below = next((one for one in lines[at + 1 :] if one), "")
            for top in range(at, max(at - _MAX_WRAPPED, -1), -1):
                whole = " ".join(bare[top : at + 1])
                if not bare[top]:
                    break
                date, time, address = (p.search(whole) for p in (_DATE, _TIME, _ADDRESS))
                is_quoted = below.startswith(">")
                if (address and (date or is_quoted)) or (date and time and is_quoted):
                    # Programs that mark no quotation put it last.
                    is_last = not any(one.startswith(">") for one in lines[at:])
                    headings |= dict.fromkeys(
                        range(top, at + 1), bool(address and time and is_last)
                    )
                    break
        if at not in headings and (field := _FIELD.match(line)) and field[1]:
            end = at + 1
            while end < min(len(bare), at + _MAX_FIELDS) and _FIELD.match(bare[end]):
                end += 1
            whole, above = "\n".join(bare[at:end]), bare[at - 1] if at else ""
            has_sender = _ADDRESS.search(whole) and _DATE.search(whole) and _TIME.search(whole)
            has_rule = bool(_RULE.match(above))
            if end - at >= _MIN_FIELDS and (has_sender or (has_rule and above.strip("-_"))):
                headings |= dict.fromkeys(range(at - has_rule, end), True)
    return headings


def _is_footer(view: TextView, above: str) -> bool:
    """Return True for a line that a platform or a mail program writes below a reply."""
    if _FOOTER.match(view.text):
        return True
    links = view.links
    if links and (
        any("/unsubscribe" in link.target for link in links)
        or (links[0].start <= 1 and _FOOTER.fullmatch(above.lstrip("> \t")))
    ):
        return True
    return len(view.text) <= _MAX_PROGRAM_CHARS and (
        bool(_PROGRAM.search(view.text))
        + bool(_WAS_SENT.match(view.text))
        + any(link.host in _MAKERS for link in links)
        > 1
    )


def _leads_away(view: TextView, hosts: Sequence[str], *, is_quoted: bool, is_heading: bool) -> bool:
    """Return True if a line sells, gives a contact or has a link to anywhere but `hosts`."""
    ends = tuple(f"{before}{host}" for host in hosts for before in "@.")
    named = {link.host for link in view.links}
    if not (is_quoted or is_heading):
        named.update(filter(registered_domain, named_hosts(_PACKAGE.sub("", view.text))))
    if any(host not in (*hosts, *_MAKERS) and not host.endswith(ends) for host in named):
        return True
    if any(
        contact.kind is not ContactKind.EMAIL
        or not (is_quoted or is_heading or view.text[: contact.end].endswith(ends))
        for contact in find_contacts(view.text, view.word_set)
    ):
        return True
    addresses = [
        (at, at + len(link.target))
        for link in view.links
        if (at := view.text.find(link.target, link.start, link.end)) >= 0
    ]
    text, hits = view.plain.text, find_cues(view.plain.text, view.words)
    # Google's apps are in "/store"; a trade in an address of the platform is one.
    hits = tuple(
        hit for hit in hits if hit.cue is Cue.VICE or not inside(addresses, view.original(hit)[0])
    )
    # "Sent" also means "delivered" in Persian.
    sales = {hit.cue for hit in hits if not re.match(_SENT, text[hit.start :])} & _MAIL_SALES
    # People speak of goods, and a platform calls to what it links to.
    usual = ({Cue.OFFER}, {Cue.CALL}) if is_quoted else ({Cue.CALL},) if view.links else ()
    return bool(sales) and sales not in usual


# A plugin's sentence in any language: "Hans gefällt dieser Beitrag auf social.example."
_MOST_IN_A_REACTION = 12
# "Mara mentioned this article on mara.example."
_MOST_IN_A_MENTION = 6
_MAX_COMPOSED_CHARS = 1_000
_MARKUP = re.compile(r"<[^<>]{0,1000}>|&#?[A-Za-z0-9]{1,10};")
# As blogs quote a page that says nothing but its title.
_TITLE_AND_HOST = re.compile(r"[^\n]{1,300} \([^()\s]{1,253}\)")
_AROUND = " \t\r\n[].…"
# They hand on what was done elsewhere.
_BRIDGES = frozenset({"brid.gy", "fed.brid.gy"})
_SALES = (Cue.OFFER, Cue.VICE, Cue.CALL, Cue.PITCH)


def judged_text(comment: Comment) -> Comment:
    """Return the comment without a mail's footer, and without text if it is a bare reaction."""
    if comment.kind is not None:
        wordless = _is_wordless(comment, comment.kind)
        return replace(comment, text="") if wordless else comment
    if not may_come_by_mail(comment):
        return comment
    end = end_of_own_words(comment.text, platform_host=host_of(comment.post.url or ""))
    return comment if end == len(comment.text) else replace(comment, text=comment.text[:end])


def _is_wordless(comment: Comment, kind: CommentKind) -> bool:
    """Return True if the site composed the text: of a name, a title, a host and few other words.

    A text that sells, gives a contact or leads anywhere else than to its source is judged as any.
    """
    if len(comment.text) > _MAX_COMPOSED_CHARS:
        return False
    text = _MARKUP.sub(" ", comment.text)
    links = find_links(comment.text)
    view = view_of_text(undisguise(text).text)
    name = comment.author.name or ""
    parts = (name, comment.author.url, comment.post.title, *(link.target for link in links))
    known = frozenset(word for part in parts for word in words_of(part or ""))
    sells = _sells(view, comment.post, known, frozenset(words_of(name)))
    if sells or view.contacts or not _lead_to_the_source(links, comment):
        return False
    source, shown = host_of(comment.author.url or ""), text.strip(_AROUND).lower()
    if kind.is_mention and _TITLE_AND_HOST.fullmatch(shown) and shown.endswith(f"({source})"):
        return True
    own = [word for word in words_of(view.plain.text) if word not in known]
    return count_words(own) <= (_MOST_IN_A_MENTION if kind.is_mention else _MOST_IN_A_REACTION)


def _sells(view: TextView, post: Post, known: frozenset[str], name: frozenset[str]) -> bool:
    """Return True if a text sells in words that neither the post nor its author's name explain.

    One word of a trade may be of a name ("Loan Nguyen"); with a second one, the name sells.
    """
    sold = set[str]()
    has_vice = False
    for hit in view.cues:
        text = view.plain.text[hit.start : hit.end]
        if hit.cue not in _SALES or is_about(post, text):
            continue
        if not (name if hit.cue is Cue.VICE else known).issuperset(words_of(text)):
            return True
        has_vice |= hit.cue is Cue.VICE
        sold.add(text)
    return has_vice and len(sold) > 1


def _lead_to_the_source(links: Sequence[Link], comment: Comment) -> bool:
    """Return True if links lead to the author or to this post, or only name a host."""
    own = {domain_of(host_of(url or "")) for url in (comment.author.url, comment.post.url)}
    return all(
        link.domain in own
        or link.host in _BRIDGES
        or (
            (link.target if link.anchor is None else link.anchor).strip().lower() == link.host
            and not sounds_commercial(link.host)
        )
        for link in links
    )
