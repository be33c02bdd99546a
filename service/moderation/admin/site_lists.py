"""Changes what moderators allow and block; says beforehand what an entry would have done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from service.domain.case import Case, CaseFilter, Order
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.domain.list_entry import (
    MAX_REASON_CHARS,
    Effect,
    EntryFilter,
    EntryKind,
    ListEntry,
)
from service.domain.verdict import Outcome
from service.moderation.admin.acts import make_act
from service.moderation.admin.entry_values import Recognised, recognise
from service.ports.audit import AuditEntry
from service.ports.services import Services
from service.signals.entry_book import EntryBook

# What every process holds in memory: about 1 kB an entry, 10 kB for the longest phrases.
MAX_IN_FORCE = 10_000
MAX_PHRASES_IN_FORCE = 1_000
PREVIEWED_COMMENTS = 1_000
# A phrase that contradicts more of what stands than this is a common one; few hits prove nothing.
MAX_AGAINST_SHARE = 0.02
_MIN_AGAINST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """What a moderator fills in. `expires_in` None means never, `site_id` None all sites."""

    effect: Effect
    kind: EntryKind
    value: str
    reason: str
    site_id: SiteId | None = None
    expires_in: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an entry would have done to the newest comments.

    `n_approved` and `n_rejected` of the matched ones were ruled so by a person. `n_against` of
    them stand as the entry's contrary, by a ruling or else by their verdict, of `n_contrary` that
    do so among all that were looked at.
    """

    n_seen: int
    n_matched: int
    n_approved: int
    n_rejected: int
    n_against: int
    n_contrary: int

    @property
    def is_too_common(self) -> bool:
        """Return True if the entry contradicts so many comments that it must be a mistake."""
        return self.n_against >= _MIN_AGAINST and (
            self.n_against > self.n_contrary * MAX_AGAINST_SHARE
        )


def add_entry(new: NewEntry, services: Services, *, by: str) -> ListEntry:
    """Keep an entry, which counts from the next second on, and return it.

    Raises `InvalidInputError` with all that is wrong, `NotFoundError` for an unknown site.
    """
    entry, problems = _read(new, services, by=by)
    if entry is not None:
        problems += _refusals(entry, services)
    if entry is None or problems:
        raise InvalidInputError(problems)
    act = _acts("add {effect} entry", services, by=by)
    services.list_entries.add([entry], act=act, check=partial(_refuse_doubles, entry))
    return entry


def preview_entry(new: NewEntry, services: Services) -> Preview:
    """Return what an entry would have done to the newest comments; nothing is kept.

    Raises `InvalidInputError` with all that is wrong with it.
    """
    entry, problems = _read(new, services, by="")
    if entry is None:
        raise InvalidInputError(problems)
    return _preview(entry, services)


def problems_of(new: NewEntry, services: Services) -> list[Problem]:
    """Return what is wrong with an entry's value and reason, whatever else there is."""
    return _read(new, services, by="")[1]


def remove_entry(entry_id: str, services: Services, *, by: str) -> ListEntry:
    """End an entry and return it; one that was removed already stays as it is.

    Raises `NotFoundError` for an unknown one.
    """
    act = _acts("remove entry", services, by=by)
    services.list_entries.remove([entry_id], by=by, at=services.clock(), act=act)
    return services.list_entries.get(entry_id)


def restore_entry(entry_id: str, services: Services, *, by: str) -> ListEntry:
    """Take a removal back and return the entry. Raises `NotFoundError` for an unknown one."""
    services.list_entries.restore([entry_id], act=_acts("restore entry", services, by=by))
    return services.list_entries.get(entry_id)


def keep_entries(entries: Sequence[ListEntry], services: Services, *, by: str) -> None:
    """Keep entries that were checked, with their entries in the log; all or none."""
    services.list_entries.add(entries, act=_acts("add {effect} entry", services, by=by))


def make_entry(
    recognised: Recognised,
    services: Services,
    *,
    site_id: SiteId | None,
    effect: Effect,
    kind: EntryKind,
    reason: str,
    by: str,
    expires_in: timedelta | None,
    comment_id: CommentId | None = None,
) -> ListEntry:
    """Return a new entry that counts from now on; it is not kept yet."""
    now = services.clock()
    return ListEntry(
        id=services.new_id("ent"),
        site_id=site_id,
        effect=effect,
        kind=kind,
        label=recognised.label,
        keys=recognised.keys,
        reason=reason,
        added_by=by,
        added_at=now,
        expires_at=now + expires_in if expires_in else None,
        comment_id=comment_id,
    )


def find_doubles(entry: ListEntry, in_force: Sequence[ListEntry]) -> list[ListEntry]:
    """Return which of these entries recognise the same on the same site, allowed or blocked."""
    keys = set(entry.keys)
    return [
        other
        for other in in_force
        if (other.kind, other.site_id) == (entry.kind, entry.site_id)
        and keys.intersection(other.keys)
    ]


def _read(new: NewEntry, services: Services, *, by: str) -> tuple[ListEntry | None, list[Problem]]:
    """Return the entry that is meant, or None with all that is wrong."""
    problems: list[Problem] = []
    recognised = recognise(new.kind, new.value, services.sender_secrets)
    reason = " ".join(new.reason.split())
    if isinstance(recognised, Problem):
        problems.append(recognised)
    if not reason:
        problems.append(Problem("reason", "is missing", "say why, in a few words"))
    elif len(reason) > MAX_REASON_CHARS:
        problems.append(Problem("reason", "is too long", "say it in at most 200 characters"))
    if new.site_id is not None:
        services.sites.get(new.site_id)
    if isinstance(recognised, Problem) or problems:
        return None, problems
    entry = make_entry(
        recognised,
        services,
        site_id=new.site_id,
        effect=new.effect,
        kind=new.kind,
        reason=reason,
        by=by,
        expires_in=new.expires_in,
    )
    return entry, problems


def _refusals(entry: ListEntry, services: Services) -> Iterator[Problem]:
    """Yield why an entry cannot be kept: it is on a list already, one too many, or too common."""
    yield from _double_problems(entry, services.list_entries.in_force(entry.added_at))
    everything = EntryFilter(in_force=True, at=services.clock())
    is_full = services.list_entries.count(everything) >= MAX_IN_FORCE
    is_phrase = entry.kind is EntryKind.PHRASE
    if is_phrase:
        phrases = services.list_entries.count(replace(everything, kind=entry.kind))
        is_full = is_full or phrases >= MAX_PHRASES_IN_FORCE
    if is_full:
        remedy = "remove entries that match nothing any more"
        yield Problem("value", "is one entry too many", remedy)
    if is_phrase and _preview(entry, services).is_too_common:
        problem = "is found in too many comments that stand the other way"
        yield Problem("value", problem, "give a longer phrase")


def _double_problems(entry: ListEntry, in_force: Sequence[ListEntry]) -> list[Problem]:
    doubles = find_doubles(entry, in_force)
    if any(double.effect is entry.effect for double in doubles):
        return [Problem("value", "is on this list already", "remove the other entry first")]
    if doubles:
        return [Problem("value", "is on the other list", "remove the other entry first")]
    return []


def _refuse_doubles(entry: ListEntry, in_force: Sequence[ListEntry]) -> None:
    if problems := _double_problems(entry, in_force):
        raise InvalidInputError(problems)


def _preview(entry: ListEntry, services: Services) -> Preview:
    cases = services.cases.page(
        CaseFilter(site_id=entry.site_id),
        order=Order.NEWEST,
        cursor=None,
        limit=PREVIEWED_COMMENTS,
    ).cases
    book, now = EntryBook([entry]), services.clock()
    matched = [
        case
        for case in cases
        if case.withdrawn_at is None and book.find(case.comment, at=now) is not None
    ]
    rulings = [case.decision.ruling for case in matched if case.decision]
    return Preview(
        n_seen=len(cases),
        n_matched=len(matched),
        n_approved=rulings.count(Ruling.APPROVE),
        n_rejected=rulings.count(Ruling.REJECT),
        n_against=sum(_stands_against(case, entry.effect) for case in matched),
        n_contrary=sum(_stands_against(case, entry.effect) for case in cases),
    )


def _stands_against(case: Case, effect: Effect) -> bool:
    """Return True if the entry would block a comment that is ham, or allow one that is spam.

    What a verdict concluded by an entry says nothing of its own.
    """
    if case.decision is not None:
        contrary = Ruling.REJECT if effect is Effect.ALLOW else Ruling.APPROVE
        return case.decision.ruling is contrary
    if case.verdict is None or case.verdict.followed is not None:
        return False
    return case.verdict.outcome is (Outcome.SPAM if effect is Effect.ALLOW else Outcome.HAM)


def _acts(act: str, services: Services, *, by: str) -> Callable[[ListEntry], AuditEntry]:
    """Return what makes an entry's entry in the log; `{effect}` in `act` is the entry's own."""

    def make(entry: ListEntry) -> AuditEntry:
        # Without the label: a phrase may be a comment's own words.
        where = entry.site_id or "all sites"
        return make_act(
            services,
            actor=by,
            act=act.format(effect=entry.effect),
            subject=entry.id,
            detail=f"{entry.kind} at {where}",
        )

    return make
