"""Fakes for the outside world: fixed answers, a hand-set clock, services over SQLite."""

import hashlib
import itertools
import json
import secrets
import shutil
import weakref
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NoReturn

from models.inputs import ModelInput, ModelOutput
from models.registry import Fusion, check_version, promote, write_version
from service.domain.comment import Comment, CommentId, Lane
from service.domain.delivery import Delivery, Endpoint, PlatformAct, SendOutcome
from service.domain.errors import (
    ModelUnavailableError,
    StoreUnavailableError,
)
from service.domain.published import StatementLinks
from service.domain.sender import History, SenderSecrets
from service.domain.site import Site
from service.learning.learned_state import LearnedState
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.intake import submit_comments
from service.moderation.judging import judge_batch
from service.ports.comments import Added, NewComment
from service.ports.models import Classifier, JudgingModel
from service.ports.observing import Observer
from service.ports.services import Services
from service.scoring.weights import Cutoffs, Promise, Weights
from service.stores.files.model_versions import VersionRegistry
from service.stores.files.reputation_lists import ListFolder
from service.stores.form_challenges import AltchaFormChallenges
from service.stores.sql.list_entries import ListEntryCache
from tests.databases import Stores, fresh_stores
from tests.factories import NOW, SITE, make_comment
from tests.in_memory import (
    MemoryDigestClaims,
    MemoryHistoryStore,
    MemoryRebuildPlace,
    MemoryScoringQueue,
    MemorySpentTokens,
)


class FixedClassifier:
    """Gives every comment the same answer; an answer of None makes it unavailable.

    `by_text` overrules the answer for single texts.
    """

    def __init__(self, p_spam: float = 0.5) -> None:
        self.answer: ModelOutput | None = ModelOutput(p_spam=p_spam)
        self.by_text: dict[str, ModelOutput] = {}
        self.batches: list[int] = []

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        if self.answer is None:
            raise ModelUnavailableError("the classifier is switched off")
        self.batches.append(len(inputs))
        return [self.by_text.get(given.text, self.answer) for given in inputs]


class FixedClock:
    """Stands still until it is told to advance."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Move on by a `timedelta` given in its keywords, such as `days=7`."""
        self.now += timedelta(**by)


class Seconds:
    """Seconds that a test sets, in place of `time.monotonic`."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Overridden:
    """A store, some of whose methods do something else; they may call it all the same."""

    def __init__(self, store: Any, **methods: Any) -> None:
        self._store = store
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def away(*_given: object, **_named: object) -> NoReturn:
    """Stand in for a method of a store whose backend is away."""
    raise StoreUnavailableError("the store is away")


class ForgetfulHistory(MemoryHistoryStore):
    """Remembers no sender and no words, so that what decisions taught can be seen alone."""

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        return [History() for _ in comments]


class PlainHasher:
    """Hashes passwords fast and badly; see `PasswordHasher`."""

    def hash(self, password: str) -> str:
        return hashlib.sha256(f"plain:{password}".encode()).hexdigest()

    def verify(self, password_hash: str, password: str) -> bool:
        return password_hash == self.hash(password)


class InlineQueue(MemoryScoringQueue):
    """A queue with a worker inside: what is put is judged before `put` returns.

    With `judges` set to False ids wait, until `run` judges what is waiting.
    """

    def __init__(self, *, judges: bool = True) -> None:
        super().__init__()
        self.judges = judges
        self.services: Services | None = None

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        super().put(ids, lane)
        if self.judges:
            self.run()

    def run(self) -> list[CommentId]:
        """Judge everything that waits and return the ids whose verdict was stored now."""
        assert self.services is not None
        stored: list[CommentId] = []
        while ids := self.take(64):
            stored += judge_batch(ids, self.services)
        return stored


class CountingQueue:
    """Counts how often it was woken; see `Waker`.

    `listens` is what `has_listener` returns.
    """

    def __init__(self) -> None:
        self.woken = 0
        self.listens = True

    def wake(self) -> None:
        self.woken += 1

    def has_listener(self) -> bool:
        return self.listens


class SmallRegistry(VersionRegistry):
    """Versions without a network, in a folder of their own; the first is current."""

    def __init__(self, *names: str) -> None:
        super().__init__(lambda: self.folder)
        self._names = names

    @cached_property
    def folder(self) -> Path:
        """Return the folder, which the first look writes."""
        folder = Path(mkdtemp(prefix="versions-"))
        weakref.finalize(self, shutil.rmtree, folder)
        rates = {"hits": 23, "count": 24_298, "promised_rate": 0.001}
        card = {"trained_at": "2026-02-27T08:00:00+00:00", "cutoffs": {"ham_called_spam": rates}}
        weights = {"base": 0.0, "model_weight": 1.0, "signal_weights": {}}
        fusion = Fusion(ham_cutoff=0.1, spam_cutoff=0.9, promises={}, **weights)
        for name in self._names:
            documents = {"card.json": json.dumps(card), "card.md": f"# {name}"}
            write_version(
                folder, name, kind="transformer", weights={}, fusion=fusion, documents=documents
            )
        promote(folder, self._names[0], check=check_version)
        return folder

    @property
    def names(self) -> list[str]:
        """Return the names of the versions, the current one first."""
        return [one.name for one in self.all()]


class RecordingNotifier:
    """Keeps what it is to send and answers with a fixed status; see `SiteNotifier`.

    What platforms are asked is theirs to answer: tests of that have a notifier that calls.

    A status of None stands for a site that is down. Addresses in `refused` are refused.
    """

    def __init__(self) -> None:
        self.status: int | None = 204
        self.retry_after_seconds: float | None = None
        self.hopeless = False
        self.refused: set[str] = set()
        self.sent: list[tuple[Delivery, Endpoint | None]] = []

    def refuse(self, url: str) -> str | None:
        return "is refused in this test" if url in self.refused else None

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        self.sent.append((delivery, endpoint))
        return SendOutcome(
            status=self.status,
            problem="no connection" if self.status is None else None,
            hopeless=self.hopeless,
            retry_after_seconds=self.retry_after_seconds,
        )

    def apply(self, endpoint: Endpoint, act: PlatformAct) -> SendOutcome:
        raise NotImplementedError


def make_site(**changes) -> Site:
    """Return a site; the factories' comments belong to it."""
    return Site(**({"id": SITE, "name": "Radiator blog", "created_at": NOW} | changes))


def make_model(classifier: Classifier, *, ham_cutoff: float = 0.1) -> JudgingModel:
    """Return a model that weighs what a classifier says alone."""
    return JudgingModel(
        version="test-1",
        classifier=classifier,
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=ham_cutoff, spam_cutoff=0.9),
    )


def make_services(
    *,
    stores: Stores | None = None,
    sites: Sequence[Site] | None = None,
    classifier: FixedClassifier | None = None,
    clock: FixedClock | None = None,
    judges: bool = True,
    **changes,
) -> Services:
    """Return services over a database of their own, with one site, whose queue judges inline.

    Their histories know of all decisions there are.

    The queue is an `InlineQueue`, the clock a `FixedClock`, the notifier a `RecordingNotifier`.
    """
    stores = stores or fresh_stores(sites=[make_site()] if sites is None else sites)
    stores.history.mark_filled()
    classifier = classifier or FixedClassifier()
    queue = InlineQueue(judges=judges)
    clock = clock or FixedClock()
    numbers = itertools.count(1)
    model = make_model(classifier)
    values = {
        **{name: port for name, port in vars(stores).items() if name != "engine"},
        "delivery_queue": CountingQueue(),
        "notifier": RecordingNotifier(),
        "rebuild_place": MemoryRebuildPlace(),
        "form_challenges": AltchaFormChallenges(b"a secret for tests, long enough"),
        "spent_tokens": MemorySpentTokens(),
        "digest_claims": MemoryDigestClaims(),
        "queue": queue,
        "current_model": lambda: model,
        "current_promise": lambda: Promise(
            version="test-1", cutoffs=model.cutoffs, ham_called_spam=0.001, spam_called_ham=0.01
        ),
        "clock": clock,
        "passwords": PlainHasher(),
        "new_id": lambda prefix: f"{prefix}_{next(numbers):08d}",
        "new_secret": lambda: secrets.token_urlsafe(32),
        "second_factor_secret": b"another secret for tests, long enough",
        "statements": StatementLinks(secret=b"a third secret for tests, long enough"),
        "sender_secret": b"a secret for tests, long enough",
        "sender_secrets": SenderSecrets(present=b"a secret for tests, long enough"),
        "reputation_lists": ListFolder(Path("/nowhere")),
        "find_system": lambda _address: None,
        "entries_in_force": ListEntryCache(stores.list_entries, clock, recheck_seconds=0).current,
        "versions": SmallRegistry("test-1"),
        "trainer_queue": CountingQueue(),
        "audit_share": 0.0,
        "observer": Observer(),
        "learned": LearnedState,
    }
    services = Services(**(values | changes))
    queue.services = services
    return services


def submit_to(services: Services, *comments: Comment, lane: Lane = Lane.BULK) -> list[Added]:
    """Submit comments as the API does."""
    new = [NewComment(comment=one, lane=lane) for one in comments]
    return submit_comments(new, services)


def submit_one(services: Services, *text: str, lane: Lane = Lane.BULK, **changes: Any) -> Comment:
    """Submit a comment of the factories' and return it."""
    comment = make_comment(*text, **changes)
    submit_to(services, comment, lane=lane)
    return comment


def deliver_all(services: Services) -> None:
    """Deliver to sites what is due until nothing is."""
    while due := take_deliveries(services, limit=99):
        for one in due:
            deliver(one, services)
