"""Lists, promotes and serves the model versions of a folder."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from models import registry
from models.card_figures import CARD_PAGE, card_figures, card_provenance, read_card
from models.errors import ModelError, ModelVersionError
from models.inputs import ModelInput, ModelOutput
from service.domain.errors import ConflictError, ModelUnavailableError, NotFoundError
from service.ports.models import Classifier, JudgingModel, VersionInfo
from service.scoring.weights import Cutoffs, Promise, Weights

# The shipped card has 6 kB.
_MAX_CARD_CHARS = 100_000


class VersionRegistry:
    """The model versions in a folder, which is read at each call.

    `own` is where candidates are written, if elsewhere: until one is promoted, the shipped version
    serves, so that an upgrade brings the next one.
    """

    def __init__(self, find_folder: Callable[[], Path], own: Path | None = None) -> None:
        self._find_folder = find_folder
        self._own = own

    def all(self) -> list[VersionInfo]:
        """Return all versions, the current one first, then by name in descending order."""
        folder = self._find_folder()
        current, previous = _current(folder), registry.read_previous_name(folder)
        versions = []
        for name, path in sorted(self._places().items(), reverse=True):
            card = read_card(path)
            versions.append(
                VersionInfo(
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
        path = self.place(name) / CARD_PAGE
        try:
            return path.read_text(encoding="utf-8")[:_MAX_CARD_CHARS]
        except (OSError, ValueError):
            return None

    def previous(self) -> str | None:
        """Return the version that was current before the last promotion, if it still exists."""
        folder = self._find_folder()
        name = registry.read_previous_name(folder)
        return name if name in registry.list_versions(folder) else None

    def promote(
        self, name: str, *, check: Callable[[Path], object] = registry.check_version
    ) -> str | None:
        """Check a version's files and make it current; return the previously current one.

        By default it loads no classifier: workers that cannot load it keep their version. Raise
        `NotFoundError` for an unknown version, `ConflictError` for a damaged one or a read-only
        folder.
        """
        place, serving = self.place(name), self._find_folder()
        before, own = _current(serving), self._own or serving
        with _conflicts(": use `slopsieve models promote` where it can, or SLOPSIEVE_MODELS_DIR"):
            check(place)
            if own != serving and before not in (None, name):
                # The shipped version becomes the previous one, to go back to.
                registry.import_version(own, serving / before)
                registry.promote(own, before, check=registry.check_version)
            if own == serving or name != before:
                registry.promote(own, name, check=registry.check_version)
        return before

    def drop(self, name: str) -> None:
        """Delete a version.

        Raise `NotFoundError` for an unknown version, `ConflictError` for the current or previous
        one or a read-only folder.
        """
        place = self.place(name)
        with _conflicts():
            registry.drop_version(place.parent, name)

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """Delete partial files of killed processes; return how many."""
        since = time.time() - older_than.total_seconds()
        with contextlib.suppress(OSError):
            return registry.drop_leftovers(self._own or self._find_folder(), untouched_since=since)
        return 0

    def place(self, name: str) -> Path:
        """Return a version's folder. Raise `NotFoundError`."""
        if name not in (known := self._places()):
            named = ", ".join(sorted(known)) or "none"
            raise NotFoundError(f"there is no model version {name[:100]!r}, only {named}")
        return known[name]

    def _places(self) -> dict[str, Path]:
        serving = self._find_folder()
        folders = [self._own, serving] if self._own else [serving]
        return {name: one / name for one in folders for name in registry.list_versions(one)}


@contextlib.contextmanager
def _conflicts(advice: str = "") -> Iterator[None]:
    try:
        yield
    except ModelVersionError as error:
        raise ConflictError(str(error)) from error
    except OSError as error:
        msg = f"the folder of versions cannot be written to here ({error.strerror}){advice}"
        raise ConflictError(msg) from error


def _current(folder: Path) -> str | None:
    try:
        return registry.read_current_name(folder)
    except ModelVersionError:
        return None


def find_newer_shipped(folder: Path) -> tuple[str, str] | None:
    """Return the shipped version and the older one that serves from this folder in its place.

    None if the serving one was retrained here.
    """
    shipped, current = _current(registry.SHIPPED_DIR), _current(folder)
    if not shipped or current in (None, shipped):
        return None
    new, old = read_card(registry.SHIPPED_DIR / shipped), read_card(folder / current)
    is_older = str(old.get("trained_at", "")) < str(new.get("trained_at", ""))
    return (shipped, current) if is_older and "retrained_from" not in old else None


def read_promise(models_dir: Path | None) -> Promise | None:
    """Return the promise of a folder's current version, None if it cannot be read."""
    try:
        name, fusion = registry.read_current_fusion(models_dir)
    except ModelVersionError:
        return None
    rates = {}
    for rate_name in ("ham_called_spam", "spam_called_ham"):
        stated = fusion.promises.get(rate_name)
        rate = stated.get("promised_rate") if isinstance(stated, dict) else None
        rates[rate_name] = float(rate) if isinstance(rate, int | float) else None
    cutoffs = Cutoffs(ham_cutoff=fusion.ham_cutoff, spam_cutoff=fusion.spam_cutoff)
    return Promise(version=name, cutoffs=cutoffs, **rates)


log = logging.getLogger(__name__)

NO_VERSION = "none"
# Reading one small file this often costs nothing.
_CHECK_EVERY_SECONDS = 2.0


def model_unavailable() -> JudgingModel:
    """Return a model that makes every verdict degraded."""
    return JudgingModel(
        version=NO_VERSION,
        classifier=_ServedClassifier(None),
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.0, spam_cutoff=1.0),
    )


def to_judging_model(version: registry.ModelVersion) -> JudgingModel:
    fusion = version.fusion
    return JudgingModel(
        version=version.version,
        classifier=_ServedClassifier(version.classifier),
        weights=Weights(base=fusion.base, model=fusion.model_weight, signals=fusion.signal_weights),
        cutoffs=Cutoffs(ham_cutoff=fusion.ham_cutoff, spam_cutoff=fusion.spam_cutoff),
    )


class ModelVersions:
    """Provides the current version; loads another one when `CURRENT` names it.

    A version that cannot be loaded never replaces the serving one. Without any, verdicts are
    degraded and `problem` is the reason in one line. Nothing is read before the first call. While a
    version serves, `beside` runs the loading of the next, by default in a thread.

    `folder` is a path, None for the shipped versions, or a function called at every check, because
    the first retraining creates an installation's own folder. `loaded_at` is when the serving
    version was loaded, `refusals` the number of versions that could not be loaded.
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
        with self._lock:
            now = self._monotonic()
            if now - self._looked_at >= _CHECK_EVERY_SECONDS:
                self._looked_at = now
                self._reload()
            return self._model

    def _find(self) -> Path | None:
        return self._folder() if callable(self._folder) else self._folder

    @property
    def serving(self) -> str:
        """Return the serving version's name, or `NO_VERSION`, without a check for a new one."""
        return self._model.version

    def _reload(self) -> None:
        """Load the version in `CURRENT` unless it serves; the caller must hold the lock."""
        try:
            name = registry.read_current_name(self._find())
        except (ModelVersionError, ImportError) as error:
            self._refuse(error)
            return
        if name == self._model.version:
            self._refused = ""
        elif self._model.version == NO_VERSION:
            self._load(name)
        elif not self._loading:
            self._loading = True
            self._beside(lambda: self._load(name))

    def _load(self, name: str) -> None:
        """Load a version and serve it, or set `problem`."""
        try:
            version = registry.load_version((self._find() or registry.SHIPPED_DIR) / name)
        except (ModelVersionError, ImportError) as error:
            self._refuse(error)
        else:
            self._model = to_judging_model(version)
            self.problem, self._refused = None, ""
            self.loaded_at = datetime.now(UTC)
            log.info("model version loaded", extra={"version": version.version})
        finally:
            self._loading = False

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


class _ServedClassifier:
    """A version's classifier, if any, that raises the service's own errors."""

    def __init__(self, classifier: Classifier | None) -> None:
        self._classifier = classifier

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        if self._classifier is None:
            raise ModelUnavailableError("there is no usable model version")
        try:
            return self._classifier.score_batch(inputs)
        except ModelError as error:
            raise ModelUnavailableError(type(error).__name__) from error
