"""The command that erases what is held about a person, or hands it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

import click

from service.commands.opening import ACTOR, with_services
from service.commands.progress import Progress
from service.moderation.acts import record_act
from service.moderation.erasing import (
    count_comments,
    erase_person,
    export_person,
    find_person,
)
from service.ports.services import Services


def person_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name a person."""
    for option in (
        click.option("--address", help="An IP address that is theirs alone."),
        click.option("--name", help="A name that nobody else signs with."),
        click.option("--email", help="The person's e-mail address."),
    ):
        command = option(command)
    return command


@click.command("erase")
@person_options
@click.option("--export", "exports", is_flag=True, help="Print all that is held, erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask; this cannot be undone.")
@with_services
def erase_command(services: Services, /, *, exports: bool, yes: bool, **given: str | None) -> None:
    """Erase a person's comments: words, names, links, and what would recognise the sender.

    A comment with any of the given facts counts as theirs. Verdicts and decisions stay as figures.
    The same command continues an interrupted run. `slopsieve reputation forget` leaves the words.
    """
    person = find_person(services, **given)
    if exports:
        record_act(services, actor=ACTOR, act="export person", subject="person")
        for record in export_person(person, services):
            click.echo(json.dumps(record, default=datetime.isoformat))
        return
    held = sum(count_comments(person, services).values())
    question = f"{held:,} comments will be erased for good. Type their number"
    if not yes and click.prompt(question, type=int) != held:
        click.echo("Nothing was erased.")
        return
    with Progress("Erasing", unit="comments") as progress:
        erased = erase_person(person, services, by=ACTOR, show=progress.show)
    click.echo(f"Erased; {erased:,} comments have no words, names or links any more.")
