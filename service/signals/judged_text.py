"""Leaves out of a comment what its writer did not write, before it is judged and learnt from.

What is kept and shown stays whole, and so does what list entries are compared with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from service.domain.comment import Comment, CommentKind, Post
from service.signals.hosts import host_of, registered_domain
from service.signals.lexicon import Cue
from service.signals.links import Link, find_links
from service.signals.mail_footers import end_of_own_words, may_come_by_mail
from service.signals.phrases import count_words, words_of
from service.signals.posts import is_about
from service.signals.shop_names import sounds_commercial
from service.signals.view import TextView, view_of_text

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
    """Return the comment with the words that count: none of a bare reaction, no mail's footer."""
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
    view = view_of_text(text)
    name = comment.author.name or ""
    parts = (name, comment.author.url, comment.post.title, *(link.target for link in links))
    known = frozenset(word for part in parts for word in words_of(part or ""))
    sells = _sells(view, comment.post, known, frozenset(words_of(name)))
    if sells or view.contacts or not _lead_to_the_source(links, comment):
        return False
    source, told = host_of(comment.author.url or ""), text.strip(_AROUND).lower()
    if kind.is_mention and _TITLE_AND_HOST.fullmatch(told) and told.endswith(f"({source})"):
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
    own = {
        registered_domain(host) or host
        for host in (host_of(comment.author.url or ""), host_of(comment.post.url or ""))
        if host
    }
    return all(
        link.domain in own
        or link.host in _BRIDGES
        or (
            (link.target if link.anchor is None else link.anchor).strip().lower() == link.host
            and not sounds_commercial(link.host)
        )
        for link in links
    )
