"""Prints what commands list: a table for people, JSON lines for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence

import click
from rich.console import Console
from rich.table import Table

_WHOLE = frozenset({"site_id", "key_id", "key", "password", "subject", "hint", "retraining"})
# Nobody looks at a file or a pipe through a window of 80 columns.
_WIDTH_ELSEWHERE = 200

json_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line, for scripts."
)

data_dir_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    default=None,
    help="The folder with the embedded database (SLOPSIEVE_DATA_DIR).",
)


def print_rows(rows: Sequence[Mapping[str, object]], *, as_json: bool, empty: str) -> None:
    """Print the rows; `empty` is said, to people only, when there are none."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False, default=str))
        return
    if not rows:
        click.echo(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in rows[0]:
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=column in _WHOLE)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    # Ids and keys are there to be copied, so they are never broken over lines.
    width = None if sys.stdout.isatty() else _WIDTH_ELSEWHERE
    Console(markup=False, highlight=False, width=width).print(table)
