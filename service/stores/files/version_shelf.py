"""The model versions of a folder: what their cards say and promise, and which one is current."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from models.card_figures import CARD_PAGE, card_figures, card_provenance, read_card
from models.errors import ModelVersionError
from models.registry import (
    check_version,
    drop_leftovers,
    drop_version,
    list_versions,
    promote,
    read_current_fusion,
    read_current_name,
    read_previous_name,
)
from service.domain.errors import ConflictError, NotFoundError
from service.ports.models import VersionOnShelf
from service.scoring.promise import Promise
from service.scoring.weights import Cutoffs

# The shipped card has 6 kB; a page of more helps nobody.
_MOST_CARD_CHARS = 100_000


class VersionShelf:
    """The model versions of this installation, in a folder that is read at each call.

    Promoting checks every file but loads no classifier: the workers that do so keep the version
    they have if the new one cannot be loaded.
    """

    def __init__(self, find_folder: Callable[[], Path]) -> None:
        self._find_folder = find_folder

    def all(self) -> list[VersionOnShelf]:
        """Return every version, the current one first, then by name, the newest name first."""
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
        """Return a version's card as Markdown, None if it has none. Raise `NotFoundError`."""
        path = self._known(name) / CARD_PAGE
        try:
            return path.read_text(encoding="utf-8")[:_MOST_CARD_CHARS]
        except (OSError, ValueError):
            return None

    def previous(self) -> str | None:
        """Return the version that was current before the last promotion, if it is still there."""
        folder = self._find_folder()
        name = read_previous_name(folder)
        return name if name in list_versions(folder) else None

    def promote(self, name: str) -> str | None:
        """Make a version current after checking its files; return the one that was.

        Raise `NotFoundError` for an unknown one, `ConflictError` with one sentence for one that
        is damaged or where the folder cannot be written to.
        """
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
        """Delete a version.

        Raise `NotFoundError` for an unknown one, `ConflictError` for the current and the previous
        one, and where the folder cannot be written to.
        """
        folder = self._known(name).parent
        try:
            drop_version(folder, name)
        except ModelVersionError as error:
            raise ConflictError(str(error)) from error
        except OSError as error:
            msg = f"the folder of versions cannot be written to here ({error.strerror})"
            raise ConflictError(msg) from error

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """Delete what killed processes left half written; return how many there were."""
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


def read_promise(models_dir: Path | None) -> Promise | None:
    """Return the promise of the version that serves from a folder; None where none can be read."""
    try:
        name, fusion = read_current_fusion(models_dir)
    except ModelVersionError:
        return None
    return Promise(
        version=name,
        cutoffs=Cutoffs(ham_cutoff=fusion.ham_cutoff, spam_cutoff=fusion.spam_cutoff),
        ham_called_spam=_rate(fusion.promises, "ham_called_spam"),
        spam_called_ham=_rate(fusion.promises, "spam_called_ham"),
    )


def _rate(promises: Mapping[str, Any], name: str) -> float | None:
    stated = promises.get(name)
    rate = stated.get("promised_rate") if isinstance(stated, dict) else None
    return float(rate) if isinstance(rate, int | float) else None
