"""The commands for sites, their keys and settings, and lists of allowed and blocked senders."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import click

from service.commands import opening, output
from service.domain.decision import Mode
from service.domain.errors import invalid_input
from service.domain.list_entry import Effect, EntryFilter, EntryKind, ListEntry
from service.domain.page import all_items
from service.domain.site import MAX_UNDO_SECONDS, SWITCHES, Site, SiteSettings
from service.moderation import sites
from service.moderation.lists import NewEntry, add_entry, remove_entry
from service.ports.services import Services

sites_group = click.Group("sites")


@sites_group.command("add")
@click.argument("name")
@click.option("--akismet", is_flag=True, help="Issue a key for Akismet clients too.")
@opening.with_json_services
def sites_add(services: Services, name: str, *, akismet: bool) -> None:
    """Add a site and print its first key, which is shown only once."""
    site, issued = sites.add_site(name, services, actor=opening.ACTOR, akismet=akismet)
    row = {"site_id": site.id, "name": site.name}
    for prefix, one in zip(("", "akismet_"), issued, strict=False):
        row |= {f"{prefix}key_id": one.key.id, f"{prefix}key": one.secret}
    output.print_rows([row])


@sites_group.command("list")
@opening.with_json_services
def sites_list(services: Services) -> None:
    """List the sites with their settings."""
    rows = [_site_row(site) for site in services.sites.all()]
    output.print_rows(rows, empty="There are no sites yet; `slopsieve sites add NAME`.")


@sites_group.command("keys")
@click.argument("site")
@opening.with_json_services
def sites_keys(services: Services, site: Site) -> None:
    """List a site's keys; SITE is its name or id."""
    now = services.clock()
    rows = [
        {
            "key_id": key.id,
            "hint": f"{key.hint}…",
            "valid": key.is_valid(now),
            **output.columns(key, "created_at", "expires_at", "revoked_at"),
        }
        for key in services.sites.list_keys(site.id)
    ]
    output.print_rows(rows, empty="This site has no keys.")


@sites_group.command("add-key")
@click.argument("site")
@opening.with_json_services
def sites_add_key(services: Services, site: Site) -> None:
    """Issue one more key for a site and print it; it is shown only once."""
    _print_key(sites.issue_key(site.id, services, actor=opening.ACTOR))


@sites_group.command("add-akismet-key")
@click.argument("site")
@opening.with_json_services
def sites_add_akismet_key(services: Services, site: Site) -> None:
    """Issue a key for a site's Akismet clients and print it; it is shown only once.

    It is valid only for Akismet calls. Rotating a site's keys does not change it; `revoke-key` ends
    it.
    """
    issued = sites.issue_key(site.id, services, actor=opening.ACTOR, is_akismet=True)
    row = {"site_id": site.id, "akismet_key_id": issued.key.id, "akismet_key": issued.secret}
    output.print_rows([row])


@sites_group.command("rotate-key")
@click.argument("site")
@click.option(
    "--overlap-days",
    type=click.FloatRange(0, 365),
    default=7.0,
    show_default=True,
    help="How long the old keys stay valid.",
)
@opening.with_json_services
def sites_rotate(services: Services, site: Site, overlap_days: float) -> None:
    """Issue a new key; the site's other keys end after the overlap."""
    overlap = timedelta(days=overlap_days)
    _print_key(sites.rotate_keys(site.id, services, actor=opening.ACTOR, overlap=overlap))


@sites_group.command("revoke-key")
@click.argument("key_id")
@opening.with_services
def sites_revoke(services: Services, key_id: str) -> None:
    """End a key at once."""
    key = sites.revoke_key(key_id, services, actor=opening.ACTOR)
    click.echo(f"The key {key.hint}… is revoked.")


def _blog(given: str) -> str:
    if not sites.is_blog(given.strip()):
        raise click.BadParameter("is not the address of a web page such as https://blog.example/")
    return given.strip()


def _add_switches(command: Callable[..., None]) -> Callable[..., None]:
    for name, switch in reversed(SWITCHES.items()):
        says = f"{switch.group}: {switch.label}"
        command = click.option(switch.option, name, default=None, help=says)(command)
    return command


@sites_group.command("set")
@click.argument("site")
@click.option(
    "--mode",
    type=opening.ByValue(Mode),
    help="How much verdicts may do before a person has looked.",
)
@click.option("--ham-cutoff", type=click.FloatRange(0, 1), help="Ham below this p_spam.")
@click.option("--spam-cutoff", type=click.FloatRange(0, 1), help="Spam from this p_spam up.")
@click.option("--promised-cutoffs", is_flag=True, help="Follow the model's promised cutoffs again.")
@click.option("--language", multiple=True, hidden=True, expose_value=False)  # scripts pass it
@_add_switches
@click.option(
    "--undo-seconds",
    type=click.IntRange(0, MAX_UNDO_SECONDS),
    help="How long after a moderator's ruling the site is notified; 0 is at once.",
)
@click.option(
    "--forget-taught",
    is_flag=True,
    help="Forget what its decisions taught; the decisions themselves stay.",
)
@click.option(
    "--blog",
    type=_blog,
    metavar="TEXT",
    help="Its front page: only its pages may send forms, only it gets Akismet callbacks.",
)
@opening.with_json_services
def sites_set(
    services: Services, /, site: Site, *, promised_cutoffs: bool, forget_taught: bool, **others: Any
) -> None:
    """Change a site's settings; the others stay."""
    asked = {name: value for name, value in others.items() if value is not None}

    def change(old: SiteSettings) -> SiteSettings:
        if promised_cutoffs:
            old = replace(old, ham_cutoff=None, spam_cutoff=None)
        if forget_taught:
            old = replace(old, learns_since=services.clock())
        return replace(old, **asked)

    try:
        changed = sites.change_site_settings(site.id, change, services, actor=opening.ACTOR)
    except ValueError as error:
        remedy = "give a ham cutoff that is not above the spam cutoff"
        raise invalid_input("--ham-cutoff, --spam-cutoff", str(error), remedy) from None
    output.print_rows([_site_row(changed)])


def _print_key(issued: sites.IssuedKey) -> None:
    key = issued.key
    output.print_rows([{"site_id": key.site_id, "key_id": key.id, "key": issued.secret}])


def _site_row(site: Site) -> dict[str, object]:
    return {
        "site_id": site.id,
        "name": site.name,
        **asdict(site.settings),
        "created_at": site.created_at,
    }


lists_group = click.Group("lists")


@lists_group.command("add")
@click.argument("effect", type=opening.ByValue(Effect))
@click.argument("kind", type=opening.ByValue(EntryKind))
@click.argument("value")
@click.option("--reason", required=True, help="Why; moderators and the site read it.")
@click.option("--site", help="Its name or id; without it the entry is for all sites.")
@click.option(
    "--days", type=click.IntRange(1, 3_650), help="How long it is valid; by default forever."
)
@opening.with_json_services
def lists_add(services: Services, /, *, site: Site | None, days: int | None, **entry: Any) -> None:
    """Allow or block VALUE; running workers follow within a second.

    E-mails, addresses and networks are stored only as keyed hashes.
    """
    expires_in = timedelta(days=days) if days else None
    new = NewEntry(**entry, site_id=site.id if site else None, expires_in=expires_in)
    output.print_rows([_entry_row(add_entry(new, services, by=opening.ACTOR))])


@lists_group.command("list")
@click.option("--ended", is_flag=True, help="List removed and expired entries instead.")
@opening.with_json_services
def lists_list(services: Services, *, ended: bool) -> None:
    """List the entries in force, newest first, with how often each was followed."""
    criteria = EntryFilter(in_force=not ended, at=services.clock())
    entries = all_items(lambda at: services.list_entries.page(criteria, cursor=at, limit=500))
    rows = [_entry_row(entry) for entry in entries]
    output.print_rows(rows, empty="There are no entries; `slopsieve lists add`.")


@lists_group.command("remove")
@click.argument("entry_id")
@opening.with_services
def lists_remove(services: Services, entry_id: str) -> None:
    """End an entry; running workers follow within a second."""
    entry = remove_entry(entry_id, services, by=opening.ACTOR)
    click.echo(f"The {entry.effect} entry {entry.id} is removed.")


def _entry_row(entry: ListEntry) -> dict[str, object]:
    return {
        "entry_id": entry.id,
        **output.columns(entry, "effect", "kind", "label"),
        "site_id": entry.site_id or "all",
        **output.columns(entry, "reason", "added_by", "expires_at", "hits"),
    }
