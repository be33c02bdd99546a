"""Serves the current model version, and notices when another is named."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import ModelError, ModelVersionError
from models.inputs import ModelInput, ModelOutput
from service.domain.errors import ModelUnavailableError
from service.ports.models import Classifier, JudgingModel
from service.scoring.weights import Cutoffs, Weights

if TYPE_CHECKING:
    from models.registry import ModelVersion

log = logging.getLogger(__name__)

NO_VERSION = "none"
# A promotion should be served soon; reading one small file this often costs nothing.
_LOOK_EVERY_SECONDS = 2.0


class UnavailableClassifier:
    """Stands where no model version can be used; see `Classifier`."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Raise `ModelUnavailableError`, whatever the inputs."""
        raise ModelUnavailableError("there is no usable model version")


def model_unavailable() -> JudgingModel:
    """Return a model that makes every verdict degraded."""
    return JudgingModel(
        version=NO_VERSION,
        classifier=UnavailableClassifier(),
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.0, spam_cutoff=1.0),
    )


def to_judging_model(version: ModelVersion) -> JudgingModel:
    """Return a loaded version in the service's own values."""
    return JudgingModel(
        version=version.version,
        classifier=_Translated(version.classifier),
        weights=Weights(
            base=version.base, model=version.model_weight, signals=version.signal_weights
        ),
        cutoffs=Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff),
    )


class ModelVersions:
    """Gives the current version; loads another one when `CURRENT` names it.

    A version that cannot be loaded never takes the place of one that serves. Without any, verdicts
    are degraded and `problem` says why in one line. Nothing is imported or read before the first
    call: only workers pay for the classifier.

    While one serves, the next is loaded by what `beside` does with the work, a thread of its own by
    default: comments are judged by the old one until the new one is ready.

    The folder is one path, None for the shipped versions, or what finds it at every look: an
    installation gets a folder of its own with its first retraining, while workers run.

    `loaded_at` is when the version that serves was loaded, None without one, `refusals` how many
    others could not be used since the process started. `serving` names it without looking.
    """

    def __init__(
        self,
        folder: Path | Callable[[], Path] | None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        beside: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._folder = folder
        self._monotonic = monotonic
        self._beside = beside or _in_a_thread
        self._loading = False
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._model = model_unavailable()
        self._refused = ""
        self.problem: str | None = "no model version was looked for yet"
        self.loaded_at: datetime | None = None
        self.refusals = 0

    def current(self) -> JudgingModel:
        """Return the model to judge with now."""
        with self._lock:
            now = self._monotonic()
            if now - self._looked_at >= _LOOK_EVERY_SECONDS:
                self._looked_at = now
                self._look()
            return self._model

    def _find(self) -> Path | None:
        return self._folder() if callable(self._folder) else self._folder

    @property
    def serving(self) -> str:
        """Return the version that judged last; it may not be loaded yet: see `NO_VERSION`."""
        return self._model.version

    def _look(self) -> None:
        """Load what `CURRENT` names if that does not serve; called with the lock held."""
        try:
            # Imported late because the classifier's packages take a second to load.
            from models.registry import read_current_name

            name = read_current_name(self._find())
        except (ModelVersionError, ImportError) as error:
            self._refuse(error)
            return
        if name == self._model.version:
            self._refused = ""
        elif self._model.version == NO_VERSION:
            self._take(name)
        elif not self._loading:
            self._loading = True
            self._beside(lambda: self._load_beside(name))

    def _load_beside(self, name: str) -> None:
        try:
            self._take(name)
        finally:
            self._loading = False

    def _take(self, name: str) -> None:
        """Load a version and let it serve, or say why not."""
        try:
            from models.registry import SHIPPED_DIR, load_version

            version = load_version((self._find() or SHIPPED_DIR) / name)
        except (ModelVersionError, ImportError) as error:
            self._refuse(error)
            return
        # One assignment: whoever asks meanwhile gets the old one or the new one, whole.
        self._model = to_judging_model(version)
        self.problem, self._refused = None, ""
        self.loaded_at = datetime.now(UTC)
        log.info("model version loaded", extra={"version": version.version})

    def _refuse(self, error: Exception) -> None:
        reason = str(error)
        if isinstance(error, ModuleNotFoundError):
            reason = f"it needs the package {error.name}, which is not installed here"
        if self._model.version == NO_VERSION:
            self.problem = reason
        if reason != self._refused:
            self._refused = reason
            self.refusals += 1
            log.error("model version refused", extra={"reason": reason})


def _in_a_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="model version", daemon=True).start()


class _Translated:
    """A version's classifier whose refusals are the service's own error."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """See `Classifier.score_batch`."""
        try:
            return self._classifier.score_batch(inputs)
        except ModelError as error:
            raise ModelUnavailableError(type(error).__name__) from error
