"""Turns comments and queries into the same terms, so that both databases find the same comments.

A term is a letter for its kind and a word: `wloan` is the word of a text, `aloan` of a name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.domain.comment import Comment, SiteId
from service.domain.search import SINGLE, Field, SearchQuery, Term
from service.domain.search_words import phrase_of, stands_alone, words_of
from service.domain.verdict import Verdict
from service.signals.hosts import host_of, registered_domain
from service.signals.links import find_links

# PostgreSQL takes 1 MiB of terms and remembers where a word stands up to place 16,383.
_MAX_WORDS = 15_000
_MAX_BYTES = 400_000
_MAX_HOSTS = 100
# Words this short are so common that finding what begins like them would find everything.
MIN_PREFIX_CHARS = 3

EVERYTHING = "z"
_WORD, _AUTHOR, _DOMAIN, _SIGNAL, _OUTCOME, _MODEL, _FLAG, _SITE = "wadsomft"
_WAITING = "waiting"
_DEGRADED, _AUDIT = f"{_FLAG}degraded", f"{_FLAG}audit"
_FLAGS = {Field.DEGRADED: _DEGRADED, Field.AUDIT: _AUDIT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Terms that follow one another; of the last one its beginning is enough if `begins`."""

    terms: tuple[str, ...]
    begins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a comment must have: one of these phrases, or none of them if `negated`."""

    any_of: tuple[Phrase, ...]
    negated: bool = False


def terms_of(comment: Comment, verdict: Verdict | None, *, audit: bool) -> list[str]:
    """Return the terms of a comment, those of its text and of its author's name in order."""
    text = [f"{_WORD}{word}" for word in words_of(comment.text)[:_MAX_WORDS]]
    author = [f"{_AUTHOR}{word}" for word in words_of(comment.author.name or "")]
    facts = [EVERYTHING, site_term(comment.site_id)]
    facts += [domain_term(host) for host in hosts_of(comment)]
    facts += _verdict_terms(verdict)
    if audit:
        facts.append(_AUDIT)
    return [*facts, *author, *_bounded(text)]


def hosts_of(comment: Comment) -> list[str]:
    """Return the hosts that a comment and its author link to, and their registered domains."""
    linked = [link.host for link in find_links(comment.text)][:_MAX_HOSTS]
    hosts = [host for host in (*linked, host_of(comment.author.url or "")) if host]
    return list(dict.fromkeys(name for h in hosts for name in (h, registered_domain(h)) if name))


def site_term(site_id: SiteId) -> str:
    """Return the term that all comments of a site have."""
    return f"{_SITE}{_digest(site_id)}"


def domain_term(host: str) -> str:
    """Return the term of a host or domain. It is a digest, as hosts are hostile text."""
    return f"{_DOMAIN}{_digest(host.lower())}"


def needs_of(query: SearchQuery) -> list[Need]:
    """Return what a query needs of a comment's terms; fields that are none of theirs are left."""
    needs = [_flag_need(term) for term in query.of(*_FLAGS)]
    for field in _PHRASES:
        terms = query.of(field)
        wanted = [_phrase(term) for term in terms if not term.negated]
        if field in SINGLE and wanted:
            needs.append(Need(any_of=tuple(wanted)))
        else:
            needs += [Need(any_of=(phrase,)) for phrase in wanted]
        needs += [Need(any_of=(_phrase(term),), negated=True) for term in terms if term.negated]
    return needs


def site_need(site_ids: Sequence[SiteId]) -> Need:
    """Return the need to be of one of these sites, of which there must be one."""
    return Need(any_of=tuple(Phrase(terms=(site_term(site_id),)) for site_id in site_ids))


def domain_need(domain: str) -> Need:
    """Return the need to link to this host or domain."""
    return Need(any_of=(Phrase(terms=(domain_term(domain),)),))


def _verdict_terms(verdict: Verdict | None) -> Iterator[str]:
    if verdict is None:
        yield f"{_OUTCOME}{_WAITING}"
        return
    yield f"{_OUTCOME}{verdict.outcome.value}"
    yield f"{_MODEL}{_digest(verdict.model_version)}"
    if verdict.degraded:
        yield _DEGRADED
    for weighed in verdict.signals:
        yield f"{_SIGNAL}{_digest(weighed.signal.name)}"


def _bounded(terms: Sequence[str]) -> Iterator[str]:
    size = 0
    for term in terms:
        size += len(term.encode()) + 8
        if size > _MAX_BYTES:
            return
        yield term


def _flag_need(term: Term) -> Need:
    # Without "yes" is with "no", and the other way round.
    phrase = Phrase(terms=(_FLAGS[term.field],))
    return Need(any_of=(phrase,), negated=(term.value == "no") is not term.negated)


def _phrase(term: Term) -> Phrase:
    return _PHRASES[term.field](term)


def _words(kind: str, term: Term) -> Phrase:
    words = phrase_of(term.value)
    last = words[-1]
    begins = stands_alone(last) or (not term.exact and len(last) >= MIN_PREFIX_CHARS)
    return Phrase(terms=tuple(f"{kind}{word}" for word in words), begins=begins)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# Decisions and reports change, so that stores look them up; sites become those an account sees.
_PHRASES: Mapping[Field, Callable[[Term], Phrase]] = {
    Field.TEXT: lambda term: _words(_WORD, term),
    Field.AUTHOR: lambda term: _words(_AUTHOR, term),
    Field.DOMAIN: lambda term: _one(domain_term(host_of(term.value) or term.value)),
    Field.SIGNAL: lambda term: _one(f"{_SIGNAL}{_digest(term.value.lower())}"),
    Field.MODEL: lambda term: _one(f"{_MODEL}{_digest(term.value)}"),
    Field.OUTCOME: lambda term: _one(f"{_OUTCOME}{term.value}"),
}


def _one(term: str) -> Phrase:
    return Phrase(terms=(term,))
