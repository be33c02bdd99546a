"""Names what a comment's sender may share with others of a ring."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from service.campaigns.own_words import own_words
from service.campaigns.targets import is_name, targets_of
from service.domain.campaign import SELLS_P_SPAM
from service.domain.comment import Comment, CommentId, Sender
from service.domain.history import History
from service.reputation.fingerprints import fingerprints_of

TIES_AN_ACT = 16
_MAX_TARGETS = 5
_HOUR = timedelta(hours=1).total_seconds()
_MAX_SHAPE_CHARS = 24
_SHAPED_CHARS = 200
_DIGEST_BYTES = 8


class Tie(StrEnum):
    """What two senders may have in common."""

    TARGET = "target"
    COPY = "copy"
    BLOCK = "block"
    BORN = "born"
    ANSWER = "answer"
    SHAPE = "shape"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One comment as rings are found by it: who sent it, when, and what others may share.

    `who` is a keyed hash of the account or the person. Each tie is its kind, a colon and a digest
    of the thing. `sells` says that the comment itself is more likely spam than not.
    """

    comment_id: CommentId
    who: str
    at: datetime
    ties: tuple[str, ...]
    sells: bool


def act_of(
    comment: Comment,
    *,
    p_spam: float | None,
    blog: str | None = None,
    history: History | None = None,
) -> Act | None:
    """Return a comment's act, None where nothing tells its sender from others.

    `blog` and `history` keep what is the site's own or its regulars' from being a target; see
    `service.campaigns.traits.traits_of`.
    """
    who = who_sent(comment.sender)
    if who is None:
        return None
    ties = _ties(comment, blog, history or History())
    return Act(
        comment_id=comment.id,
        who=who,
        at=comment.received_at,
        ties=tuple(
            islice(dict.fromkeys(f"{kind}:{_digest(thing)}" for kind, thing in ties), TIES_AN_ACT)
        ),
        sells=p_spam is not None and p_spam >= SELLS_P_SPAM,
    )


def who_sent(sender: Sender) -> str | None:
    """Return the key of the account or the e-mail; an address alone is many people's."""
    return sender.account_key or sender.email_key


def kind_of(tie: str) -> Tie:
    """Return of which kind a tie is."""
    return Tie(tie.partition(":")[0])


def shape_of(name: str) -> str:
    """Return a name's shape: `A` for capitals, `a` for small letters, `9` for each digit."""
    shape, last = [], ""
    for char in name[:_SHAPED_CHARS]:
        kind = "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        if kind != last or kind == "9":
            shape.append(kind)
        last = kind
    return "".join(shape)[:_MAX_SHAPE_CHARS]


def _ties(comment: Comment, blog: str | None, history: History) -> Iterator[tuple[Tie, str]]:
    targets = (t for t in targets_of(comment, blog=blog, history=history) if not is_name(t))
    yield from ((Tie.TARGET, target) for target in islice(targets, _MAX_TARGETS))
    yield from ((Tie.COPY, str(key)) for key in fingerprints_of(own_words(comment)))
    site = comment.site_id
    if comment.sender.network_key:
        hour = int(comment.received_at.timestamp() // _HOUR)
        yield Tie.BLOCK, f"{comment.sender.network_key}:{hour}"
    if comment.author.account_age_days is not None:
        born = comment.received_at.date().toordinal() - comment.author.account_age_days
        yield Tie.BORN, f"{site}:{born}"
    for answered in (comment.site_comment_id, comment.reply_to):
        if answered:
            yield Tie.ANSWER, f"{site}:{answered}"
    if comment.author.name:
        domain = comment.sender.email_domain or ""
        yield Tie.SHAPE, f"{shape_of(comment.author.name)}:{domain}"


def _digest(thing: str) -> str:
    data = thing.encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
