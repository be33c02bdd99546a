"""The commands that choose where sites are told, and replay what they missed."""

from __future__ import annotations

from typing import TextIO

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.sites import find_site
from service.domain.delivery import (
    PLATFORM_FORMS,
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.moderation.telling.callbacks import (
    APPLIED_EVENTS,
    get_callback,
    get_delivery,
    remove_callback,
    replay_deliveries,
    resume_applier,
    rotate_secret,
    set_applier,
    set_build_hook,
    set_callback,
)


@click.group("callbacks")
def callbacks_group() -> None:
    """Choose where sites are told of verdicts; replay what they missed."""


@callbacks_group.command("set")
@click.argument("site")
@click.argument("url")
@click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice([event.value for event in EventKind]),
    help="What to tell; may be repeated. Everything, if not given.",
)
@data_dir_option
@json_option
def set_command(
    site: str, url: str, events: tuple[str, ...], data_dir: str | None, *, as_json: bool
) -> None:
    """Have SITE told at URL and print the secret that signs, which is shown this once."""
    with open_services(data_dir=data_dir) as services:
        wanted = tuple(EventKind(event) for event in events) or tuple(EventKind)
        found = find_site(site, services.common)
        issued = set_callback(
            found.id, url, services.telling, services.common, actor=ACTOR, events=wanted
        )
    row = {**_endpoint_row(issued.endpoint), "secret": issued.secret}
    print_rows([row], as_json=as_json)


@callbacks_group.command("apply")
@click.argument("site")
@click.argument("platform", type=click.Choice([form.value for form in PLATFORM_FORMS]))
@click.option(
    "--token-file",
    type=click.File("r"),
    required=True,
    help="A file with the platform's token; - reads it from standard input.",
)
@click.option("--url", default=None, help="The platform's address; GitHub's own if left out.")
@click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice([event.value for event in APPLIED_EVENTS]),
    help="What to apply; may be repeated. Both, if not given.",
)
@data_dir_option
@json_option
def apply_command(
    site: str,
    platform: str,
    token_file: TextIO,
    url: str | None,
    events: tuple[str, ...],
    data_dir: str | None,
    *,
    as_json: bool,
) -> None:
    """Hide what is rejected at PLATFORM, where SITE's comments come from; undo shows it again.

    The token is shown nowhere again. The same command with a new token mends one that ended: what
    waited goes out. A site that has a callback or a build hook is told by that alone.
    """
    with open_services(data_dir=data_dir) as services:
        endpoint = set_applier(
            find_site(site, services.common).id,
            DeliveryForm(platform),
            token_file.read(),
            services.telling,
            services.common,
            actor=ACTOR,
            url=url,
            events=tuple(EventKind(event) for event in events) or APPLIED_EVENTS,
        )
    print_rows([_endpoint_row(endpoint)], as_json=as_json)


@callbacks_group.command("build")
@click.argument("site")
@click.argument("url")
@click.option(
    "--token-file",
    type=click.File("r"),
    default=None,
    help="A file with a token, where the host asks for one, as GitHub does; - is standard input.",
)
@data_dir_option
@json_option
def build_command(
    site: str, url: str, token_file: TextIO | None, data_dir: str | None, *, as_json: bool
) -> None:
    """Have SITE built anew by a call of URL when the comments that it shows have changed.

    All changes of a minute are told by one call. A site that has a callback, or whose decisions are
    applied at a platform, is told by that alone.
    """
    with open_services(data_dir=data_dir) as services:
        endpoint = set_build_hook(
            find_site(site, services.common).id,
            url,
            services.telling,
            services.common,
            actor=ACTOR,
            token=token_file.read() if token_file else None,
        )
    print_rows([_endpoint_row(endpoint)], as_json=as_json)


@callbacks_group.command("resume")
@click.argument("site")
@data_dir_option
@json_option
def resume_command(site: str, data_dir: str | None, *, as_json: bool) -> None:
    """Try a platform or build hook again that refused, once that is mended there."""
    with open_services(data_dir=data_dir) as services:
        endpoint = resume_applier(
            find_site(site, services.common).id, services.telling, services.common, actor=ACTOR
        )
    print_rows([_endpoint_row(endpoint)], as_json=as_json)


@callbacks_group.command("rotate")
@click.argument("site")
@data_dir_option
@json_option
def rotate_command(site: str, data_dir: str | None, *, as_json: bool) -> None:
    """Sign with a new secret beside the old one; the next rotation ends the old one."""
    with open_services(data_dir=data_dir) as services:
        issued = rotate_secret(
            find_site(site, services.common).id, services.telling, services.common, actor=ACTOR
        )
    row = {**_endpoint_row(issued.endpoint), "secret": issued.secret}
    print_rows([row], as_json=as_json)


@callbacks_group.command("remove")
@click.argument("site")
@data_dir_option
def remove_command(site: str, data_dir: str | None) -> None:
    """Tell SITE nothing more."""
    with open_services(data_dir=data_dir) as services:
        found = find_site(site, services.common)
        get_callback(found.id, services.telling)
        remove_callback(found.id, services.telling, services.common, actor=ACTOR)
    click.echo(f"{found.name} is told nothing more.")


@callbacks_group.command("sites")
@data_dir_option
@json_option
def sites_command(data_dir: str | None, *, as_json: bool) -> None:
    """List the sites that are told, with where and of what."""
    with open_services(data_dir=data_dir) as services:
        endpoints = [
            services.telling.endpoints.get(site.id) for site in services.common.sites.all()
        ]
    rows = [_endpoint_row(endpoint) for endpoint in endpoints if endpoint is not None]
    print_rows(rows, as_json=as_json, empty="No site is told; `slopsieve callbacks set SITE URL`.")


@callbacks_group.command("list")
@click.option("--site", default=None, help="Only messages to this site.")
@click.option("--dead", is_flag=True, help="Only messages that were given up.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@data_dir_option
@json_option
def list_command(
    site: str | None, limit: int, data_dir: str | None, *, dead: bool, as_json: bool
) -> None:
    """List the newest messages."""
    with open_services(data_dir=data_dir) as services:
        found = services.telling.deliveries.recent(
            state=DeliveryState.DEAD if dead else None,
            site_id=find_site(site, services.common).id if site else None,
            limit=limit,
        )
        rows = [_delivery_row(one, services.telling.deliveries.attempts(one.id)) for one in found]
    empty = "No message was given up." if dead else "There are no messages yet."
    print_rows(rows, as_json=as_json, empty=empty)


@callbacks_group.command("log")
@click.argument("delivery_id")
@data_dir_option
@json_option
def log_command(delivery_id: str, data_dir: str | None, *, as_json: bool) -> None:
    """List the attempts to deliver one message."""
    with open_services(data_dir=data_dir) as services:
        get_delivery(delivery_id, services.telling)
        rows = [
            {
                "at": one.at.isoformat(timespec="milliseconds"),
                "milliseconds": one.milliseconds,
                "status": one.status,
                "problem": one.problem,
            }
            for one in services.telling.deliveries.attempts(delivery_id)
        ]
    print_rows(rows, as_json=as_json, empty="It was not tried yet.")


@callbacks_group.command("replay")
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All messages that were given up.")
@click.option("--site", default=None, help="With --all: only messages to this site.")
@data_dir_option
@json_option
def replay_command(
    ids: tuple[str, ...],
    site: str | None,
    data_dir: str | None,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Try messages that were given up again, from the start, at the address of today."""
    if bool(ids) == everything or (site and not everything):
        raise click.UsageError("Name the messages to replay, or give --all (with --site or not).")
    with open_services(data_dir=data_dir) as services:
        replayed = replay_deliveries(
            services.telling,
            services.common,
            actor=ACTOR,
            ids=None if everything else ids,
            site_id=find_site(site, services.common).id if site else None,
        )
    if as_json:
        print_rows([{"replayed": replayed}], as_json=True)
    else:
        click.echo(f"{replayed} messages are tried again." if replayed else "There was none.")


def _endpoint_row(endpoint: Endpoint) -> dict[str, object]:
    return {
        "site_id": endpoint.site_id,
        "form": endpoint.form.value,
        "url": endpoint.url,
        "events": ", ".join(event.value for event in endpoint.events),
        "secrets": len(endpoint.secrets),
        "refused_at": endpoint.refused_at,
        "rests_until": endpoint.rests_until,
        "called_at": endpoint.called_at,
    }


def _delivery_row(delivery: Delivery, log: list[DeliveryAttempt]) -> dict[str, object]:
    last = log[-1] if log else None
    return {
        "id": delivery.id,
        "site_id": delivery.site_id,
        "comment_id": delivery.comment_id,
        "event": delivery.event.value,
        "form": delivery.form.value,
        "state": delivery.state.value,
        "attempts": delivery.attempts,
        "status": last.status if last else None,
        "problem": last.problem if last else None,
        "created_at": delivery.created_at,
        "next_try_at": delivery.next_try_at,
    }
