"""The commands that show and change what moderators allow and block."""

from __future__ import annotations

from datetime import timedelta

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.sites import find_site
from service.domain.list_entry import Effect, EntryFilter, EntryKind, ListEntry
from service.moderation.admin.site_lists import (
    NewEntry,
    add_entry,
    list_entries,
    remove_entry,
)

_PORTION = 500


@click.group("lists")
def lists_group() -> None:
    """Allow and block senders, networks, domains and phrases."""


@lists_group.command("add")
@click.argument("effect", type=click.Choice([effect.value for effect in Effect]))
@click.argument("kind", type=click.Choice([kind.value for kind in EntryKind]))
@click.argument("value")
@click.option("--reason", required=True, help="Why; moderators and the site read it.")
@click.option("--site", default=None, help="Its name or id; without it the entry is for all sites.")
@click.option("--days", type=click.IntRange(1, 3_650), help="How long it counts; for ever if left.")
@data_dir_option
@json_option
def add_command(
    effect: str,
    kind: str,
    value: str,
    reason: str,
    site: str | None,
    days: int | None,
    data_dir: str | None,
    *,
    as_json: bool,
) -> None:
    """Allow or block VALUE; running workers follow within a second.

    E-mails, addresses and networks are kept as keyed hashes alone.
    """
    with open_services(data_dir=data_dir) as services:
        new = NewEntry(
            effect=Effect(effect),
            kind=EntryKind(kind),
            value=value,
            reason=reason,
            site_id=find_site(site, services.common).id if site else None,
            expires_in=timedelta(days=days) if days else None,
        )
        row = _row(add_entry(new, services, by=ACTOR))
    print_rows([row], as_json=as_json)


@lists_group.command("list")
@click.option("--ended", is_flag=True, help="Those that were removed or have expired instead.")
@data_dir_option
@json_option
def list_command(data_dir: str | None, *, ended: bool, as_json: bool) -> None:
    """List the entries in force, newest first, with how often each was followed."""
    rows: list[dict[str, object]] = []
    cursor, more = None, True
    with open_services(data_dir=data_dir) as services:
        criteria = EntryFilter(in_force=not ended, at=services.common.clock())
        while more:
            page = list_entries(criteria, services.reputation, cursor=cursor, limit=_PORTION)
            rows += map(_row, page.entries)
            cursor, more = page.next_cursor, page.next_cursor is not None
    print_rows(rows, as_json=as_json, empty="There are no entries; `slopsieve lists add`.")


@lists_group.command("remove")
@click.argument("entry_id")
@data_dir_option
def remove_command(entry_id: str, data_dir: str | None) -> None:
    """End an entry; running workers follow within a second."""
    with open_services(data_dir=data_dir) as services:
        entry = remove_entry(entry_id, services.reputation, services.common, by=ACTOR)
    click.echo(f"The {entry.effect} entry {entry.id} is removed.")


def _row(entry: ListEntry) -> dict[str, object]:
    return {
        "entry_id": entry.id,
        "effect": entry.effect.value,
        "kind": entry.kind.value,
        "label": entry.label,
        "site_id": entry.site_id or "all",
        "reason": entry.reason,
        "added_by": entry.added_by,
        "expires_at": entry.expires_at,
        "hits": entry.hits,
    }
