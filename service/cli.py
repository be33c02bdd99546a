"""The command line `slopsieve`: finds the command asked for and turns our errors into one line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from models.errors import ModelVersionError
from service import PREFIX
from service.commands.unavailable import describe_unavailable
from service.domain.errors import InvalidInputError, ModerationError, StoreUnavailableError
from service.logs import configure_command_logging
from service.settings import SettingsError

# Commands are imported when they are called: `slopsieve sites list` need not load a classifier.
_ROOM = f"{PREFIX}service.commands"
_COMMANDS = {
    "up": "run:up_command",
    "restart": "run:restart_command",
    "first-run": "first_run:first_run_command",
    "systemd": "systemd:systemd_command",
    "doctor": "doctor:doctor_command",
    "migrate": "run:migrate_command",
    "models": "models:models_group",
    "retrain": "retrain:retrain_command",
    "move": "move:move_command",
    "backup": "backup:backup_command",
    "restore": "backup:restore_command",
    "sites": "sites:sites_group",
    "users": "users:users_group",
    "callbacks": "callbacks:callbacks_group",
    "hooks": "hooks:hooks_group",
    "plugins": "plugins:plugins_group",
    "lists": "lists:lists_group",
    "reputation": "reputation_lists:reputation_group",
    "erase": "erase:erase_command",
    "import": "transfer:import_command",
    "export": "transfer:export_command",
    "decisions": "decisions:decisions_group",
    "audit": "audit:audit_command",
    "replay": "replay:replay_command",
    "score": "offline:score_command",
    "evaluate": "offline:evaluate_command",
    "demo": "demo:demo_command",
}
_WRONG_INPUT = 2
_OURS = {"models", __name__.partition(".")[0]}
_NEEDS = (
    "{what} needs the package {package}, which is not installed here; "
    "of the containers, worker has what judges and web what makes pages."
)


class _LazyGroup(click.Group):
    """A group that imports a command's module only when the command is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        try:
            command = getattr(importlib.import_module(f"{_ROOM}.{module}"), attribute)
        except ModuleNotFoundError as error:
            return _not_here(cmd_name, error)
        assert isinstance(command, click.Command)  # noqa: S101  # the table above is ours
        return command


def _not_here(name: str, error: ModuleNotFoundError) -> click.Command:
    """Return a command that says which package it misses: not every image has every one."""
    package = _foreign_package(error)
    msg = _NEEDS.format(what=f"`{name}`", package=package)

    def refuse() -> None:
        raise click.ClickException(msg)

    ignored = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name, callback=refuse, context_settings=ignored, help=f"Not here: {package} is missing."
    )


def _foreign_package(error: ModuleNotFoundError) -> str:
    """Return which package is missing. Raise the error if it is one of ours: that is a fault."""
    package = (error.name or "").partition(".")[0]
    if package in {"", *_OURS}:
        raise error
    return package


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slopsieve")
def cli() -> None:
    """Comment moderation on your own hardware: every verdict says why."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line on `args`, by default those the process was started with.

    What went wrong is said in one clear line each, on standard error. Always raises `SystemExit`.
    """
    configure_command_logging()
    try:
        code = cli.main(args=args, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        # Not every image has every package; one that is only needed now and then is missed here.
        click.echo(_NEEDS.format(what="this", package=_foreign_package(error)), err=True)
        sys.exit(1)
    except InvalidInputError as error:
        for problem in error.problems:
            click.echo(f"{problem.field}: {problem.problem}; {problem.remedy}.", err=True)
        sys.exit(_WRONG_INPUT)
    except SettingsError as error:
        click.echo(str(error), err=True)
        sys.exit(_WRONG_INPUT)
    except StoreUnavailableError as error:
        click.echo(describe_unavailable(error), err=True)
        sys.exit(1)
    except (ModerationError, ModelVersionError) as error:
        click.echo(f"{error}.", err=True)
        sys.exit(1)
