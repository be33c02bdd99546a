"""Reads comments and their labels in the keys of data/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from service.commands.input_files import Broken, InputFile
from service.commands.labels import Labels, read_labels
from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.domain.dataset_row import comment_from_row
from service.domain.errors import InvalidInputError, Problem

MAX_ID_CHARS = 200


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One line that holds a comment."""

    number: int
    comment: Comment
    labels: Labels


def read_dataset(file: InputFile, *, labelled: bool) -> Iterator[DatasetLine | Broken]:
    """Yield every line in order. Only where the file is `labelled`, a wrong label breaks a line."""
    for number, line in file.lines():
        yield line if isinstance(line, Broken) else _read_line(number, line, file.stem, labelled)


def _read_line(
    number: int,
    line: bytes,
    file_stem: str,
    labelled: bool,  # noqa: FBT001  # named by its caller
) -> DatasetLine | Broken:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        return Broken.line(number, "is not UTF-8", "convert the file to UTF-8")
    except json.JSONDecodeError as error:
        problem = f"is not JSON (column {error.colno})"
        return Broken.line(number, problem, "write one JSON object a line")
    except (RecursionError, ValueError):
        return Broken.line(number, "is JSON beyond reason", "nest less and use shorter numbers")
    if not isinstance(row, dict):
        return Broken.line(number, "is not a JSON object", "write one JSON object a line")
    if problems := _problems(row):
        return Broken(number, tuple(problems))
    labels = read_labels(row, file_stem=file_stem, problems=problems)
    if labelled and problems:
        return Broken(number, tuple(problems))
    try:
        return DatasetLine(number, comment_from_row(row), labels)
    except InvalidInputError as error:
        return Broken(number, error.problems)
    except ValueError:
        return Broken.line(number, "does not describe a comment", "compare it with the data card")


def _problems(row: Mapping[str, object]) -> list[Problem]:
    problems = []
    comment_id, text = row.get("id"), row.get("text")
    if not isinstance(comment_id, str) or not 0 < len(comment_id) <= MAX_ID_CHARS:
        problem = "is missing" if comment_id is None else "is not usable"
        remedy = f"give every comment a string of 1 to {MAX_ID_CHARS} characters"
        problems.append(Problem("id", problem, remedy))
    if not isinstance(text, str):
        problem = "is missing" if text is None else "is not a string"
        problems.append(Problem("text", problem, "give every comment its text"))
    elif len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        problem = f"is longer than {MAX_TEXT_BYTES:,} bytes"
        problems.append(Problem("text", problem, "shorten it; the API refuses it too"))
    return problems
