"""The command line `slopsieve`: loads commands and prints our errors as single lines."""

import importlib
import logging
import sys
from collections.abc import Sequence

import click

from models.errors import ModelVersionError
from service import PREFIX
from service.domain.errors import InvalidInputError, ModerationError, StoreUnavailableError
from service.install_commands import install_command
from service.logs import configure_command_logging
from service.start_error import ExitCode, SettingsError, StartError

# Each command's module, imported only when the command runs, and its line in `--help`.
_PACKAGE = f"{PREFIX}service.commands"
_COMMANDS = {
    "up": ("run", "Start everything and keep it running until Ctrl-C or SIGTERM."),
    "restart": ("run", "Restart a running Slopsieve without refusing a request."),
    "first-run": ("run", "Show the first site's key and moderator's password again."),
    "systemd": ("run", "Print a systemd unit, with instructions at its top."),
    "doctor": ("run", "Check the installation and name a remedy for each problem."),
    "migrate": ("run", "Update the database to this version's schema."),
    "models": ("models", "List model versions; promote one, or roll back."),
    "retrain": ("models", "Train a candidate on decisions and compare both versions."),
    "move": ("backup", "Copy everything into another, empty database and compare both."),
    "backup": ("backup", "Write database, secret key, lists and own models into FILE (.tar)."),
    "restore": ("backup", "Restore a backup into an empty data folder."),
    "sites": ("sites", "Add sites; manage their keys and settings."),
    "users": ("users", "Add moderators; change what they may do; reset their passwords."),
    "callbacks": ("platforms", "Set where sites are notified; replay what they missed."),
    "hooks": ("platforms", "Create URLs that platforms' webhooks post to."),
    "plugins": ("platforms", "Write plugins for platforms into files to upload there."),
    "lists": ("sites", "Allow and block senders, networks, domains and phrases."),
    "reputation": ("reputation", "Import lists of known senders; rebuild or forget records."),
    "erase": ("reputation", "Erase a person's comments and sender keys."),
    "import": ("transfer", "Import the comments in FILE and have them judged."),
    "export": ("transfer", "Write a site's verdicts and decisions, one comment a row."),
    "decisions": ("models", "Export what people decided."),
    "audit": ("users", "List the newest acts of moderators and operators."),
    "replay": ("replay", "Backtest on labelled FILES in order of their dates, by week."),
    "score": ("judge_files", "Judge the comments in FILE, one verdict a line."),
    "evaluate": ("judge_files", "Judge labelled FILES and report how well."),
    "demo": ("demo", "Post labelled comments over HTTP, show their verdicts."),
}
_WRONG_INPUT = 2
_OURS = {"models", __name__.partition(".")[0]}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        file, about = _COMMANDS[cmd_name]
        module = importlib.import_module(f"{_PACKAGE}.{file}")
        name = cmd_name.replace("-", "_")
        command = getattr(module, f"{name}_command", None) or getattr(module, f"{name}_group")
        assert isinstance(command, click.Command)  # noqa: S101  # the table above is ours
        command.help = command.help or about
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slopsieve")
def cli() -> None:
    """Comment moderation on your own hardware: every verdict says why."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line on `args`, by default the process's own arguments.

    Prints one line per error on standard error. Always raises `SystemExit`.
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
    except Exception as error:
        lines, code = _explain(error)
        if not lines:
            # Without a traceback, whose message may quote a comment.
            logging.getLogger(__name__).exception("this is a fault of Slopsieve")
        click.echo("".join(f"{line}\n" for line in lines), nl=False, err=True)
        sys.exit(code)


def _explain(error: Exception) -> tuple[list[str], int]:
    """Return the lines to print, none for an unforeseen error, and the exit code."""
    package = str(getattr(error, "name", "")).partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package not in _OURS:
        # Not every image has every package.
        needs = f"This needs the package {package}, which is not installed here"
        where = "Of the containers, worker has what judges and web what makes pages"
        return [f"{needs}: run `{install_command()}`. {where}."], ExitCode.PACKAGE
    if isinstance(error, InvalidInputError):
        return [f"{p.field}: {p.problem}; {p.remedy}." for p in error.problems], _WRONG_INPUT
    if isinstance(error, SettingsError):
        return [str(error)], _WRONG_INPUT
    if isinstance(error, StoreUnavailableError):
        from service.commands.opening import describe_unavailable

        return [f"{describe_unavailable(error)}."], 1
    if isinstance(error, OSError):
        name = f"{click.format_filename(error.filename)}: " if error.filename else ""
        return [f"Error: {name}{error.strerror or type(error).__name__}."], 1
    lines = [f"{error}."] if isinstance(error, ModerationError | ModelVersionError) else []
    return lines, error.exit_code if isinstance(error, StartError) else 1
