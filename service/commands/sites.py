"""The commands for sites, their keys and settings, and what is allowed and blocked there."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from typing import Any

import click

from service.commands.opening import (
    ACTOR,
    ByValue,
    find_site,
    find_site_id,
    with_json_services,
    with_services,
)
from service.commands.output import columns, print_rows
from service.domain.decision import Mode
from service.domain.errors import InvalidInputError, Problem
from service.domain.list_entry import Effect, EntryFilter, EntryKind, ListEntry
from service.domain.site import MAX_UNDO_SECONDS, Site, SiteSettings
from service.moderation.lists import NewEntry, add_entry, remove_entry
from service.moderation.sites import (
    IssuedKey,
    add_site,
    change_site_settings,
    is_blog,
    issue_akismet_key,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.ports.services import Services

_switch = partial(click.option, default=None)


@click.group("sites")
def sites_group() -> None:
    """Add sites; manage their keys and settings."""


@sites_group.command("add")
@click.argument("name")
@click.option("--akismet", is_flag=True, help="Issue a key for Akismet clients too.")
@with_json_services
def sites_add(services: Services, name: str, *, akismet: bool) -> None:
    """Add a site and print its first key, which is shown this once."""
    site, issued = add_site(name, services, actor=ACTOR)
    row = {"site_id": site.id, "name": site.name, "key_id": issued.key.id, "key": issued.secret}
    if akismet:
        row |= _akismet_key(site, services)
    print_rows([row])


@sites_group.command("list")
@with_json_services
def sites_list(services: Services) -> None:
    """List the sites with their settings."""
    rows = [_site_row(site) for site in services.sites.all()]
    print_rows(rows, empty="There are no sites yet; `slopsieve sites add NAME`.")


@sites_group.command("keys")
@click.argument("site")
@with_json_services
def sites_keys(services: Services, site: str) -> None:
    """List a site's keys; SITE is its name or id."""
    now = services.clock()
    rows = [
        {
            "key_id": key.id,
            "hint": f"{key.hint}…",
            "valid": key.is_valid(now),
            **columns(key, "created_at", "expires_at", "revoked_at"),
        }
        for key in services.sites.list_keys(find_site(site, services).id)
    ]
    print_rows(rows, empty="This site has no keys.")


@sites_group.command("add-key")
@click.argument("site")
@with_json_services
def sites_add_key(services: Services, site: str) -> None:
    """Issue one more key for a site and print it, this once."""
    _print_key(issue_key(find_site(site, services).id, services, actor=ACTOR))


@sites_group.command("add-akismet-key")
@click.argument("site")
@with_json_services
def sites_add_akismet_key(services: Services, site: str) -> None:
    """Issue a key for a site's Akismet clients and print it, this once.

    It opens the Akismet calls alone. Rotating a site's keys leaves it be; `revoke-key` ends it.
    """
    found = find_site(site, services)
    print_rows([{"site_id": found.id, **_akismet_key(found, services)}])


@sites_group.command("rotate-key")
@click.argument("site")
@click.option(
    "--overlap-days",
    type=click.FloatRange(0, 365),
    default=7.0,
    show_default=True,
    help="How long the old keys stay valid.",
)
@with_json_services
def sites_rotate(services: Services, site: str, overlap_days: float) -> None:
    """Issue a new key; the site's other keys end after the overlap."""
    site_id, overlap = find_site(site, services).id, timedelta(days=overlap_days)
    _print_key(rotate_keys(site_id, services, actor=ACTOR, overlap=overlap))


@sites_group.command("revoke-key")
@click.argument("key_id")
@with_services
def sites_revoke(services: Services, key_id: str) -> None:
    """End a key at once."""
    key = revoke_key(key_id, services, actor=ACTOR)
    click.echo(f"The key {key.hint}… is revoked.")


@sites_group.command("set")
@click.argument("site")
@click.option(
    "--mode", type=ByValue(Mode), help="How far a verdict may act before a person has looked."
)
@click.option("--ham-cutoff", type=click.FloatRange(0, 1), help="Ham below this p_spam.")
@click.option("--spam-cutoff", type=click.FloatRange(0, 1), help="Spam from this p_spam up.")
@click.option("--promised-cutoffs", is_flag=True, help="Follow the model's promised cutoffs again.")
@click.option("--language", "languages", multiple=True, help="A usual language; may be repeated.")
@_switch(
    "--holds-unsure/--passes-unsure",
    help="What clients that know only spam and ham are told of an unsure comment.",
)
@_switch(
    "--reports-decide/--reports-ask",
    help="Whether a report counts as a decision or brings the comment before a moderator.",
)
@click.option(
    "--undo-seconds",
    type=click.IntRange(0, MAX_UNDO_SECONDS),
    help="How long after a moderator's ruling the site is told of it; 0 tells it at once.",
)
@_switch(
    "--rejects-campaigns/--asks-about-campaigns",
    help="Whether unsure members of a campaign that people rejected are rejected without a person.",
)
@_switch("--learns/--learns-not", help="Whether its decisions help with the next comments at once.")
@click.option(
    "--forget-taught",
    is_flag=True,
    help="Forget what its decisions taught so far; the decisions themselves stay.",
)
@_switch(
    "--public-feed/--no-public-feed", help="Whether anybody may read what it shows under a post."
)
@_switch(
    "--explains-spam/--no-explains-spam",
    help="Whether authors of spam, too, may read why it is held, and appeal.",
)
@click.option(
    "--blog", help="Its front page: only its pages may send forms, only it gets Akismet callbacks."
)
@with_json_services
def sites_set(
    services: Services,
    /,
    site: str,
    *,
    promised_cutoffs: bool,
    forget_taught: bool,
    languages: tuple[str, ...],
    **others: Any,  # a setting each
) -> None:
    """Change a site's settings; what is not named stays."""
    asked = {name: value for name, value in others.items() if value is not None}
    if languages:
        asked["languages"] = languages
    if "blog" in asked:
        asked["blog"] = asked["blog"].strip()
        if not is_blog(asked["blog"]):
            remedy = "give one such as https://blog.example/"
            raise InvalidInputError([Problem("--blog", "is not the address of a web page", remedy)])

    def change(old: SiteSettings) -> SiteSettings:
        if promised_cutoffs:
            old = replace(old, ham_cutoff=None, spam_cutoff=None)
        if forget_taught:
            old = replace(old, learns_since=services.clock())
        return replace(old, **asked)

    found = find_site(site, services)
    try:
        changed = change_site_settings(found.id, change, services, actor=ACTOR)
    except ValueError as error:
        remedy = "give a ham cutoff that is not above the spam cutoff"
        problem = Problem("--ham-cutoff, --spam-cutoff", str(error), remedy)
        raise InvalidInputError([problem]) from None
    print_rows([_site_row(changed)])


def _print_key(issued: IssuedKey) -> None:
    key = issued.key
    print_rows([{**columns(key, "site_id"), "key_id": key.id, "key": issued.secret}])


def _akismet_key(site: Site, services: Services) -> dict[str, str]:
    issued = issue_akismet_key(site.id, services, actor=ACTOR)
    return {"akismet_key_id": issued.key.id, "akismet_key": issued.secret}


def _site_row(site: Site) -> dict[str, object]:
    return {
        "site_id": site.id,
        "name": site.name,
        **asdict(site.settings),
        "languages": ", ".join(site.settings.languages),
        "created_at": site.created_at,
    }


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
def lists_add(
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
        site_id=find_site_id(site, services),
        expires_in=timedelta(days=days) if days else None,
    )
    print_rows([_entry_row(add_entry(new, services, by=ACTOR))])


@lists_group.command("list")
@click.option("--ended", is_flag=True, help="Those that were removed or have expired instead.")
@with_json_services
def lists_list(services: Services, *, ended: bool) -> None:
    """List the entries in force, newest first, with how often each was followed."""
    criteria = EntryFilter(in_force=not ended, at=services.clock())
    rows: list[dict[str, object]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = services.list_entries.page(criteria, cursor=cursor or None, limit=500)
        rows += map(_entry_row, page.entries)
        cursor = page.next_cursor
    print_rows(rows, empty="There are no entries; `slopsieve lists add`.")


@lists_group.command("remove")
@click.argument("entry_id")
@with_services
def lists_remove(services: Services, entry_id: str) -> None:
    """End an entry; running workers follow within a second."""
    entry = remove_entry(entry_id, services, by=ACTOR)
    click.echo(f"The {entry.effect} entry {entry.id} is removed.")


def _entry_row(entry: ListEntry) -> dict[str, object]:
    return {
        "entry_id": entry.id,
        **columns(entry, "effect", "kind", "label"),
        "site_id": entry.site_id or "all",
        **columns(entry, "reason", "added_by", "expires_at", "hits"),
    }
