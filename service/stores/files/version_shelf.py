"""The model versions of a folder: what their cards say, and which one is current."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from models.card_figures import CARD_PAGE, card_figures, card_provenance, read_card
from models.errors import ModelVersionError
from models.registry import (
    check_version,
    drop_leftovers,
    drop_version,
    list_versions,
    promote,
    read_current_name,
    read_previous_name,
)
from service.domain.errors import ConflictError, NotFoundError
from service.ports.models import VersionOnShelf

# The shipped card has 6 kB; a page of more helps nobody.
_MOST_CARD_CHARS = 100_000


class FolderVersionShelf:
    """Versions in a folder that is found anew at each call; see `VersionShelf`.

    Promoting checks every file but loads no classifier: the workers that do so keep the version
    they have if the new one cannot be loaded.
    """

    def __init__(self, find_folder: Callable[[], Path]) -> None:
        self._find_folder = find_folder

    def all(self) -> list[VersionOnShelf]:
        """See `VersionShelf.all`."""
        folder = self._find_folder()
        current, previous = _current(folder), read_previous_name(folder)
        versions = []
        for name in sorted(list_versions(folder), reverse=True):
            card = read_card(folder / name)
            versions.append(
                VersionOnShelf(
                    name=name,
                    serves={current: "current", previous: "previous"}.get(name, ""),
                    trained_at=str(card.get("trained_at", ""))[:40],
                    figures=card_figures(card),
                    provenance=card_provenance(card),
                )
            )
        return sorted(versions, key=lambda version: version.name != current)

    def card(self, name: str) -> str | None:
        """See `VersionShelf.card`."""
        path = self._known(name) / CARD_PAGE
        try:
            return path.read_text(encoding="utf-8")[:_MOST_CARD_CHARS]
        except (OSError, ValueError):
            return None

    def previous(self) -> str | None:
        """See `VersionShelf.previous`."""
        folder = self._find_folder()
        name = read_previous_name(folder)
        return name if name in list_versions(folder) else None

    def promote(self, name: str) -> str | None:
        """See `VersionShelf.promote`."""
        folder = self._known(name).parent
        before = _current(folder)
        try:
            promote(folder, name, check=check_version)
        except ModelVersionError as error:
            raise ConflictError(str(error)) from error
        except OSError as error:
            msg = (
                f"the folder of versions cannot be written to here ({error.strerror}): "
                "promote with `slopsieve models promote` where it can"
            )
            raise ConflictError(msg) from error
        return before

    def drop(self, name: str) -> None:
        """See `VersionShelf.drop`."""
        folder = self._known(name).parent
        try:
            drop_version(folder, name)
        except ModelVersionError as error:
            raise ConflictError(str(error)) from error
        except OSError as error:
            msg = f"the folder of versions cannot be written to here ({error.strerror})"
            raise ConflictError(msg) from error

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """See `VersionShelf.drop_leftovers`."""
        since = time.time() - older_than.total_seconds()
        with contextlib.suppress(OSError):
            return drop_leftovers(self._find_folder(), untouched_since=since)
        return 0

    def _known(self, name: str) -> Path:
        folder = self._find_folder()
        if name not in list_versions(folder):
            msg = f"there is no model version {name[:100]!r}"
            raise NotFoundError(msg)
        return folder / name


def _current(folder: Path) -> str | None:
    try:
        return read_current_name(folder)
    except ModelVersionError:
        return None
