"""The commands that write what people install at their platform."""

from __future__ import annotations

import click

from service.commands.whole_files import open_whole
from service.web.plugins.archive import WORDPRESS, pack_plugin


@click.group("plugins")
def plugins_group() -> None:
    """Write plugins for platforms into files to upload there."""


@plugins_group.command("wordpress")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, writable=True),
    help="The zip to write, or - for standard output.",
)
def wordpress_command(out: str) -> None:
    """Write the plugin for WordPress, to upload under Plugins, Add New, Upload Plugin."""
    with open_whole(out) as stream:
        stream.write(pack_plugin(WORDPRESS))
    click.echo(
        "Upload it under Plugins, Add New, Upload Plugin; its page under Settings says the rest.",
        err=True,
    )
