"""The commands about model versions: which there are, what they promise, which one serves."""

from __future__ import annotations

from pathlib import Path

import click

from models.card_figures import CARD_PAGE, card_figures, read_card
from models.errors import ModelVersionError
from models.registry import (
    SHIPPED_DIR,
    check_version,
    import_version,
    list_versions,
    promote,
    read_current_name,
    read_previous_name,
)
from service.commands.opening import ACTOR, command_settings, data_dir_option, open_services
from service.commands.output import json_option, print_rows
from service.domain.errors import StoreUnavailableError
from service.moderation.acts import record_act
from service.moderation.versions import PROMOTED
from service.start_error import StartError
from service.training_runs.versions import versions_folder


@click.group("models")
def models_group() -> None:
    """Show model versions, promote one, go back to the one before."""


@models_group.command("list")
@data_dir_option
@json_option
def list_command() -> None:
    """List the versions there are, with what their cards measured."""
    folder = versions_folder(command_settings())
    marks = {read_previous_name(folder): "previous", _current(folder): "current"}
    rows = [
        {
            "version": name,
            "serves": marks.get(name, ""),
            "trained_at": str(card.get("trained_at", "")),
            **card_figures(card),
        }
        for name in list_versions(folder)
        for card in [read_card(folder / name)]
    ]
    print_rows(rows, empty=f"There are no versions in {folder}.")


@models_group.command("show")
@click.argument("version", required=False)
@data_dir_option
def show_command(version: str | None) -> None:
    """Print a version's card, by default the current one's, after checking its files."""
    folder = versions_folder(command_settings())
    name = version or read_current_name(folder)
    check_version(folder / _known_version(folder, name))
    card = folder / name / CARD_PAGE
    click.echo(card.read_text(encoding="utf-8") if card.is_file() else f"{name} has no card.")


@models_group.command("promote")
@click.argument("version")
@data_dir_option
def promote_command(version: str) -> None:
    """Make a version the current one; workers take it over within seconds, between two batches.

    That of the release itself needs not be in your folder of versions.
    """
    _promote(versions_folder(command_settings()), version)


@models_group.command("rollback")
@data_dir_option
def rollback_command() -> None:
    """Make the version that was current before the last promotion the current one again."""
    folder = versions_folder(command_settings())
    previous = read_previous_name(folder)
    if previous is None:
        msg = "no version was current before this one: name one with `slopsieve models promote`"
        raise StartError(msg)
    _promote(folder, previous)


def _promote(folder: Path, version: str) -> None:
    before = _current(folder) or "none"
    try:
        if version == read_current_name(SHIPPED_DIR):
            # After an upgrade an installation's own versions may be of a format no longer read.
            import_version(folder, SHIPPED_DIR / version)
        name = _known_version(folder, version)
        promote(folder, name)
    except OSError as error:
        msg = (
            f"{folder} cannot be written to ({error.strerror}): keep versions in a folder of your "
            "own and name it with SLOPSIEVE_MODELS_DIR"
        )
        raise StartError(msg) from error
    if name == before:
        click.echo(f"{name} was the current version already.")
    else:
        click.echo(f"{name} is the current version; before it was {before}.")
    try:
        with open_services() as services:
            detail = f"before: {before}"
            record_act(services, actor=ACTOR, act=PROMOTED, subject=name, detail=detail)
    except (StartError, StoreUnavailableError) as error:
        # Going back must work on the day on which nothing else does.
        click.echo(f"The log of acts could not be written: {error}.", err=True)


def _current(folder: Path) -> str | None:
    try:
        return read_current_name(folder)
    except ModelVersionError:
        return None


def _known_version(folder: Path, name: str) -> str:
    """Return the name. Raise `StartError`, which tells the versions there are, for another one."""
    known = list_versions(folder)
    if name not in known:
        there_are = ", ".join(known) or "none"
        msg = f"there is no version {name[:100]!r} in {folder}; there are {there_are}"
        raise StartError(msg)
    return name
