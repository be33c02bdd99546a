"""Reads labelled comments from data files, and reports every wrong line."""

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from models.inputs import ModelInput
from service.domain.comment import Comment
from service.domain.dataset_row import LABELS, comment_from_row, label_problems
from service.domain.errors import InvalidInputError, Problem
from service.scoring.classifier import model_input
from training.data.corrections import (
    LABEL_CORRECTIONS,
    MAX_PROBLEMS,
    Correction,
    CorrectLabel,
    read_corrections,
)
from training.data.hosts import with_real_hosts

DEFAULT_DATA = Path(__file__).parents[2] / "data"
# The prefix of sources that were written for this project.
AUTHORED = "authored-"

_ENDINGS = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One labelled comment.

    `comment` is all that detectors and the classifier may see. The other fields are only for splits
    and reports, never inputs. `promo_spans` is None if nobody marked them. `boundary` is where a
    remark ends and the advertisement begins, None if it was not marked. `is_corrected` is True if
    the data have the other label.
    """

    comment: Comment
    is_spam: bool
    source: str
    post_key: str
    campaign: str | None = None
    kind: str | None = None
    language: str | None = None
    hardness: int | None = None
    promo_spans: tuple[tuple[int, int], ...] | None = None
    boundary: int | None = None
    is_corrected: bool = False

    @property
    def input(self) -> ModelInput:
        """Return the classifier's input."""
        return model_input(self.comment)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlabelledText:
    """One text without a label; `promo_spans` are the advertisements woven into it."""

    text: str
    promo_spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One file that was read, so that the card lists exactly what a version learnt from."""

    name: str
    sha256: str
    n_spam: int = 0
    n_ham: int = 0
    n_unlabelled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Everything that was read, in a fixed order; `texts` only has those with an advertisement.

    `files` includes the file of corrections, with a count of 0.
    """

    examples: tuple[Example, ...]
    files: tuple[DataFile, ...]
    texts: tuple[UnlabelledText, ...] = ()


def find_data_files(paths: Sequence[Path]) -> list[Path]:
    """Return the named data files, and those directly in named folders, without repeats, by name.

    A file of corrections is left out, because it holds no comments. Raises `InvalidInputError` for
    a path that does not exist or holds no data file.
    """
    found: dict[Path, None] = {}
    problems = []
    for path in paths:
        inside = path.iterdir() if path.is_dir() else [path] if path.is_file() else []
        files = [p for p in inside if p == path or p.name.endswith(_ENDINGS)]
        if not files:
            remedy = "name a .jsonl or .jsonl.gz file, or a folder that holds some"
            problems.append(Problem(str(path), "there is no data file", remedy))
        found |= {p.resolve(): None for p in files}
    if problems:
        raise InvalidInputError(problems)
    kept = (path for path in found if path.name != LABEL_CORRECTIONS.name)
    # Training draws by this order, so it must not depend on where the files lie.
    return sorted(kept, key=lambda path: (path.name, path))


def read_dataset(paths: Sequence[Path], *, corrections: Path | None = None) -> Dataset:
    """Return the labelled comments of all files, and the unlabelled texts for training.

    Files with the same content are read once. `corrections` names a file that changes or drops
    labels; its unknown ids are ignored. Raises one `InvalidInputError` with the file and line of
    every problem, including repeated ids and corrections of a label that the data do not have.
    """
    read = _Reading(read_corrections(corrections) if corrections else {})
    files = [read.file(path, sha256) for path, sha256 in _distinct(find_data_files(paths))]
    if read.problems:
        raise InvalidInputError(read.problems[:MAX_PROBLEMS])
    if corrections:
        sha256 = hashlib.sha256(corrections.read_bytes()).hexdigest()
        files.append(DataFile(name=corrections.name, sha256=sha256))
    return Dataset(examples=tuple(read.examples), files=tuple(files), texts=tuple(read.texts))


class _Reading:
    """The data and problems that were read so far."""

    def __init__(self, corrections: Mapping[str, Correction]) -> None:
        self.examples: list[Example] = []
        self.texts: list[UnlabelledText] = []
        self.problems: list[Problem] = []
        self._corrections = corrections
        self._seen: dict[str, str] = {}

    def file(self, path: Path, sha256: str) -> DataFile:
        """Read one file's rows, and return its counts."""
        before, n_unlabelled = len(self.examples), 0
        for where, row in read_rows(path, self.problems):
            wrong = problems_of_row(where, row) or repeats_of(where, row, self._seen)
            self.problems += wrong
            if wrong:
                continue
            row = with_real_hosts(row)
            if row.get("label") is None:
                n_unlabelled += 1
                if spans := _marked_spans(row):
                    # Cleaned as comments are, so that training sees what serving sees.
                    text = comment_from_row(row).text
                    self.texts.append(UnlabelledText(text=text, promo_spans=spans))
            else:
                self._labelled(row, path)
        added = self.examples[before:]
        n_spam = sum(e.is_spam for e in added)
        return DataFile(
            name=path.name,
            sha256=sha256,
            n_spam=n_spam,
            n_ham=len(added) - n_spam,
            n_unlabelled=n_unlabelled,
        )

    def _labelled(self, row: Mapping[str, object], path: Path) -> None:
        """Add a labelled row, with its correction if there is one."""
        correction = self._corrections.get(str(row["id"]))
        if correction is None:
            self.examples.append(example_of_row(row, path))
        elif row["label"] != correction.was:
            what, remedy = "is not the label in the data", "judge the comment again"
            self.problems.append(Problem(f"{correction.where} was", what, remedy))
        elif correction.correct is not CorrectLabel.DROP:
            # These fields of the data belong to the wrong label.
            unknown = {"kind": None, "promo_spans": None, "boundary": None}
            corrected = {**row, **unknown, "label": correction.correct.value}
            self.examples.append(replace(example_of_row(corrected, path), is_corrected=True))


def _distinct(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with its SHA-256, without later files of the same content."""
    seen: set[str] = set()
    for path in paths:
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        if sha256 not in seen:
            seen.add(sha256)
            yield path, sha256


def read_rows(path: Path, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each row with its place; unreadable lines become problems."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                where = f"{path.name}:{number}"
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                if isinstance(row, dict):
                    yield where, row
                elif line.strip():
                    problems.append(Problem(where, "is not a JSON object", "one object a line"))
    except (OSError, EOFError) as error:
        what = f"cannot be read further ({type(error).__name__})"
        problems.append(Problem(f"{path.name}:{number + 1}", what, "fetch the file again"))


def problems_of_row(where: str, row: Mapping[str, object]) -> list[Problem]:
    """Return the problems of a row's own fields; values are never quoted."""
    problems = [
        Problem(f"{where} {key}", "is not a string with content", "give each row its own")
        for key in ("id", "text")
        if not isinstance(row.get(key), str) or not row[key]
    ]
    marks = label_problems(row, str(row.get("text")))
    problems += [replace(one, field=f"{where} {one.field}") for one in marks]
    hardness = row.get("hardness")
    if hardness is not None and hardness not in (1, 2, 3):
        problems.append(Problem(f"{where} hardness", "is unknown", "use 1, 2, 3 or null"))
    return problems


def repeats_of(where: str, row: Mapping[str, object], seen: dict[str, str]) -> list[Problem]:
    """Return a problem if the id occurred before; remember it otherwise."""
    first = seen.setdefault(str(row.get("id")), where)
    if first == where:
        return []
    return [Problem(f"{where} id", f"occurred at {first}", "give each row its own")]


def _string(row: Mapping[str, object], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None


def example_of_row(row: Mapping[str, object], path: Path) -> Example:
    """Return the example of a valid labelled row."""
    comment = comment_from_row(row)
    source = _string(row, "source") or path.name.partition(".")[0]
    # Sources without post ids have titles; without one, a comment is its own post.
    post = _string(row, "post_id") or comment.post.title or f"comment {comment.id}"
    campaign = _string(row, "campaign")
    hardness, boundary = row.get("hardness"), row.get("boundary")
    return Example(
        comment=comment,
        is_spam=LABELS[str(row["label"])],
        source=source,
        post_key=f"{source}/{post}",
        campaign=f"{source}/{campaign}" if campaign else None,
        kind=_string(row, "kind"),
        language=_string(row, "lang"),
        hardness=hardness if isinstance(hardness, int) else None,
        promo_spans=_promo_spans(row),
        boundary=boundary if isinstance(boundary, int) else None,
    )


def _promo_spans(row: Mapping[str, object]) -> tuple[tuple[int, int], ...] | None:
    """Return the marked promotion: none in ham, in unmarked spam what follows the boundary.

    The data card defines a boundary as the end of the remark and the start of the advertisement or
    link. Public boundaries were set by rule and checked by eye: of 52, 4 have some polite words
    after the link. Without a boundary the result is None.
    """
    spans, boundary, text = _marked_spans(row), row.get("boundary"), row["text"]
    if spans is not None:
        return spans
    if row["label"] == "ham":
        return ()
    if not isinstance(boundary, int) or not isinstance(text, str):
        return None
    promotion = text[boundary:]
    start = boundary + len(promotion) - len(promotion.lstrip())
    end = boundary + len(promotion.rstrip())
    return ((start, end),) if start < end else None


def _marked_spans(row: Mapping[str, object]) -> tuple[tuple[int, int], ...] | None:
    spans = row.get("promo_spans")
    return tuple((span[0], span[1]) for span in spans) if isinstance(spans, list) else None
