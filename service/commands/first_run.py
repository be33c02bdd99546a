"""The command that shows again what the first start made."""

from __future__ import annotations

import click

from service.commands.opening import command_settings, data_dir_option
from service.data_folder import DataFolder


@click.command("first-run")
@click.option("--forget", is_flag=True, help="Delete it: it was written down elsewhere.")
@data_dir_option
def first_run_command(*, forget: bool) -> None:
    """Show the first site's key and the first moderator's password once more.

    They stay readable, for the owner of the data folder alone, until `--forget`, or until
    Slopsieve is started again after the moderator chose a password of their own.
    """
    folder = DataFolder(command_settings().data_dir, prove=False)
    file = folder.first_run_file
    if not file.exists():
        msg = (
            f"the data folder {folder.path} holds nothing of a first start any more; `slopsieve "
            "sites add-key SITE` issues a key, `slopsieve users reset NAME` a password"
        )
        raise click.ClickException(msg)
    if forget:
        file.unlink()
        click.echo(f"{file} is deleted.")
        return
    click.echo(file.read_text(encoding="utf-8"), nl=False)
