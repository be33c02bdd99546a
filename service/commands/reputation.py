"""The commands about what is remembered of senders, and about lists of them."""

from __future__ import annotations

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option
from service.commands.progress import CountingProgress
from service.moderation.learning.rebuild import rebuild_all
from service.moderation.privacy.forget import find_sender, forget_sender

_DECISIONS_A_LINE = 10_000


@click.group("reputation")
def reputation_group() -> None:
    """Import lists of known senders, and tend what is remembered of them."""


@reputation_group.command("rebuild")
@data_dir_option
def rebuild_command(data_dir: str | None) -> None:
    """Learn every decision in the database again.

    For a Valkey that lost its data; the service does so by itself when it finds none there, slowly
    and beside its other work. Repeating it is harmless, and what was interrupted is gone on with.
    """
    with (
        open_services(data_dir=data_dir) as services,
        CountingProgress("Rebuilding", unit="decisions", a_line=_DECISIONS_A_LINE) as progress,
    ):
        done = rebuild_all(services.reputation, services.review, show=progress.show)
    click.echo(f"Histories know of all decisions in force; {done:,} were read.")


@reputation_group.command("forget")
@click.option("--email", default=None, help="The person's e-mail address.")
@click.option("--name", default=None, help="A name that nobody else signs with.")
@click.option("--address", default=None, help="An IP address that is theirs alone.")
@data_dir_option
def forget_command(
    email: str | None, name: str | None, address: str | None, data_dir: str | None
) -> None:
    """Erase what would recognise a person again as the sender of comments.

    Their records go, and the sender keys of their comments. Words, names and links of the comments
    stay, as do verdicts and decisions.
    """
    with open_services(data_dir=data_dir) as services:
        sender = find_sender(services.reputation, address=address, email=email, name=name)
        erased = forget_sender(sender, services, by=ACTOR)
    click.echo(f"Forgotten; {erased:,} comments lost the keys of their sender.")
