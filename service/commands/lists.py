"""The commands that show and change what moderators allow and block."""

from __future__ import annotations

from datetime import timedelta

import click

from service.commands.opening import ACTOR, ByValue, find_site, with_json_services, with_services
from service.commands.output import columns, print_rows
from service.domain.list_entry import Effect, EntryFilter, EntryKind, ListEntry
from service.moderation.lists import (
    NewEntry,
    add_entry,
    remove_entry,
)
from service.ports.services import Services

_PORTION = 500


@click.group("lists")
def lists_group() -> None:
    """Allow and block senders, networks, domains and phrases."""


@lists_group.command("add")
@click.argument("effect", type=ByValue(Effect))
@click.argument("kind", type=ByValue(EntryKind))
@click.argument("value")
@click.option("--reason", required=True, help="Why; moderators and the site read it.")
@click.option("--site", help="Its name or id; without it the entry is for all sites.")
@click.option("--days", type=click.IntRange(1, 3_650), help="How long it counts; for ever if left.")
@with_json_services
def add_command(
    services: Services,
    effect: Effect,
    kind: EntryKind,
    value: str,
    reason: str,
    site: str | None,
    days: int | None,
) -> None:
    """Allow or block VALUE; running workers follow within a second.

    E-mails, addresses and networks are kept as keyed hashes alone.
    """
    new = NewEntry(
        effect=effect,
        kind=kind,
        value=value,
        reason=reason,
        site_id=find_site(site, services).id if site else None,
        expires_in=timedelta(days=days) if days else None,
    )
    print_rows([_row(add_entry(new, services, by=ACTOR))])


@lists_group.command("list")
@click.option("--ended", is_flag=True, help="Those that were removed or have expired instead.")
@with_json_services
def list_command(services: Services, *, ended: bool) -> None:
    """List the entries in force, newest first, with how often each was followed."""
    criteria = EntryFilter(in_force=not ended, at=services.clock())
    page = services.list_entries.page(criteria, cursor=None, limit=_PORTION)
    rows = [_row(entry) for entry in page.entries]
    while page.next_cursor:
        page = services.list_entries.page(criteria, cursor=page.next_cursor, limit=_PORTION)
        rows += map(_row, page.entries)
    print_rows(rows, empty="There are no entries; `slopsieve lists add`.")


@lists_group.command("remove")
@click.argument("entry_id")
@with_services
def remove_command(services: Services, entry_id: str) -> None:
    """End an entry; running workers follow within a second."""
    entry = remove_entry(entry_id, services, by=ACTOR)
    click.echo(f"The {entry.effect} entry {entry.id} is removed.")


def _row(entry: ListEntry) -> dict[str, object]:
    return {
        "entry_id": entry.id,
        **columns(entry, "effect", "kind", "label"),
        "site_id": entry.site_id or "all",
        **columns(entry, "reason", "added_by", "expires_at", "hits"),
    }
