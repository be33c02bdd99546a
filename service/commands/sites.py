"""The commands that add sites and manage their keys and settings."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.site import MAX_UNDO_SECONDS, Site, SiteKey, SiteSettings
from service.moderation.admin.sites import (
    IssuedKey,
    add_site,
    change_site_settings,
    is_blog,
    issue_akismet_key,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.ports.services import CommonPorts


@click.group("sites")
def sites_group() -> None:
    """Add sites; manage their keys and settings."""


@sites_group.command("add")
@click.argument("name")
@click.option("--akismet", is_flag=True, help="Issue a key for Akismet clients too.")
@data_dir_option
@json_option
def add_command(name: str, data_dir: str | None, *, akismet: bool, as_json: bool) -> None:
    """Add a site and print its first key, which is shown this once."""
    with open_services(data_dir=data_dir) as services:
        site, issued = add_site(name, services.common, actor=ACTOR)
        row = {"site_id": site.id, "name": site.name, "key_id": issued.key.id, "key": issued.secret}
        if akismet:
            row |= _akismet_row(
                issue_akismet_key(site.id, services.reputation, services.common, actor=ACTOR)
            )
    print_rows([row], as_json=as_json)


@sites_group.command("list")
@data_dir_option
@json_option
def list_command(data_dir: str | None, *, as_json: bool) -> None:
    """List the sites with their settings."""
    with open_services(data_dir=data_dir) as services:
        rows = [_site_row(site) for site in services.common.sites.all()]
    print_rows(rows, as_json=as_json, empty="There are no sites yet; `slopsieve sites add NAME`.")


@sites_group.command("keys")
@click.argument("site")
@data_dir_option
@json_option
def keys_command(site: str, data_dir: str | None, *, as_json: bool) -> None:
    """List a site's keys; SITE is its name or id."""
    with open_services(data_dir=data_dir) as services:
        keys = services.common.sites.list_keys(find_site(site, services.common).id)
        rows = [_key_row(key, valid=key.is_valid(services.common.clock())) for key in keys]
    print_rows(rows, as_json=as_json, empty="This site has no keys.")


@sites_group.command("add-key")
@click.argument("site")
@data_dir_option
@json_option
def add_key_command(site: str, data_dir: str | None, *, as_json: bool) -> None:
    """Issue one more key for a site and print it, this once."""
    with open_services(data_dir=data_dir) as services:
        issued = issue_key(find_site(site, services.common).id, services.common, actor=ACTOR)
    _print_key(issued, as_json=as_json)


@sites_group.command("add-akismet-key")
@click.argument("site")
@data_dir_option
@json_option
def add_akismet_key_command(site: str, data_dir: str | None, *, as_json: bool) -> None:
    """Issue a key for a site's Akismet clients and print it, this once.

    It opens the Akismet calls alone. Rotating a site's keys leaves it be; `revoke-key` ends it.
    """
    with open_services(data_dir=data_dir) as services:
        issued = issue_akismet_key(
            find_site(site, services.common).id, services.reputation, services.common, actor=ACTOR
        )
    row = {"site_id": issued.key.site_id, **_akismet_row(issued)}
    print_rows([row], as_json=as_json)


@sites_group.command("rotate-key")
@click.argument("site")
@click.option(
    "--overlap-days",
    type=click.FloatRange(0, 365),
    default=7.0,
    show_default=True,
    help="How long the old keys stay valid.",
)
@data_dir_option
@json_option
def rotate_command(site: str, overlap_days: float, data_dir: str | None, *, as_json: bool) -> None:
    """Issue a new key; the site's other keys end after the overlap."""
    with open_services(data_dir=data_dir) as services:
        overlap = timedelta(days=overlap_days)
        issued = rotate_keys(
            find_site(site, services.common).id, services.common, actor=ACTOR, overlap=overlap
        )
    _print_key(issued, as_json=as_json)


@sites_group.command("revoke-key")
@click.argument("key_id")
@data_dir_option
def revoke_command(key_id: str, data_dir: str | None) -> None:
    """End a key at once."""
    with open_services(data_dir=data_dir) as services:
        key = revoke_key(key_id, services.common, actor=ACTOR)
    click.echo(f"The key {key.hint}… is revoked.")


@sites_group.command("set")
@click.argument("site")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=None,
    help="How far a verdict may act before a person has looked.",
)
@click.option(
    "--ham-cutoff", type=click.FloatRange(0, 1), default=None, help="Ham below this p_spam."
)
@click.option(
    "--spam-cutoff", type=click.FloatRange(0, 1), default=None, help="Spam from this p_spam up."
)
@click.option("--promised-cutoffs", is_flag=True, help="Follow the model's promised cutoffs again.")
@click.option("--language", "languages", multiple=True, help="A usual language; may be repeated.")
@click.option(
    "--holds-unsure/--passes-unsure",
    "holds_unsure",
    default=None,
    help="What clients that know only spam and ham are told of an unsure comment.",
)
@click.option(
    "--reports-decide/--reports-ask",
    "reports_decide",
    default=None,
    help="Whether a report counts as a decision or brings the comment before a moderator.",
)
@click.option(
    "--undo-seconds",
    type=click.IntRange(0, MAX_UNDO_SECONDS),
    default=None,
    help="How long after a moderator's ruling the site is told of it; 0 tells it at once.",
)
@click.option(
    "--rejects-campaigns/--asks-about-campaigns",
    "rejects_campaigns",
    default=None,
    help="Whether unsure members of a campaign that people rejected are rejected without a person.",
)
@click.option(
    "--learns/--learns-not",
    "learns",
    default=None,
    help="Whether its decisions help with the next comments at once.",
)
@click.option(
    "--forget-taught",
    is_flag=True,
    help="Forget what its decisions taught so far; the decisions themselves stay.",
)
@click.option(
    "--public-feed/--no-public-feed",
    "public_feed",
    default=None,
    help="Whether anybody may read what it shows under a post.",
)
@click.option(
    "--blog",
    default=None,
    help="Its front page: only its pages may send forms, only it gets Akismet callbacks.",
)
@data_dir_option
@json_option
def set_command(
    site: str,
    mode: str | None,
    languages: tuple[str, ...],
    blog: str | None,
    data_dir: str | None,
    *,
    forget_taught: bool,
    promised_cutoffs: bool,
    as_json: bool,
    **others: float | bool | None,
) -> None:
    """Change a site's settings; what is not named stays."""
    given: dict[str, Any] = {
        **others,
        "mode": Mode(mode) if mode else None,
        "languages": languages or None,
        "blog": None if blog is None else _checked_blog(blog),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    with open_services(data_dir=data_dir) as services:
        found = find_site(site, services.common)

        def change(old: SiteSettings) -> SiteSettings:
            if promised_cutoffs:
                old = replace(old, ham_cutoff=None, spam_cutoff=None)
            if forget_taught:
                old = replace(old, learns_since=services.common.clock())
            return replace(old, **asked)

        try:
            changed = change_site_settings(
                found.id, change, services.intake, services.common, actor=ACTOR
            )
        except ValueError as error:
            problem = Problem(
                field="--ham-cutoff, --spam-cutoff",
                problem=str(error),
                remedy="give a ham cutoff that is not above the spam cutoff",
            )
            raise InvalidInputError([problem]) from None
    print_rows([_site_row(changed)], as_json=as_json)


def find_site(name_or_id: str, common: CommonPorts) -> Site:
    """Return the site of this name or id. Raises `NotFoundError` for an unknown one."""
    for site in common.sites.all():
        if name_or_id in (site.name, site.id):
            return site
    msg = f"there is no site {SiteId(name_or_id)!r}; `slopsieve sites list` names them"
    raise NotFoundError(msg)


def _print_key(issued: IssuedKey, *, as_json: bool) -> None:
    row = {"site_id": issued.key.site_id, "key_id": issued.key.id, "key": issued.secret}
    print_rows([row], as_json=as_json)


def _akismet_row(issued: IssuedKey) -> dict[str, str]:
    return {"akismet_key_id": issued.key.id, "akismet_key": issued.secret}


def _checked_blog(blog: str) -> str:
    if is_blog(blog):
        return blog
    problem = Problem(
        field="--blog",
        problem="is not the address of a web page",
        remedy="give one such as https://blog.example/",
    )
    raise InvalidInputError([problem])


def _site_row(site: Site) -> dict[str, object]:
    return {
        "site_id": site.id,
        "name": site.name,
        **asdict(site.settings),
        "languages": ", ".join(site.settings.languages),
        "created_at": site.created_at,
    }


def _key_row(key: SiteKey, *, valid: bool) -> dict[str, object]:
    return {
        "key_id": key.id,
        "hint": f"{key.hint}…",
        "valid": valid,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }
