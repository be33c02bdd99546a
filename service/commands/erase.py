"""The command that erases what is held about a person, or hands it out."""

from __future__ import annotations

import json
from datetime import datetime

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option
from service.commands.progress import CountingProgress
from service.moderation.admin.acts import record_act
from service.moderation.privacy.erase import (
    count_comments,
    erase_person,
    export_person,
    find_person,
)

_COMMENTS_A_LINE = 10_000


@click.command("erase")
@click.option("--email", default=None, help="The person's e-mail address.")
@click.option("--name", default=None, help="A name that nobody else signs with.")
@click.option("--address", default=None, help="An IP address that is theirs alone.")
@click.option("--export", "exports", is_flag=True, help="Print all that is held, erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask; this cannot be undone.")
@data_dir_option
def erase_command(
    email: str | None,
    name: str | None,
    address: str | None,
    data_dir: str | None,
    *,
    exports: bool,
    yes: bool,
) -> None:
    """Erase a person's comments: words, names, links, and what would recognise the sender.

    A comment with any of the given facts counts as theirs. Verdicts and decisions stay as figures.
    The same command continues an interrupted run. `slopsieve reputation forget` leaves the words.
    """
    with open_services(data_dir=data_dir) as services:
        person = find_person(services.reputation, address=address, email=email, name=name)
        if exports:
            record_act(services.common, actor=ACTOR, act="export person", subject="person")
            for record in export_person(person, services):
                click.echo(json.dumps(record, default=_plain))
            return
        held = sum(count_comments(person, services.reputation).values())
        if (
            not yes
            and click.prompt(
                f"{held:,} comments will be erased for good. Type their number", type=int
            )
            != held
        ):
            click.echo("Nothing was erased.")
            return
        with CountingProgress("Erasing", unit="comments", a_line=_COMMENTS_A_LINE) as progress:
            erased = erase_person(person, services, by=ACTOR, show=progress.show)
    click.echo(f"Erased; {erased:,} comments have no words, names or links any more.")


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    msg = f"no JSON for a {type(value).__name__}"
    raise TypeError(msg)
