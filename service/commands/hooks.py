"""The commands that give platforms addresses to post to."""

from __future__ import annotations

from typing import TextIO

import click

from service.commands.opening import ACTOR, ByValue, find_site, with_json_services, with_services
from service.commands.output import columns, print_rows
from service.domain.decision import Mode
from service.domain.delivery import InboundHook, Platform
from service.domain.site import Site
from service.moderation.hooks import add_hook, revoke_hook
from service.ports.services import Services
from service.settings import load_settings
from service.web.webhooks.public import comment_box

_EXAMPLE_URL = "https://slopsieve.example"
_EXAMPLE_BLOG = "https://blog.example/"


@click.group("hooks")
def hooks_group() -> None:
    """Give platforms addresses to post comments to."""


@hooks_group.command("add")
@click.argument("site")
@click.argument("platform", type=ByValue(Platform))
@click.option(
    "--secret-file",
    type=click.File("r"),
    help="A file with the secret that the platform made; - reads it from standard input.",
)
@with_json_services
def add_command(
    services: Services, site: str, platform: Platform, secret_file: TextIO | None
) -> None:
    """Print the path to give to PLATFORM, and the secret that signs, which is shown this once.

    The address is that of this service with the path behind it. Coral makes the secret
    itself: give it with --secret-file, never as a word of the command, which other users of this
    machine can see.
    """
    found = find_site(site, services)
    secret = secret_file.read() if secret_file else None
    hook = add_hook(found.id, platform, services, actor=ACTOR, secret=secret)
    print_rows([{**_row(hook, found), "secret": hook.secret}])
    if platform is Platform.STATIC_FORM:
        click.echo(_how_to_paste(found), err=True)


@hooks_group.command("list")
@click.argument("site", required=False)
@with_json_services
def list_command(services: Services, site: str | None) -> None:
    """List the hooks, of SITE if it is given; secrets are not shown again."""
    site_id = find_site(site, services).id if site else None
    sites = {one.id: one for one in services.sites.all()}
    rows = [_row(hook, sites[hook.site_id]) for hook in services.inbound.all(site_id)]
    print_rows(rows, empty="There are no hooks; `slopsieve hooks add SITE`.")


@hooks_group.command("revoke")
@click.argument("hook_id")
@with_services
def revoke_command(services: Services, hook_id: str) -> None:
    """End a hook at once; its platform is told to stop."""
    hook = revoke_hook(hook_id, services, actor=ACTOR)
    click.echo(f"The hook {hook.id} is revoked.")


def _how_to_paste(site: Site) -> str:
    post = _example_post(site)
    lines = [f"Paste the script where comments belong; replace {post} with each page's address."]
    if load_settings().pages_url is None:
        lines.append(
            f"Replace {_EXAMPLE_URL} with this service's address, or set SLOPSIEVE_PAGES_URL."
        )
    if site.settings.blog is None:
        lines.append(
            "Any page may send to it, and visitors aren't sent back after posting, until you set "
            "the site's address: slopsieve sites set SITE --blog https://…"
        )
    if not site.settings.public_feed:
        lines.append("Nobody sees the comments until: slopsieve sites set SITE --public-feed")
    if site.settings.mode is Mode.OBSERVE:
        lines.append(
            "It shows ham and approved comments alone, and a site that observes lists nothing as "
            "held: slopsieve sites set SITE --mode hold"
        )
    return "\n".join(lines)


def _example_post(site: Site) -> str:
    return f"{(site.settings.blog or _EXAMPLE_BLOG).rstrip('/')}/a-post/"


def _row(hook: InboundHook, site: Site) -> dict[str, object]:
    service_url = (load_settings().pages_url or _EXAMPLE_URL).rstrip("/")
    box = comment_box(hook.id, service_url=service_url, post_url=_example_post(site))
    return {
        "hook_id": hook.id,
        **columns(hook, "site_id", "platform"),
        "path": f"/hooks/{hook.id}",
        **columns(hook, "created_at", "revoked_at"),
        "script": box if hook.platform is Platform.STATIC_FORM else None,
    }
