"""Says in which folder the model versions of an installation lie."""

from __future__ import annotations

from pathlib import Path

from models.registry import CURRENT_FILE, SHIPPED_DIR
from service.settings import Settings

_FOLDER = "models"


def versions_folder(settings: Settings) -> Path:
    """Return the folder of versions that serves: the one that is set, else the installation's own.

    That lies in the data folder and counts once a version of it is current, which the first
    retraining sees to. Until then it is the folder of the shipped versions.
    """
    own = own_versions_folder(settings)
    if settings.models_dir is not None or (own / CURRENT_FILE).is_file():
        return own
    return SHIPPED_DIR


def own_versions_folder(settings: Settings) -> Path:
    """Return the folder that new versions are written to; it need not exist yet."""
    return settings.models_dir or settings.data_dir.resolve() / _FOLDER
