"""Reads and writes model versions, each an immutable folder whose files are checked by SHA-256."""

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from models.errors import ModelVersionError
from models.inputs import ModelInput, ModelOutput

SHIPPED_DIR = Path(__file__).parent / "artifacts"
CURRENT_FILE = "CURRENT"
PREVIOUS_FILE = "PREVIOUS"
MANIFEST_FILE = "manifest.json"
FUSION_FILE = "fusion.json"

# Increased when an older folder cannot be read, or would be read wrongly. Version 2 has no features
# of the author's name, version 3 counts all words of a post's title as one.
FORMAT_VERSION = 3

# The leading dot keeps half-written and half-deleted folders from being read as versions.
_WRITING = ".writing-"
_DROPPING = ".dropping-"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Classifier(Protocol):
    """The interface of every kind of version; the service's own port is the same."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one output per input, in order. Raise `ClassifierError` if it fails."""


# Takes a version's folder and the checked content of its files.
Reader = Callable[[Path, Mapping[str, bytes]], Classifier]


def _read_transformer(folder: Path, files: Mapping[str, bytes]) -> Classifier:
    from models.transformer import TransformerClassifier

    return TransformerClassifier.read(folder, files)


# Each imports its packages when it is called: listing versions loads no inference engine.
_READERS: Mapping[str, Reader] = {"transformer": _read_transformer}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """The weights of a version's model and signals, and its cutoffs.

    `promises` is what was promised and measured when the cutoffs were chosen. Judging never reads
    it; it is shown to people who change the cutoffs.
    """

    base: float
    model_weight: float
    signal_weights: Mapping[str, float]
    ham_cutoff: float
    spam_cutoff: float
    promises: Mapping[str, Any]

    def __post_init__(self) -> None:
        numbers = {"base": self.base, "model_weight": self.model_weight, **self.signal_weights}
        wrong = [name for name, number in numbers.items() if not math.isfinite(number)]
        if wrong:
            msg = f"weights must be finite numbers: {', '.join(wrong)}"
            raise ValueError(msg)
        if not 0.0 <= self.ham_cutoff <= self.spam_cutoff <= 1.0:
            msg = (
                "cutoffs need 0 <= ham_cutoff <= spam_cutoff <= 1, "
                f"got {self.ham_cutoff} and {self.spam_cutoff}"
            )
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """One version, loaded and checked. Its parts are used only together."""

    version: str
    classifier: Classifier
    fusion: Fusion


def read_current_name(models_dir: Path | None = None) -> str:
    """Return the name of the current version. Raise `ModelVersionError` if there is none."""
    path = (models_dir or SHIPPED_DIR) / CURRENT_FILE
    try:
        name = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"no current model version: {path} cannot be read ({type(error).__name__})"
        raise ModelVersionError(msg) from error
    if not _NAME.fullmatch(name):
        msg = f"no current model version: {path} must hold one folder name, got {name[:120]!r}"
        raise ModelVersionError(msg)
    return name


def read_current_fusion(models_dir: Path | None = None) -> tuple[str, Fusion]:
    """Return the current version's name and weights, without loading its classifier.

    Raises `ModelVersionError` if there is no current version or it cannot be read.
    """
    name = read_current_name(models_dir)
    path = (models_dir or SHIPPED_DIR) / name / FUSION_FILE
    try:
        return name, _fusion_from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        msg = f"model version {name} cannot be read: {FUSION_FILE} ({type(error).__name__})"
        raise ModelVersionError(msg) from error


def load_version(folder: Path) -> ModelVersion:
    """Return the version in `folder` after checking every file against the manifest.

    Raises `ModelVersionError` with a message of one line if the version is missing, changed since
    it was written, or of a format that this code does not read.
    """
    read, files, fusion = _read_version(folder)
    try:
        return ModelVersion(version=folder.name, classifier=read(folder, files), fusion=fusion)
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(folder, error) from error


def check_version(folder: Path) -> Fusion:
    """Return the weights of the version in `folder` after checking every file.

    Its classifier is not loaded, so this needs no inference engine. Raises `ModelVersionError` as
    `load_version` does, except for errors that only loading finds.
    """
    return _read_version(folder)[2]


def _read_version(folder: Path) -> tuple[Reader, dict[str, bytes], Fusion]:
    """Return the reader of a version's classifier, its checked files and its weights."""
    manifest = _read_json(folder, MANIFEST_FILE, _read_bytes(folder, MANIFEST_FILE))
    files, kind = _check_files(folder, manifest), str(manifest.get("kind"))
    if kind not in _READERS:
        msg = f"model version {folder} cannot be used: unknown kind {kind!r}"
        raise ModelVersionError(msg)
    try:
        fusion = _fusion_from_json(_read_json(folder, FUSION_FILE, files[FUSION_FILE]))
        return _READERS[kind], files, fusion
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: Exception) -> ModelVersionError:
    msg = f"model version {folder} cannot be used: {type(error).__name__}: {error}"
    return ModelVersionError(msg)


def check_usable(folder: Path) -> None:
    """Check the version in `folder` as far as possible. Raise `ModelVersionError`.

    It is loaded if the packages for that are installed, otherwise only its files are checked.
    """
    try:
        load_version(folder)
    except ModuleNotFoundError:
        check_version(folder)


def import_version(models_dir: Path, version: Path) -> bool:
    """Copy a version from another folder, checked and atomically.

    Its files are hard links if possible, otherwise copies. Returns False, and does nothing, if a
    version of that name exists. Raises `ModelVersionError` if it is damaged, `OSError` if the
    folder cannot be written to.
    """
    if (models_dir / version.name).exists():
        return False
    check_version(version)
    models_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models_dir, prefix=_WRITING) as staging:
        staged = Path(staging) / version.name
        # Only the manifest and its files, because no other file was checked.
        names = [*json.loads((version / MANIFEST_FILE).read_bytes())["files"], MANIFEST_FILE]
        staged.mkdir()
        for name in names:
            try:
                (staged / name).hardlink_to(version / name)
            except OSError:
                shutil.copyfile(version / name, staged / name)
        staged.rename(models_dir / version.name)
    return True


def write_version(
    models_dir: Path,
    version: str,
    *,
    kind: str,
    weights: Mapping[str, bytes],
    fusion: Fusion,
    documents: Mapping[str, str],
    unlisted: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a new version folder atomically, and return it.

    `weights` are the files that the kind reads, `documents` further text files by name, such as the
    card. `unlisted` are files that the manifest leaves out: a copy of the version may lack them.
    Raises `ModelVersionError` if the name is invalid or exists: a version never changes.
    """
    folder = check_free(models_dir, version)
    models_dir.mkdir(parents=True, exist_ok=True)
    files = {name: text.encode("utf-8") for name, text in documents.items()}
    by_signal = dict(sorted(fusion.signal_weights.items()))
    files |= {**weights, FUSION_FILE: _dump_json(asdict(fusion) | {"signal_weights": by_signal})}
    manifest = {
        "format": FORMAT_VERSION,
        "kind": kind,
        "files": {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)},
    }
    with tempfile.TemporaryDirectory(dir=models_dir, prefix=_WRITING) as staging:
        staged = Path(staging) / version
        staged.mkdir()
        for name, content in {**files, **(unlisted or {})}.items():
            (staged / name).write_bytes(content)
        (staged / MANIFEST_FILE).write_bytes(_dump_json(manifest))
        staged.rename(folder)
    return folder


def check_free(models_dir: Path, version: str) -> Path:
    """Return the folder that a new version would get.

    Raises `ModelVersionError` if the name is invalid or exists.
    """
    folder = models_dir / version
    if not _NAME.fullmatch(version):
        msg = f"a version's name is letters, digits, '.', '_' and '-', got {version[:120]!r}"
        raise ModelVersionError(msg)
    if folder.exists():
        msg = f"model version {folder} exists and versions never change: choose another name"
        raise ModelVersionError(msg)
    return folder


def free_name(models_dir: Path, wanted: str) -> str:
    """Return the name or, if it exists, the first free one of name-2, name-3, ..."""
    names = [wanted, *(f"{wanted}-{n}" for n in range(2, 1000))]
    return next(name for name in names if not (models_dir / name).exists())


def list_versions(models_dir: Path | None = None) -> list[str]:
    """Return the names of all versions in a folder, damaged ones too; none without a folder."""
    folder = models_dir or SHIPPED_DIR
    return sorted(path.parent.name for path in folder.glob(f"[!.]*/{MANIFEST_FILE}"))


def read_previous_name(models_dir: Path | None = None) -> str | None:
    """Return the version that was current before the last promotion, None if none was."""
    return _read_name((models_dir or SHIPPED_DIR) / PREVIOUS_FILE)


def promote(
    models_dir: Path, version: str, *, check: Callable[[Path], object] = check_usable
) -> None:
    """Make a version the current one, atomically.

    The current one becomes the previous one, for a rollback. Raises `ModelVersionError` if the
    version does not pass `check`; then nothing changes. `check_version` is faster and finds less.
    """
    check(models_dir / version)
    with contextlib.suppress(ModelVersionError):
        before = read_current_name(models_dir)
        if before != version:
            _put(models_dir, PREVIOUS_FILE, before)
    _put(models_dir, CURRENT_FILE, version)


def drop_version(models_dir: Path, version: str) -> None:
    """Delete a version, atomically.

    Raises `ModelVersionError` if it does not exist or is the current or previous one, and `OSError`
    if the folder cannot be written to.
    """
    folder = models_dir / version
    if version not in list_versions(models_dir):
        msg = f"there is no model version {version[:100]!r}"
        raise ModelVersionError(msg)
    _refuse_used(models_dir, version)
    # The leading dot: from here on it is not a version.
    dropped = models_dir / f"{_DROPPING}{version}"
    folder.rename(dropped)
    try:
        # Another process may have promoted it before the renaming.
        _refuse_used(models_dir, version)
    except ModelVersionError:
        dropped.rename(folder)
        raise
    shutil.rmtree(dropped)


def drop_leftovers(models_dir: Path, *, untouched_since: float) -> int:
    """Delete the half-written and half-deleted folders of killed processes; return their number.

    `untouched_since` is in seconds since 1970. Folders that changed later are kept: a process may
    still write them.
    """
    dropped = 0
    for prefix in (_WRITING, _DROPPING):
        for folder in models_dir.glob(f"{prefix}*"):
            with contextlib.suppress(FileNotFoundError):
                touched = max(path.lstat().st_ctime for path in (folder, *folder.rglob("*")))
                if touched < untouched_since:
                    shutil.rmtree(folder)
                    dropped += 1
    return dropped


def _refuse_used(models_dir: Path, version: str) -> None:
    for file in (CURRENT_FILE, PREVIOUS_FILE):
        if _read_name(models_dir / file) == version:
            msg = f"{version} is named by {file} and stays"
            raise ModelVersionError(msg)


def _read_name(path: Path) -> str | None:
    try:
        name = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if _NAME.fullmatch(name) else None


def _put(models_dir: Path, name: str, version: str) -> None:
    staged = models_dir / f".{name}-{os.getpid()}"
    staged.write_text(f"{version}\n", encoding="utf-8")
    staged.replace(models_dir / name)


def _read_bytes(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        msg = f"model version {folder} is incomplete: {name} cannot be read ({error.strerror})"
        raise ModelVersionError(msg) from error


def _read_json(folder: Path, name: str, content: bytes) -> dict[str, object]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        msg = f"model version {folder} is damaged: {name} is not JSON"
        raise ModelVersionError(msg) from error
    if not isinstance(value, dict):
        msg = f"model version {folder} is damaged: {name} must hold a JSON object"
        raise ModelVersionError(msg)
    return value


def _check_files(folder: Path, manifest: Mapping[str, object]) -> dict[str, bytes]:
    """Return the content of every listed file after checking its checksum."""
    if manifest.get("format") != FORMAT_VERSION:
        msg = (
            f"model version {folder} has format {manifest.get('format')!r}, "
            f"this code reads {FORMAT_VERSION}: promote the release's own, or train it again"
        )
        raise ModelVersionError(msg)
    listed = manifest.get("files")
    if not isinstance(listed, dict) or FUSION_FILE not in listed:
        msg = f"model version {folder} is damaged: {MANIFEST_FILE} does not list its files"
        raise ModelVersionError(msg)
    files = {}
    for name, promised in listed.items():
        if not _NAME.fullmatch(name):
            msg = f"model version {folder} is damaged: {MANIFEST_FILE} lists a file outside it"
            raise ModelVersionError(msg)
        files[name] = _read_bytes(folder, name)
        if hashlib.sha256(files[name]).hexdigest() != promised:
            msg = f"model version {folder} was changed: {name} does not match its SHA-256"
            raise ModelVersionError(msg)
    return files


def _number(values: Mapping[str, object], key: str) -> float:
    value = values[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{key} must be a number, got {type(value).__name__}"
        raise TypeError(msg)
    return float(value)


def _table(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = values[key]
    if not isinstance(value, dict):
        msg = f"{key} must be an object, got {type(value).__name__}"
        raise TypeError(msg)
    return value


def _fusion_from_json(values: Mapping[str, object]) -> Fusion:
    signals = _table(values, "signal_weights")
    return Fusion(
        base=_number(values, "base"),
        model_weight=_number(values, "model_weight"),
        signal_weights={name: _number(signals, name) for name in signals},
        ham_cutoff=_number(values, "ham_cutoff"),
        spam_cutoff=_number(values, "spam_cutoff"),
        promises=_table(values, "promises"),
    )


def _dump_json(value: Mapping[str, object]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return f"{text}\n".encode()
