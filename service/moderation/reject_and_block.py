"""Rules on a comment and lists its sender, in one act that can be undone together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from service.domain.case import Case
from service.domain.comment import Comment, CommentId, Sender
from service.domain.decision import Ruling
from service.domain.errors import invalid_input
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.moderation.decisions import decide_comment, undo_as_seen
from service.moderation.lists import (
    MAX_IN_FORCE,
    Recognised,
    acts_on_entries,
    find_doubles,
    recognise,
    remove_entry,
    short_label,
)
from service.ports.services import Services
from service.signals.hosts import is_reference, registered_domain
from service.signals.view import linked_domains

# More would fill the screen; a comment with more domains is better listed by its sender.
MAX_DOMAINS_OFFERED = 3
# Addresses change hands soon, and many people share a network.
_EXPIRES_IN = {EntryKind.ADDRESS: timedelta(days=30), EntryKind.NETWORK: timedelta(days=7)}
_REASONS = {
    Effect.BLOCK: "from a comment that was rejected",
    Effect.ALLOW: "from a comment that was approved",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    kind: EntryKind
    recognised: Recognised
    expires_in: timedelta | None

    @property
    def name(self) -> str:
        """Return its name in forms: the kind, for domains with the domain."""
        is_one_of_many = self.kind is EntryKind.DOMAIN
        return f"{self.kind}:{self.recognised.label}" if is_one_of_many else self.kind.value


def traits_of(comment: Comment, effect: Effect, services: Services) -> tuple[Trait, ...]:
    """Return the traits of a comment's sender that can be listed, without widely cited domains."""
    sender, older = comment.sender, comment.sender.before_rotation or Sender()
    keys = {
        EntryKind.EMAIL: (sender.email_key, older.email_key),
        EntryKind.ADDRESS: (sender.address_key, older.address_key),
        EntryKind.NETWORK: (sender.network_key, older.network_key),
    }
    traits = [
        Trait(
            kind=kind,
            recognised=Recognised(label=short_label(some[0]), keys=tuple(filter(None, some))),
            expires_in=_EXPIRES_IN.get(kind),
        )
        for kind, some in keys.items()
        if some[0]
    ]
    domains = []
    for domain in linked_domains(comment):
        found = recognise(EntryKind.DOMAIN, domain, services.sender_secrets)
        if isinstance(found, Recognised) and not is_reference(domain, registered_domain(domain)):
            domains.append(Trait(kind=EntryKind.DOMAIN, recognised=found, expires_in=None))
    traits += domains[:MAX_DOMAINS_OFFERED]
    # A trusted person's network has other people too.
    if effect is Effect.ALLOW:
        traits = [trait for trait in traits if trait.kind is not EntryKind.NETWORK]
    return tuple(traits)


def decide_and_list(
    comment_id: CommentId,
    effect: Effect,
    what: Collection[str],
    services: Services,
    *,
    by: str,
    seen_decision_id: str | None = None,
) -> tuple[Case, list[ListEntry]]:
    """Reject a comment and block traits of it, or approve it and allow them, at its site.

    Nothing is added to full lists, for a trait that an entry of the site lists already, with either
    effect, or for a sender who is erased meanwhile. Raises `InvalidInputError` for a trait that the
    comment does not have, otherwise as `decide_comment`; then nothing was changed.
    """
    comment = services.cases.get(comment_id).comment
    traits = [trait for trait in traits_of(comment, effect, services) if trait.name in what]
    if len(traits) < len(set(what)):
        raise invalid_input("what", "names what this comment does not have", "reload the comment")
    ruling = Ruling.REJECT if effect is Effect.BLOCK else Ruling.APPROVE
    seen = () if seen_decision_id is None else (seen_decision_id,)
    case = decide_comment(comment_id, ruling, services, decided_by=by, instead_of=seen)
    now = services.clock()
    new = [
        ListEntry(
            id=services.new_id("ent"),
            site_id=comment.site_id,
            effect=effect,
            kind=trait.kind,
            label=trait.recognised.label,
            keys=trait.recognised.keys,
            reason=_REASONS[effect],
            added_by=by,
            added_at=now,
            expires_at=now + trait.expires_in if trait.expires_in else None,
            comment_id=comment.id,
        )
        for trait in traits
    ]

    def choose(in_force: Sequence[ListEntry]) -> list[ListEntry]:
        unlisted = [entry for entry in new if not find_doubles(entry, in_force)]
        # All processes hold all entries in memory, so only the ruling is recorded beyond the limit.
        return unlisted[: max(0, MAX_IN_FORCE - len(in_force))]

    act = acts_on_entries("add", services, by=by)
    added = services.list_entries.add(new, act=act, choose=choose) if new else []
    return case, added


def undo_reject_and_block(
    comment_id: CommentId,
    entry_ids: Sequence[str],
    services: Services,
    *,
    by: str,
    seen_decision_id: str | None,
) -> Case:
    """Undo a ruling and its own entries. Raises as `undo_as_seen`; then nothing was changed."""
    entries = [services.list_entries.get(entry_id) for entry_id in entry_ids]
    case = undo_as_seen(comment_id, services, undone_by=by, seen_decision_id=seen_decision_id)
    for entry in entries:
        if entry.comment_id == comment_id:
            remove_entry(entry.id, services, by=by)
    return case
