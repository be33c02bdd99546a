"""The commands about model versions: which there are, what they promise, which one serves."""

from __future__ import annotations

import json
from pathlib import Path

import click

from models.card_figures import CARD_PAGE, card_figures, read_card, tested_on
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
from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.domain.errors import StoreUnavailableError
from service.moderation.admin.acts import record_act
from service.moderation.learning.versions import PROMOTED
from service.settings import load_settings
from service.start_error import StartError
from service.training_runs.versions import versions_folder


@click.group("models")
def models_group() -> None:
    """Show model versions, promote one, go back to the one before."""


@models_group.command("list")
@data_dir_option
@json_option
def list_command(data_dir: str | None, *, as_json: bool) -> None:
    """List the versions there are, with what their cards measured."""
    folder = _find_versions(data_dir)
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
    print_rows(rows, as_json=as_json, empty=f"There are no versions in {folder}.")


@models_group.command("show")
@click.argument("version", required=False)
@data_dir_option
def show_command(version: str | None, data_dir: str | None) -> None:
    """Print a version's card, by default the current one's, after checking its files."""
    folder = _find_versions(data_dir)
    name = version or read_current_name(folder)
    check_version(folder / _known_version(folder, name))
    card = folder / name / CARD_PAGE
    click.echo(card.read_text(encoding="utf-8") if card.is_file() else f"{name} has no card.")


@models_group.command("compare")
@click.argument("one")
@click.argument("other", required=False)
@data_dir_option
@json_option
def compare_command(one: str, other: str | None, data_dir: str | None, *, as_json: bool) -> None:
    """Put what two cards measured side by side; without OTHER, against the current version.

    The figures are of the test parts as the cards describe them: compare versions whose cards name
    the same parts.
    """
    folder = _find_versions(data_dir)
    names = [_known_version(folder, name) for name in (one, other or read_current_name(folder))]
    cards = [read_card(folder / name) for name in names]
    figures = [card_figures(card) for card in cards]
    rows: list[dict[str, object]] = [
        {
            "figure": key.replace("_", " "),
            **dict(zip(names, (f[key] for f in figures), strict=True)),
        }
        for key in figures[0]
    ]
    same = len({json.dumps(tested_on(card), sort_keys=True) for card in cards}) == 1
    print_rows(rows, as_json=as_json)
    if not same:
        click.echo("The cards' test parts differ, so these figures cannot be compared.", err=True)


@models_group.command("promote")
@click.argument("version")
@data_dir_option
def promote_command(version: str, data_dir: str | None) -> None:
    """Make a version the current one; workers take it over within seconds, between two batches.

    That of the release itself needs not be in your folder of versions.
    """
    _promote(_find_versions(data_dir), version, data_dir)


@models_group.command("rollback")
@data_dir_option
def rollback_command(data_dir: str | None) -> None:
    """Make the version that was current before the last promotion the current one again."""
    folder = _find_versions(data_dir)
    previous = read_previous_name(folder)
    if previous is None:
        msg = "no version was current before this one: name one with `slopsieve models promote`"
        raise StartError(msg)
    _promote(folder, previous, data_dir)


def _promote(folder: Path, version: str, data_dir: str | None) -> None:
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
        with open_services(data_dir=data_dir) as services:
            record_act(
                services.common,
                actor=ACTOR,
                act=PROMOTED,
                subject=name,
                detail=f"before: {before}",
            )
    except (StartError, StoreUnavailableError) as error:
        # Going back must work on the day on which nothing else does.
        click.echo(f"The log of acts could not be written: {error}.", err=True)


def _current(folder: Path) -> str | None:
    try:
        return read_current_name(folder)
    except ModelVersionError:
        return None


def _find_versions(data_dir: str | None) -> Path:
    """Return the folder of versions that serves, of this data folder or of the one set."""
    return versions_folder(load_settings(**({"data_dir": Path(data_dir)} if data_dir else {})))


def _known_version(folder: Path, name: str) -> str:
    """Return the name. Raise `StartError`, which tells the versions there are, for another one."""
    known = list_versions(folder)
    if name not in known:
        there_are = ", ".join(known) or "none"
        msg = f"there is no version {name[:100]!r} in {folder}; there are {there_are}"
        raise StartError(msg)
    return name
