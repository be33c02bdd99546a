"""Builds the services from the settings; the only module that chooses adapters."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from service import ENV_PREFIX
from service.data_folder import MIN_SECRET_CHARS, DataFolder
from service.domain.published import StatementLinks
from service.domain.sender import SenderSecrets
from service.domain.user import DigestPlan, Mail, Sent
from service.ids import new_id
from service.outbound.digests import parse_mail_url, post_to_chat, send_mail
from service.outbound.guard import OutboundRules
from service.outbound.second_judge import ChatJudge
from service.outbound.sender import HttpSiteNotifier
from service.ports.services import Services
from service.settings import Settings, load_settings, own_versions_folder, versions_folder
from service.start_error import ExitCode, SettingsError, StartError
from service.stores.files.model_versions import ModelVersions, VersionRegistry, read_promise
from service.stores.files.reputation_lists import ListFolder
from service.stores.files.systems import open_systems
from service.stores.form_challenges import AltchaFormChallenges
from service.stores.passwords import PasswordHasher
from service.stores.sql import SqlStores, create_engine
from service.stores.sql.list_entries import ListEntryCache
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.notes import DigestClaims, RebuildPlace, SpentTokens
from service.tasks.broker import open_client
from service.tasks.queue import ValkeyScoringQueue, ValkeyWaker, Wake
from service.training_runs import TrainingProcesses
from service.watching.counting import CountingObserver

if TYPE_CHECKING:
    from service.learning.learned_state import LearnedState
    from service.stores.learning_cache import LearningCache

_SCHEME_ALIASES = {"valkey": "redis", "valkeys": "rediss", "redis+unix": "unix"}


class Wired:
    """A process's services, and the other objects that its edges need.

    It connects to no server yet. Raises `StartError` for an unusable folder or URL, and
    `SettingsError`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = DataFolder(settings.data_dir)
        self.engine = open_engine(settings, self.folder)
        self.valkey_url = find_valkey_url(settings, self.folder)
        self.valkey = open_client(self.valkey_url)
        secret = _secret_key(settings, self.folder)
        self.session_secret = _derive(secret, "sessions").hex()
        self.metrics_token = _long_secret(settings.metrics_token, "METRICS_TOKEN")
        self.models = ModelVersions(partial(versions_folder, settings))
        self.runs = training_runs(settings, self.folder)
        self.registry = CollectorRegistry()
        self.counting = CountingObserver(self.registry)
        sa.event.listen(self.engine, "handle_error", self._count_error)
        stores = SqlStores(self.engine)
        history_url = find_history_url(settings, self.valkey_url)
        history = ValkeyHistoryStore(history_url)
        # On the histories' server, to be lost together with them.
        rebuild_place = RebuildPlace(history_url)
        spent_tokens = SpentTokens(history_url)
        digest_claims = DigestClaims(self.valkey_url)
        self._on_valkey = (self.valkey, history, rebuild_place, spent_tokens, digest_claims)
        notifier = HttpSiteNotifier(outbound_rules(settings))
        self.services = Services(
            **vars(stores),
            clock=_now,
            new_id=new_id,
            new_secret=lambda: secrets.token_urlsafe(32),
            observer=self.counting,
            queue=ValkeyScoringQueue(self.valkey),
            form_challenges=AltchaFormChallenges(_derive(secret, "tokens of forms")),
            spent_tokens=spent_tokens,
            current_model=self.models.current,
            current_promise=lambda: read_promise(versions_folder(settings)),
            audit_share=settings.audit_share,
            second_judge=_open_second_judge(settings),
            history=history,
            rebuild_place=rebuild_place,
            reputation_lists=ListFolder(self.folder.lists_folder),
            find_system=open_systems(settings.systems_file),
            entries_in_force=ListEntryCache(stores.list_entries, _now).current,
            sender_secret=_derive(secret, "senders"),
            sender_secrets=_sender_secrets(settings, secret),
            delivery_queue=ValkeyWaker(self.valkey, Wake.DELIVER),
            notifier=notifier,
            statements=StatementLinks(
                secret=_derive(secret, "statements"), pages_url=settings.pages_url or ""
            ),
            versions=VersionRegistry(
                partial(versions_folder, settings), own_versions_folder(settings)
            ),
            trainer_queue=ValkeyWaker(self.valkey, Wake.RETRAIN),
            learned=_open_learned(stores, settings, _learning_salt(secret)),
            passwords=PasswordHasher(),
            second_factor_secret=_derive(secret, "second factors"),
            digest_claims=digest_claims,
            send_mail=_open_mail(settings),
            post_to_chat=_open_chat(settings, notifier),
        )

    def _count_error(self, context: sa.engine.ExceptionContext) -> None:
        self.counting.database_failed(type(context.original_exception).__name__)

    def close(self) -> None:
        for one in self._on_valkey:
            one.close()
        self.engine.dispose()


def _open_learned(stores: SqlStores, settings: Settings, salt: int) -> Callable[[], LearnedState]:
    @cache
    def learning_cache() -> LearningCache:
        # Imported late, because it loads numpy, which few processes need.
        from service.stores.learning_cache import LearningCache

        return LearningCache(
            stores.decisions,
            stores.cases,
            stores.sites,
            stores.users,
            audit_share=settings.audit_share,
            salt=salt,
        )

    return lambda: learning_cache().current()


def find_learning_salt(settings: Settings) -> int:
    """Return the salt that maps learned features to slots, a default one without a key.

    Raises `StartError` for a damaged key, and `SettingsError`.
    """
    folder = DataFolder(settings.data_dir, prove=False)
    if settings.secret_key is None and not folder.key_file.exists():
        return _learning_salt("")
    return _learning_salt(_secret_key(settings, folder))


def _learning_salt(secret: str) -> int:
    return int.from_bytes(_derive(secret, "what sites taught")[:8])


def _now() -> datetime:
    return datetime.now(UTC)


def training_runs(settings: Settings, folder: DataFolder | None = None) -> TrainingProcesses:
    """Return the data folder's training runs. Raises `StartError` if the folder is unusable."""
    folder = folder or DataFolder(settings.data_dir)
    return TrainingProcesses(
        folder.retraining_folder,
        own_versions_folder(settings),
        memory_mb=settings.retrain_memory_mb,
    )


def outbound_rules(settings: Settings) -> OutboundRules:
    allowed = settings.callback_allow
    return OutboundRules(
        ports=frozenset(settings.callback_ports),
        plain_http=settings.callback_plain_http,
        allow_networks=tuple(ipaddress.ip_network(one) for one in allowed if "/" in one),
        allow_hosts=frozenset(one for one in allowed if "/" not in one),
    )


def digest_plan(settings: Settings) -> DigestPlan:
    return DigestPlan(
        hour=settings.remind_hour,
        zone=ZoneInfo(settings.remind_zone),
        language=settings.remind_language,
        pages_url=settings.pages_url,
    )


def _open_mail(settings: Settings) -> Callable[[Mail], Sent] | None:
    if settings.mail_url is None or settings.mail_from is None:
        return None
    try:
        server = parse_mail_url(settings.mail_url.get_secret_value())
    except ValueError as error:
        raise SettingsError(f"{ENV_PREFIX}MAIL_URL: {error}") from None
    return partial(send_mail, server=server, sender=settings.mail_from)


def _open_chat(settings: Settings, notifier: HttpSiteNotifier) -> Callable[[str], Sent] | None:
    if settings.room_url is None:
        return None
    url = settings.room_url.get_secret_value()
    if refusal := notifier.refuse(url):
        raise SettingsError(
            f"{ENV_PREFIX}ROOM_URL {refusal}; give the https address of an incoming webhook, or "
            f"allow its host or network in {ENV_PREFIX}CALLBACK_ALLOW"
        )
    return partial(post_to_chat, url=url, notifier=notifier)


def _open_second_judge(settings: Settings) -> ChatJudge | None:
    url, policy = settings.second_judge_url, settings.second_judge_policy
    if url is None:
        return None
    try:
        key, model = settings.second_judge_key, settings.second_judge_model
        return ChatJudge(url, model=model, policy=policy, key=key)
    except (OSError, ValueError) as error:
        msg = f"{ENV_PREFIX}SECOND_JUDGE_URL or …_POLICY cannot be used: {error}"
        raise SettingsError(msg) from None


@contextmanager
def open_services(*, data_dir: str | None = None) -> Iterator[Services]:
    """Yield the services and close them afterwards. Raises like `Wired` and `fit_schema`."""
    settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    wired = Wired(settings)
    try:
        fit_schema(wired.engine, settings)
        yield wired.services
    finally:
        wired.close()


def open_engine(settings: Settings, folder: DataFolder) -> sa.Engine:
    """Return the database's engine, not yet connected. Raises `StartError` for an invalid URL."""
    create = partial(
        create_engine,
        kept=settings.database_connections,
        more=settings.database_more_connections,
        behind_pooler=settings.database_behind_pooler,
    )
    if settings.database_url is None:
        # Readable by the owner only; SQLite creates its other files with the same mode.
        folder.database_file.touch(mode=0o600)
        file = sa.URL.create("sqlite", database=str(folder.database_file))
        return create(file.render_as_string(hide_password=False))
    try:
        return create(settings.database_url.get_secret_value())
    except ValueError as error:
        msg = f"{ENV_PREFIX}DATABASE_URL cannot be used: {error}"
        raise StartError(msg, ExitCode.DATABASE) from None


def find_valkey_url(settings: Settings, folder: DataFolder) -> str:
    """Return Valkey's URL in redis-py's form. Raises `StartError` if it is invalid."""
    if settings.valkey_url is None:
        return folder.read_valkey_url()
    return _redis_url(settings.valkey_url, "VALKEY_URL")


def find_history_url(settings: Settings, valkey_url: str) -> str:
    """Return the URL of the histories' server. Raises `StartError` if it is invalid."""
    if settings.history_url is None:
        return valkey_url
    return _redis_url(settings.history_url, "HISTORY_URL")


def _redis_url(given: SecretStr, variable: str) -> str:
    scheme, separator, rest = given.get_secret_value().strip().partition("://")
    scheme = _SCHEME_ALIASES.get(scheme.lower(), scheme.lower())
    if not separator or not rest or scheme not in {"redis", "rediss", "unix"}:
        msg = (
            f"{ENV_PREFIX}{variable} cannot be used: it must start with redis://, rediss:// or "
            "unix://, for example redis://:PASSWORD@localhost:6379/0"
        )
        raise StartError(msg, ExitCode.VALKEY)
    return f"{scheme}://{rest}"


def fit_schema(engine: sa.Engine, settings: Settings) -> None:
    """Migrate the embedded database. Raises `StartError` if an external one is not up to date."""
    # Imported late, because Alembic takes half a second to load.
    from service.stores.migrations import SchemaState, migrate, schema_state

    if settings.database_url is None:
        migrate(engine)
    elif schema_state(engine) is not SchemaState.UP_TO_DATE:
        msg = "the database's schema does not fit this version: run `slopsieve migrate` first"
        raise StartError(msg, ExitCode.DATABASE)


def _secret_key(settings: Settings, folder: DataFolder) -> str:
    return _long_secret(settings.secret_key, "SECRET_KEY") or folder.secret_key()


def _sender_secrets(settings: Settings, secret: str) -> SenderSecrets:
    """Return the keys of senders. A sender secret in either setting gives the same key."""
    present = _long_secret(settings.sender_secret, "SENDER_SECRET") or secret
    before = _long_secret(settings.sender_secret_before, "SENDER_SECRET_BEFORE")
    return SenderSecrets(
        present=_derive(present, "senders"), before=_derive(before, "senders") if before else None
    )


def _long_secret(given: SecretStr | None, name: str) -> str | None:
    """Return a secret if it is set. Raise `SettingsError` if it is too short."""
    value = given.get_secret_value() if given else None
    if value is not None and len(value) < MIN_SECRET_CHARS:
        raise SettingsError(f"{ENV_PREFIX}{name}: needs at least {MIN_SECRET_CHARS} characters")
    return value


def _derive(secret: str, purpose: str) -> bytes:
    """Return a key for one purpose; it reveals nothing about other keys."""
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).digest()
