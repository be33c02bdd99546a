"""Serves the current model version and those beside it, and notices when another is named."""

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
# A version that could not be loaded beside the current one is not read again before that.
_TRY_AGAIN_SECONDS = 30.0


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

    Other versions are loaded in the same way and never take its place: the one that `SHADOW` names,
    and one more that is asked for by name.
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
        self._shadow = _VersionBeside(self._find, monotonic, self._beside)
        self._other = _VersionBeside(self._find, monotonic, self._beside)
        self._shadow_looked_at = float("-inf")
        self._shadow_name: str | None = None
        self.shadow_problem: str | None = None

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

    def shadow(self) -> JudgingModel | None:
        """Return the version to ask beside the current one; None where none is named or usable.

        `shadow_problem` says in one line why one that is named cannot be used.
        """
        serving = self.current().version
        with self._lock:
            now = self._monotonic()
            if now - self._shadow_looked_at >= _LOOK_EVERY_SECONDS:
                self._shadow_looked_at = now
                self._shadow_name = _named_shadow(self._find())
            name = self._shadow_name
        if name is None or name == serving:
            self._shadow.drop()
            self.shadow_problem = None
            return None
        try:
            model = self._shadow.find(name)
        except ModelUnavailableError as error:
            if str(error) != self.shadow_problem:
                self.shadow_problem = str(error)
                log.error(  # noqa: TRY400  # the error has said all there is to say
                    "the shadow version was refused", extra={"reason": str(error)}
                )
            return None
        self.shadow_problem = None
        return model

    def find(self, version: str) -> JudgingModel | None:
        """Return a version by its name, None while it is being loaded.

        Raises `ModelUnavailableError` for one that is not there, damaged or tampered with.
        """
        for model in (self.current(), self._shadow.loaded):
            if model is not None and model.version == version != NO_VERSION:
                return model
        return self._other.find(version)

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


class _VersionBeside:
    """Holds at most one version beside the current one, loaded by what `beside` does."""

    def __init__(
        self,
        find_folder: Callable[[], Path | None],
        monotonic: Callable[[], float],
        beside: Callable[[Callable[[], None]], None],
    ) -> None:
        self._find_folder = find_folder
        self._monotonic = monotonic
        self._beside = beside
        self._lock = threading.Lock()
        self._loading: str | None = None
        self._failed: tuple[str, str, float] | None = None
        self.loaded: JudgingModel | None = None

    def drop(self) -> None:
        """Let go of what is loaded."""
        self.loaded = None

    def find(self, name: str) -> JudgingModel | None:
        """Return the version, None while it is being loaded; raise `ModelUnavailableError`."""
        with self._lock:
            model = self.loaded
            if model is not None and model.version == name:
                return model
            if self._failed is not None:
                failed, reason, since = self._failed
                if failed == name and self._monotonic() - since < _TRY_AGAIN_SECONDS:
                    raise ModelUnavailableError(reason)
            if self._loading is not None:
                return None
            self._loading, self._failed = name, None
            # Two networks at a time are enough: the one that was loaded goes first.
            self.loaded = None
        self._beside(lambda: self._load(name))
        with self._lock:
            if self._failed is not None:
                raise ModelUnavailableError(self._failed[1])
            return self.loaded

    def _load(self, name: str) -> None:
        reason, model = "", None
        try:
            model = to_judging_model(_load_named(self._find_folder(), name))
            log.info("model version loaded beside", extra={"version": name})
        except Exception as error:  # noqa: BLE001  # whatever a version on trial is made of
            reason = str(error) or type(error).__name__
        with self._lock:
            self._loading, self.loaded = None, model
            self._failed = None if model else (name, reason, self._monotonic())


def _load_named(folder: Path | None, name: str) -> ModelVersion:
    from models.registry import SHIPPED_DIR, list_versions, load_version

    if name not in list_versions(folder):
        msg = f"there is no model version {name[:100]!r}"
        raise ModelVersionError(msg)
    return load_version((folder or SHIPPED_DIR) / name)


def _named_shadow(folder: Path | None) -> str | None:
    try:
        from models.registry import read_shadow_name
    except ImportError:
        # An image without the classifier's packages has no current version either.
        return None
    return read_shadow_name(folder)


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
