"""Tells, beside an opened comment, what this instance knows of whoever sent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import url_for

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.sender_record import MAX_COUNTED, Trait, TraitRecord
from service.web.edge.language import gettext, noted, number
from service.web.pages.common.labels import CALLED, RULED
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import services
from service.web.pages.common.presenting import Moment, tell_time

# Enough to tell senders apart by sight; the key itself leads nowhere without the secret.
_KEY_CHARS = 8
_GIST_CHARS = 90
_TRAIT_IN_WORDS = {
    Trait.ADDRESS: noted("Address"),
    Trait.NETWORK: noted("Network"),
    Trait.EMAIL: noted("E-mail"),
    Trait.NAME: noted("Name"),
    Trait.DOMAIN: noted("Linked domain"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitView:
    """One thing that senders are recognised by, and what its other comments came to.

    `key` stands for it: the beginning of its keyed hash, of a domain the domain itself. `seen` is
    a number, or one with a plus.
    """

    what: str
    key: tuple[Piece, ...]
    is_domain: bool
    seen: str
    approved: int
    rejected: int
    waiting: int
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastView:
    """One of the sender's last comments, with what was concluded or ruled."""

    url: str
    gist: tuple[Piece, ...]
    stands: str
    ruling: Ruling | None
    received: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderView:
    """What is known of a sender. `capped` says that some trait has more comments than counted."""

    traits: tuple[TraitView, ...]
    other_names: tuple[tuple[Piece, ...], ...]
    last: tuple[LastView, ...]
    capped: bool
    counted: int = MAX_COUNTED


def about_sender_view(case: Case, site_ids: Sequence[SiteId] | None) -> SenderView | None:
    """Return what is known of a comment's sender from these sites' other comments.

    None where nothing of the sender is kept: nothing came with the comment, or it was withdrawn.
    """
    if case.withdrawn_at is not None:
        return None
    record = services.reputation.sender_records.look_up(case.comment, site_ids=site_ids)
    if not record.traits:
        return None
    now = services.common.clock()
    return SenderView(
        traits=tuple(_trait(trait) for trait in record.traits),
        other_names=tuple(part_text(name[:_GIST_CHARS]) for name in record.other_names),
        last=tuple(_last(one, now) for one in record.last),
        capped=any(trait.capped for trait in record.traits),
    )


def _trait(record: TraitRecord) -> TraitView:
    is_domain = record.trait is Trait.DOMAIN
    # Half a character cannot be written in an address; no search could find it.
    is_writable = record.key.isprintable()
    found = url_for("pages.search", q=f"domain:{record.key}") if is_domain and is_writable else None
    return TraitView(
        what=gettext(_TRAIT_IN_WORDS[record.trait]),
        key=part_text(record.key if is_domain else record.key[:_KEY_CHARS]),
        is_domain=is_domain,
        seen=number(record.seen) + ("+" if record.capped else ""),
        approved=record.approved,
        rejected=record.rejected,
        waiting=record.waiting,
        url=found if record.seen else None,
    )


def _last(case: Case, now: datetime) -> LastView:
    gist = " ".join(case.comment.text[: 2 * _GIST_CHARS].split())
    return LastView(
        url=url_for("pages.comment", comment_id=case.comment.id, show="all"),
        gist=part_text(gist if len(gist) <= _GIST_CHARS else f"{gist[:_GIST_CHARS]}…"),
        stands=_stands(case),
        ruling=case.decision.ruling if case.decision else None,
        received=tell_time(case.comment.received_at, now),
    )


def _stands(case: Case) -> str:
    if case.decision is not None:
        return gettext(RULED[case.decision.ruling])
    if case.verdict is None:
        return gettext("waits for its verdict")
    return gettext(CALLED[case.verdict.outcome])
