"""Prints what commands list: for people a table, or a line for each value; for scripts JSON."""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import click

# Names in some scripts need these two invisible characters.
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"

_AS_JSON = "slopsieve.as_json"


def _keep_as_json(context: click.Context, _option: click.Parameter, as_json: bool) -> None:  # noqa: FBT001  # click's own signature
    context.meta[_AS_JSON] = as_json


json_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_keep_as_json,
    help="Print one JSON object a line, for scripts.",
)


def prints_json() -> bool:
    """Return True if the command was called with `--json`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_AS_JSON))


def columns(one: object, *names: str) -> dict[str, object]:
    """Return the named attributes of a value as a row, each None where there is no value."""
    return {name: None if one is None else getattr(one, name) for name in names}


def print_rows(rows: Sequence[Mapping[str, object]], *, empty: str = "") -> None:
    """Print the rows; `empty` is printed, for people only, when there are none.

    A single row, and rows too wide for the terminal, get a line for each value. No value is cut or
    broken over lines: keys, secrets and tags are there to be copied.
    """
    if prints_json():
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False, default=plain))
        return
    if not rows:
        click.echo(empty)
        return
    cells = [[one_line(_cell(value)) for value in row.values()] for row in rows]
    names = [name.replace("_", " ") for name in rows[0]]
    table = _table([names, *cells])
    width = max(map(_width, table))
    if len(rows) > 1 and (not sys.stdout.isatty() or width <= shutil.get_terminal_size().columns):
        click.echo("\n".join(table))
        return
    widest = max(map(len, names)) + 1
    for number, values in enumerate(cells):
        if number:
            click.echo()
        for name, cell in zip(names, values, strict=True):
            if cell:
                click.echo(f"{name + ':':<{widest}} {cell}")


def _cell(value: object) -> str:
    """Return a value for people; of a mapping what is set."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(one)}" for name, one in value.items() if one)
    return plain(value)


def plain(value: object) -> str:
    """Return a value as text: a moment to the second, nothing for None."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "" if value is None else str(value)


def one_line(text: str) -> str:
    """Return the text without line breaks, and without what could steer a terminal."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if not (one.isprintable() or one in _JOINERS) else one
        for one in " ".join(text.split())
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines with aligned columns, without columns that are empty below."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(_width, column)) for column in columns]
    return [
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in zip(*columns, strict=True)
    ]


def _width(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    return sum(
        0
        if unicodedata.combining(character) or character in _JOINERS
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )
