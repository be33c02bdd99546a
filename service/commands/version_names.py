"""Where this installation's model versions lie, for the commands that name one."""

from __future__ import annotations

from pathlib import Path

from models.registry import list_versions
from service.settings import load_settings
from service.start_error import StartError
from service.training_runs.versions import versions_folder


def find_versions(data_dir: str | None) -> Path:
    """Return the folder of versions that serves, of this data folder or of the one set."""
    return versions_folder(load_settings(**({"data_dir": Path(data_dir)} if data_dir else {})))


def known_version(folder: Path, name: str) -> str:
    """Return the name. Raise `StartError`, which tells the versions there are, for another one."""
    known = list_versions(folder)
    if name not in known:
        there_are = ", ".join(known) or "none"
        msg = f"there is no version {name[:100]!r} in {folder}; there are {there_are}"
        raise StartError(msg)
    return name
