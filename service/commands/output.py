"""Prints rows, shows progress, and writes files for commands."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import click

from service.data_folder import written_whole

if TYPE_CHECKING:
    from service.imports.input_files import InputFile

STDOUT = "-"
# Names in some scripts contain these invisible characters.
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
# Level 6 costs a third of level 9's time for files 3 % larger.
_GZIP_LEVEL = 6
# A wrong file has the same fault on every line; later ones are only counted.
MAX_FAULTS_SHOWN = 20

_Read = TypeVar("_Read")


def keep_option(context: click.Context, option: click.Parameter, value: object) -> None:
    """Store an option's value in the context instead of passing it to the command."""
    context.meta[f"slopsieve.{option.name}"] = value


json_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=keep_option,
    help="Print one JSON object a line, for scripts.",
)
out_option = click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default=STDOUT,
    help="Where the rows go, standard output by default; a name in .gz is gzipped.",
)


def prints_json() -> bool:
    """Return True if the command was called with `--json`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("slopsieve.json"))


def columns(one: object, *names: str) -> dict[str, object]:
    """Return the named attributes as a row, all None if `one` is None."""
    return {name: None if one is None else getattr(one, name) for name in names}


def print_rows(rows: Sequence[Mapping[str, object]], *, empty: str = "") -> None:
    """Print the rows, or `empty` if there are none and the output is not JSON.

    A single row, and rows too wide for the terminal, get a line per value. Values are never cut or
    wrapped, so that keys and secrets can be copied.
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
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(one)}" for name, one in value.items() if one)
    return plain(value)


def plain(value: object) -> str:
    """Return a value as text: moments to the second, None as an empty string."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "" if value is None else str(value)


def one_line(text: str) -> str:
    """Return the text as one line, with control characters replaced."""
    return "".join(
        one if one.isprintable() or one in _JOINERS else "\N{REPLACEMENT CHARACTER}"
        for one in " ".join(text.split())
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    filled = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(_width, column)) for column in filled]
    return [
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in zip(*filled, strict=True)
    ]


def _width(text: str) -> int:
    """Return the number of terminal columns that the text occupies."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(o) > 0 or o in _JOINERS for o in text)


def progress_bar(label: str, length: int | None = None) -> AbstractContextManager[Any]:
    """Return Click's progress bar on standard error, hidden if that is no terminal.

    Without `length` it shows a count.
    """
    return click.progressbar(
        repeat(None) if length is None else range(length),
        label=label,
        show_pos=length is None,
        item_show_func=lambda step: step,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    )


def with_progress(file: InputFile, read: Iterable[_Read], label: str) -> Iterator[_Read]:
    """Yield what is read from a file, and show the progress."""
    with progress_bar(click.format_filename(label), file.size or None) as bar:
        for one in read:
            yield one
            bar.update(file.tell() - bar.pos if file.size else 1)


@contextmanager
def open_whole(path: str, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yield a stream to write; "-" is standard output, and names in .gz are gzipped.

    Files are written atomically, see `written_whole`. A pipe or device is written to directly.
    """
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    with written_whole(target, mode=mode) as file:
        if target.suffix == ".gz":
            # Without a name and a time, the same verdicts make the same bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=file, mtime=0) as packed:
                yield cast("BinaryIO", packed)
        else:
            yield file
