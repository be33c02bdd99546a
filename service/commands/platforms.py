"""The commands that link sites and platforms: hooks, callbacks and plugins."""

from functools import partial

import click

from service.commands import opening, output
from service.domain.decision import Mode
from service.domain.delivery import (
    PLATFORM_FORMS,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
    InboundHook,
    Platform,
)
from service.domain.site import Site
from service.moderation import callbacks
from service.moderation.hooks import add_hook, revoke_hook
from service.ports.services import Services
from service.settings import load_settings
from service.web.plugins.archive import WORDPRESS, pack_plugin
from service.web.webhooks.public import comment_box

_EXAMPLE_URL = "https://slopsieve.example"
_EXAMPLE_BLOG = "https://blog.example/"
# The commands get the file's content.
_file_option = partial(
    click.option,
    type=click.File("r"),
    callback=lambda _context, _option, file: file and file.read(),
)
_event_option = partial(click.option, "--event", "events", multiple=True)

hooks_group = click.Group("hooks")


@hooks_group.command("add")
@click.argument("site")
@click.argument("platform", type=opening.ByValue(Platform))
@_file_option(
    "--secret-file",
    "secret",
    help="A file with the secret that the platform made; - reads it from standard input.",
)
@opening.with_json_services
def hooks_add(services: Services, site: Site, platform: Platform, secret: str | None) -> None:
    """Print the path to give to PLATFORM, and the signing secret, which is shown only once.

    The address is this service's address followed by the path. Coral makes the secret itself: give
    it with --secret-file, not as an argument, which other users of this machine can see.
    """
    hook = add_hook(site.id, platform, services, actor=opening.ACTOR, secret=secret)
    output.print_rows([{**_hook_row(hook, site), "secret": hook.secret}])
    if platform is Platform.STATIC_FORM:
        click.echo(_how_to_paste(site), err=True)


@hooks_group.command("list")
@click.argument("site", required=False)
@opening.with_json_services
def hooks_list(services: Services, site: Site | None) -> None:
    """List the hooks, or only those of SITE; secrets are not shown again."""
    site_id = site.id if site else None
    sites = {one.id: one for one in services.sites.all()}
    rows = [_hook_row(hook, sites[hook.site_id]) for hook in services.inbound.all(site_id)]
    output.print_rows(rows, empty="There are no hooks; `slopsieve hooks add SITE`.")


@hooks_group.command("revoke")
@click.argument("hook_id")
@opening.with_services
def hooks_revoke(services: Services, hook_id: str) -> None:
    """End a hook at once; later posts to it get 410 Gone."""
    hook = revoke_hook(hook_id, services, actor=opening.ACTOR)
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


def _hook_row(hook: InboundHook, site: Site) -> dict[str, object]:
    service_url = (load_settings().pages_url or _EXAMPLE_URL).rstrip("/")
    box = comment_box(hook.id, service_url=service_url, post_url=_example_post(site))
    return {
        "hook_id": hook.id,
        **output.columns(hook, "site_id", "platform"),
        "path": f"/hooks/{hook.id}",
        **output.columns(hook, "created_at", "revoked_at"),
        "script": box if hook.platform is Platform.STATIC_FORM else None,
    }


callbacks_group = click.Group("callbacks")


@callbacks_group.command("set")
@click.argument("site")
@click.argument("url")
@_event_option(
    type=opening.ByValue(EventKind), help="An event to send; may be repeated. By default all."
)
@opening.with_json_services
def callbacks_set(services: Services, site: Site, url: str, events: tuple[EventKind, ...]) -> None:
    """Notify SITE at URL, and print the signing secret, which is shown only once."""
    given = events or tuple(EventKind)
    endpoint = callbacks.set_callback(site.id, url, services, actor=opening.ACTOR, events=given)
    _print_endpoint(endpoint, secret=endpoint.secrets[0])


@callbacks_group.command("apply")
@click.argument("site")
@click.argument("platform", type=opening.ByValue(PLATFORM_FORMS))
@_file_option(
    "--token-file",
    "token",
    required=True,
    help="A file with the platform's token; - reads it from standard input.",
)
@click.option("--url", help="The platform's URL; by default GitHub's.")
@_event_option(
    type=opening.ByValue(callbacks.APPLIED_EVENTS),
    help="An event to apply; may be repeated. By default both.",
)
@opening.with_json_services
def callbacks_apply(
    services: Services,
    site: Site,
    platform: DeliveryForm,
    token: str,
    url: str | None,
    events: tuple[EventKind, ...],
) -> None:
    """Hide rejected comments at PLATFORM, where SITE's comments come from; undo shows them again.

    The token is never shown. If a token has expired, give the same command a new one: waiting
    messages are then sent. A site that has a callback or a build hook is notified through it
    instead.
    """
    endpoint = callbacks.set_applier(
        site.id,
        platform,
        token,
        services,
        actor=opening.ACTOR,
        url=url,
        events=events or callbacks.APPLIED_EVENTS,
    )
    _print_endpoint(endpoint)


@callbacks_group.command("build")
@click.argument("site")
@click.argument("url")
@_file_option(
    "--token-file",
    "token",
    help="A file with a token, if the host needs one, as GitHub does; - is standard input.",
)
@opening.with_json_services
def callbacks_build(services: Services, site: Site, url: str, token: str | None) -> None:
    """Call URL to rebuild SITE when the comments that it shows have changed.

    There is at most one call a minute. A site that has a callback, or whose decisions are applied
    at a platform, is notified through it instead.
    """
    endpoint = callbacks.set_build_hook(site.id, url, services, actor=opening.ACTOR, token=token)
    _print_endpoint(endpoint)


@callbacks_group.command("resume")
@click.argument("site")
@opening.with_json_services
def callbacks_resume(services: Services, site: Site) -> None:
    """Resume a platform or build hook that refused, after you corrected the cause there."""
    _print_endpoint(callbacks.resume_applier(site.id, services, actor=opening.ACTOR))


@callbacks_group.command("rotate")
@click.argument("site")
@opening.with_json_services
def callbacks_rotate(services: Services, site: Site) -> None:
    """Sign with a new secret in addition to the old one; the next rotation ends the old one."""
    endpoint = callbacks.rotate_secret(site.id, services, actor=opening.ACTOR)
    _print_endpoint(endpoint, secret=endpoint.secrets[0])


@callbacks_group.command("remove")
@click.argument("site")
@opening.with_services
def callbacks_remove(services: Services, site: Site) -> None:
    """Stop notifying SITE."""
    callbacks.get_callback(site.id, services)
    callbacks.remove_callback(site.id, services, actor=opening.ACTOR)
    click.echo(f"Callback of {site.name} removed.")


@callbacks_group.command("sites")
@opening.with_json_services
def callbacks_sites(services: Services) -> None:
    """List the sites that are notified, with URLs and events."""
    endpoints = [services.endpoints.get(site.id) for site in services.sites.all()]
    rows = [_endpoint_row(endpoint) for endpoint in endpoints if endpoint is not None]
    output.print_rows(rows, empty="No callbacks are set: use `slopsieve callbacks set SITE URL`.")


@callbacks_group.command("list")
@click.option("--site", help="Only messages to this site.")
@click.option("--dead", is_flag=True, help="Only messages that were given up.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@opening.with_json_services
def callbacks_list(services: Services, site: Site | None, limit: int, *, dead: bool) -> None:
    """List the newest messages."""
    found = services.deliveries.recent(
        state=DeliveryState.DEAD if dead else None, site_id=site.id if site else None, limit=limit
    )
    rows = []
    for one in found:
        last = next(reversed(services.deliveries.attempts(one.id)), None)
        row = output.columns(one, "id", "site_id", "comment_id", "event", "form", "state")
        row |= {**output.columns(one, "attempts"), **output.columns(last, "status", "problem")}
        rows.append(row | output.columns(one, "created_at", "next_try_at"))
    empty = "No message was given up." if dead else "There are no messages yet."
    output.print_rows(rows, empty=empty)


@callbacks_group.command("log")
@click.argument("delivery_id")
@opening.with_json_services
def callbacks_log(services: Services, delivery_id: str) -> None:
    """List the attempts to deliver one message."""
    callbacks.get_delivery(delivery_id, services)
    rows = [
        {
            "at": one.at.isoformat(timespec="milliseconds"),
            **output.columns(one, "milliseconds", "status", "problem"),
        }
        for one in services.deliveries.attempts(delivery_id)
    ]
    output.print_rows(rows, empty="It was not tried yet.")


@callbacks_group.command("replay")
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All messages that were given up.")
@click.option("--site", help="With --all: only messages to this site.")
@opening.with_json_services
def callbacks_replay(
    services: Services, ids: tuple[str, ...], site: Site | None, *, everything: bool
) -> None:
    """Try messages that were given up again, with all attempts, at the site's present URL."""
    if bool(ids) == everything or (site and not everything):
        raise click.UsageError("Name the messages to replay, or give --all (with --site or not).")
    replayed = callbacks.replay_deliveries(
        services,
        actor=opening.ACTOR,
        ids=None if everything else ids,
        site_id=site.id if site else None,
    )
    if output.prints_json():
        output.print_rows([{"replayed": replayed}])
    else:
        click.echo(f"{replayed} messages are tried again." if replayed else "There was none.")


def _print_endpoint(endpoint: Endpoint, **secret: str) -> None:
    output.print_rows([{**_endpoint_row(endpoint), **secret}])


def _endpoint_row(endpoint: Endpoint) -> dict[str, object]:
    return {
        **output.columns(endpoint, "site_id", "form", "url"),
        "events": ", ".join(endpoint.events),
        "secrets": len(endpoint.secrets),
        **output.columns(endpoint, "refused_at", "rests_until", "called_at"),
    }


plugins_group = click.Group("plugins")


@plugins_group.command("wordpress")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, writable=True),
    help="The zip to write, or - for standard output.",
)
def wordpress_command(out: str) -> None:
    """Write the plugin for WordPress, to upload under Plugins, Add New, Upload Plugin."""
    with output.open_whole(out) as stream:
        stream.write(pack_plugin(WORDPRESS))
    click.echo(
        "Upload it under Plugins, Add New, Upload Plugin; its page under Settings says the rest.",
        err=True,
    )
