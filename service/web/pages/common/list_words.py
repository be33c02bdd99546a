"""Says in the reader's words what an allow or block entry is, and what is wrong with a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.domain.errors import Problem
from service.domain.list_entry import Effect, EntryKind
from service.web.edge.language import gettext, noted

KIND_IN_WORDS: Mapping[EntryKind, str] = {
    EntryKind.DOMAIN: noted("Linked domain"),
    EntryKind.PHRASE: noted("Phrase"),
    EntryKind.EMAIL: noted("E-mail address"),
    EntryKind.MAIL_DOMAIN: noted("Mail domain"),
    EntryKind.ADDRESS: noted("IP address"),
    EntryKind.NETWORK: noted("Network"),
}
EFFECT_IN_WORDS: Mapping[Effect, str] = {
    Effect.BLOCK: noted("Block list"),
    Effect.ALLOW: noted("Allow list"),
}
# By field and problem, as the use cases name them.
_PROBLEMS: Mapping[tuple[str, str], str] = {
    ("value", "is missing"): noted("Give what to list."),
    ("value", "is too long"): noted("This is too long: give at most 320 characters."),
    ("value", "is no e-mail address"): noted(
        "Not a valid e-mail address. Give one such as mara@example.org."
    ),
    ("value", "is no IP address"): noted(
        "Not a valid IP address. Give one such as 192.0.2.7 or 2001:db8::7."
    ),
    ("value", "belongs to a private network"): noted(
        "This belongs to a private network: give the public address that a comment came from."
    ),
    ("value", "is no network"): noted(
        "Not a valid network. Give one such as 192.0.2.0/24 or 2001:db8::/48."
    ),
    ("value", "is too wide a network"): noted(
        "This network is too wide: give at most an IPv4 /16 or an IPv6 /40."
    ),
    ("value", "is of a width that no comment can be compared with"): noted(
        "Comments cannot be compared with a network of this width: give an IPv4 /16 to /24, "
        "an IPv6 /40 to /48 or /56 to /64, or a single address."
    ),
    ("value", "is a mail provider that everybody uses"): noted(
        "This mail provider is too common. Give a single e-mail address."
    ),
    ("value", "is no domain"): noted("Not a valid domain. Give one such as example.com."),
    ("value", "is a suffix under which everybody may register, or none at all"): noted(
        "This is a public suffix. Give a registered domain such as example.com."
    ),
    ("value", "is too long a phrase"): noted(
        "This phrase is too long: give at most 200 characters."
    ),
    ("value", "is too short a phrase"): noted(
        "This phrase is too short: give at least 3 letters or digits, or 2 Chinese, Japanese or "
        "Korean characters."
    ),
    ("value", "is on this list already"): noted("This is on the list already."),
    ("value", "is on the other list"): noted("This is on the other list: remove it there first."),
    ("value", "is one entry too many"): noted(
        "There are too many entries: remove some that match nothing any more."
    ),
    ("value", "is found in too many comments that stand the other way"): noted(
        "More than one in fifty comments with the other outcome contains this phrase: give a "
        "longer one."
    ),
    ("reason", "is missing"): noted("Give a short reason."),
    ("reason", "is too long"): noted("This reason is too long: give at most 200 characters."),
    ("kind", "is missing"): noted("Choose what to list."),
    ("site", "is missing"): noted("Choose one of your sites."),
}


def problems_in_words(problems: Sequence[Problem]) -> dict[str, str]:
    """Return by field what is wrong and what to do about it, in the reader's language."""
    return {problem.field: _in_words(problem) for problem in problems}


def _in_words(problem: Problem) -> str:
    known = _PROBLEMS.get((problem.field, problem.problem))
    return gettext(known) if known else f"{problem.problem}; {problem.remedy}."
