"""The command that examines the installation."""

from __future__ import annotations

import os
import sys

import click

from service.commands.opening import command_settings, data_dir_option
from service.commands.output import columns, json_option, one_line, print_rows, prints_json
from service.doctor.examine import examine
from service.domain.finding import State


@click.command("doctor")
@data_dir_option
@click.option("--quick", is_flag=True, help="Do not read the whole database for damage.")
@json_option
def doctor_command(*, quick: bool) -> None:
    """Check everything that an operator would, and say what to do about what is not well.

    Slopsieve may run meanwhile. Exits with 1 if anything fails.
    """
    findings = list(examine(os.environ, command_settings, deep=not quick))
    count = {state: sum(one.state is state for one in findings) for state in State}
    if prints_json():
        print_rows(
            [
                {**columns(one, "state", "check"), "finding": one.says, "remedy": one.remedy}
                for one in findings
            ]
        )
    else:
        for one in findings:
            click.echo(f"{one.state.value:<4}  {one.check}: {one_line(one.says)}")
            if one.remedy:
                click.echo(f"      {one.remedy}")
        ok, warned, failed = (count[state] for state in State)
        click.echo(f"\n{ok} well, {warned} to look at, {failed} failing.")
    sys.exit(1 if count[State.FAIL] else 0)
