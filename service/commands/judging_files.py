"""Reads and judges files of comments for the commands that measure: what they share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from models.card_figures import CARD_FILE
from models.registry import SHIPPED_DIR
from service.commands.dataset_files import STDIN, BrokenLine, DatasetFile
from service.commands.judged_lines import JudgedLine, judge_lines
from service.commands.labels import Labels, read_labels
from service.commands.progress import ReadingProgress
from service.domain.errors import InvalidInputError, ModelUnavailableError
from service.ports.clock import Clock
from service.ports.models import JudgingModel
from service.scoring.report.markdown import FileSummary
from service.settings import load_settings
from service.stores.files.model_versions import ModelVersions
from service.training_runs.versions import versions_folder

# A wrong file has the same fault on every line; after these it is only counted.
_MAX_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What the commands judge with. `trained_on` holds the SHA-256 of the model's data files."""

    model: JudgingModel
    batch_size: int
    clock: Clock
    trained_on: frozenset[str] = frozenset()


def open_judging() -> Judging:
    """Return the current version, as a worker would load it: neither database nor queue needed.

    Raise `ModelUnavailableError` where a worker would go on, degraded: a file of verdicts that are
    all unsure helps nobody.
    """
    settings = load_settings()
    versions = ModelVersions(versions_folder(settings))
    model = versions.current()
    if versions.problem:
        raise ModelUnavailableError(versions.problem)
    return Judging(
        model=model,
        batch_size=settings.batch_size,
        clock=lambda: datetime.now(UTC),
        trained_on=_trained_on(model.version, versions_folder(settings)),
    )


def _trained_on(version: str, models_dir: Path | None) -> frozenset[str]:
    """Return the SHA-256 of every file that a version's card names; none where it names none."""
    try:
        card = json.loads(((models_dir or SHIPPED_DIR) / version / CARD_FILE).read_bytes())
        return frozenset(str(file["sha256"]) for file in card["data"])
    except (OSError, ValueError, KeyError, TypeError):
        # A card is for people; a version without one still judges.
        return frozenset()


@dataclass(slots=True)
class Faults:
    """Reports the errors of the first invalid lines and counts all of them."""

    n: int = 0

    def add(self, name: str, line: BrokenLine) -> None:
        self.n += 1
        if self.n > _MAX_FAULTS_SHOWN:
            return
        where = f"{click.format_filename(name)}, line {line.number:,}"
        for problem in line.problems:
            click.echo(f"{where}: {problem.field}: {problem.problem}; {problem.remedy}.", err=True)


def judged_lines(records: DatasetFile, judging: Judging, faults: Faults) -> Iterator[JudgedLine]:
    """Yield what could be judged, report the rest, and show how far it is."""
    lines = judge_lines(records, judging.model, batch_size=judging.batch_size, clock=judging.clock)
    n_judged = 0
    with ReadingProgress(click.format_filename(records.name), records.size) as progress:
        for line in lines:
            progress.show(bytes_read=records.bytes_read, comments=n_judged)
            if isinstance(line, BrokenLine):
                faults.add(records.name, line)
                continue
            n_judged += 1
            yield line


def read_labelled(
    file: str, judging: Judging, faults: Faults, take: Callable[[JudgedLine, Labels], None]
) -> FileSummary:
    """Judge a file, hand every comment with its labels to `take`, and sum up what was read."""
    stem = Path(file).name.removesuffix(".gz").removesuffix(".jsonl") if file != STDIN else "stdin"
    n_taken, n_faults_before = 0, faults.n
    with DatasetFile(file) as records:
        for judged in judged_lines(records, judging, faults):
            line = judged.line
            try:
                labels = read_labels(line.row, text=line.comment.text, file_stem=stem)
            except InvalidInputError as error:
                faults.add(records.name, BrokenLine(number=line.number, problems=error.problems))
                continue
            take(judged, labels)
            n_taken += 1
        sha256 = records.sha256()
        return FileSummary(
            name=Path(records.name).name,
            sha256=sha256,
            trained_on=sha256 in judging.trained_on,
            n_comments=n_taken,
            n_broken=faults.n - n_faults_before,
        )


def judging_of(context: click.Context) -> Judging:
    """Return what the caller handed in, by default the current version by the settings."""
    return context.find_object(Judging) or open_judging()


@contextmanager
def one_line_errors(out: str) -> Iterator[None]:
    """Say in one line what went wrong with reading or writing files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = click.format_filename(error.filename or out)
        message = f"{name}: {error.strerror or type(error).__name__}."
        raise click.ClickException(message) from error


def finish(n_judged: int, faults: Faults) -> None:
    click.echo(f"{n_judged:,} comments judged, {faults.n:,} broken lines.", err=True)
    if faults.n:
        sys.exit(1)
