"""The commands that write the clients of the API, of one file each, to copy into a program."""

from __future__ import annotations

import click

from service.commands.whole_files import STDOUT, open_whole
from service.web.clients.files import JAVASCRIPT, PYTHON


@click.group("clients")
def clients_group() -> None:
    """Write a client of the API, one file to copy into a program of your own."""


_out = click.option(
    "--out",
    default=STDOUT,
    type=click.Path(dir_okay=False, writable=True),
    help="The file to write; by default standard output.",
)


@clients_group.command("python")
@_out
def python_command(out: str) -> None:
    """Write the client for Python 3.11 and later; it needs the standard library alone."""
    with open_whole(out) as stream:
        stream.write(PYTHON.read_bytes())


@clients_group.command("javascript")
@_out
def javascript_command(out: str) -> None:
    """Write the client for Node 18 and later, and what else has fetch; an ES module with types."""
    with open_whole(out) as stream:
        stream.write(JAVASCRIPT.read_bytes())
