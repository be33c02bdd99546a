"""Examines a whole installation. A check that raises does not stop the others."""

import difflib
import ipaddress
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import sqlalchemy as sa

from service import ENV_PREFIX
from service.data_folder import MIN_SECRET_CHARS, DataFolder
from service.doctor import checks
from service.domain.case import CaseFilter
from service.domain.errors import ModerationError, StoreUnavailableError
from service.domain.finding import Finding, bytes_in_words, fail, ok, time_in_words, warn
from service.moderation.figures import last_days
from service.scoring.period import population_stability
from service.settings import VARIABLES, Settings, has_unread_file, versions_folder
from service.start_error import SettingsError
from service.stores.sql import SqlStores
from service.stores.valkey.history import ValkeyHistoryStore
from service.tasks.broker import open_client, prove_write
from service.tasks.heartbeat import BACKGROUND, WORKERS, live_workers
from service.wiring import Wired, find_history_url, find_valkey_url, open_engine

_RATE_DAYS = 7
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LEAST_SHARE_FREE = 0.1
_LEAST_FREE_BYTES = 1_000_000_000
_FULL_BELOW_BYTES = 100_000_000
_BACKUP_SECONDS = 2 * 86_400.0
# Words and repeated characters make keys that are long but can be guessed.
_LEAST_DIFFERENT_CHARS = 12


def examine(
    environment: Mapping[str, str], load: Callable[[], Settings], *, deep: bool
) -> Iterator[Finding]:
    """Yield findings as they are made; `deep` reads the whole of an embedded database.

    The only writes are the test row and the test key.
    """
    if has_unread_file(environment):
        remedy = "Export the variables, or use `/etc/slopsieve.env` with systemd."
        yield warn("settings", "`.env` is not read", remedy)
    try:
        settings = load()
    except SettingsError as error:
        remedy = "Put it right in the environment; .env.example explains every setting."
        yield from (fail("settings", line, remedy) for line in str(error).splitlines())
        return
    yield from check_names(environment)
    yield from check_combinations(settings)
    for name in ("secret_key", "sender_secret", "sender_secret_before", "metrics_token"):
        if given := getattr(settings, name):
            yield check_secret("secrets", given.get_secret_value(), f"{ENV_PREFIX}{name.upper()}")
    yield from safely("model", lambda: checks.check_versions(versions_folder(settings)))
    # SQLite would create the file.
    file = _database_file(settings)
    if file is not None and not file.exists():
        yield fail(
            "data folder",
            f"{file.parent.resolve()} holds no database yet",
            "Start once with slopsieve up, or name another folder with --data-dir.",
        )
        return
    with ExitStack() as stack:
        installation = _Installation(settings, stack, deep=deep)
        for check, ask in installation.checks.items():
            yield from safely(check, ask)


def safely(check: str, ask: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield a check's findings. An exception becomes a finding without its message.

    The message may hold a password.
    """
    try:
        yield from ask()
    except Exception as error:  # noqa: BLE001  # the other checks must still run
        remedy = "Put right what else was found, then call slopsieve doctor again."
        yield fail(check, f"it cannot be checked: {type(error).__name__}", remedy)


def _database_file(settings: Settings) -> Path | None:
    if settings.database_url is None:
        return DataFolder(settings.data_dir, prove=False).database_file
    scheme, _, path = settings.database_url.get_secret_value().partition(":///")
    return Path(path.partition("?")[0]) if scheme.startswith("sqlite") else None


class _Installation:
    """The parts of an installation. Each check opens only what it needs."""

    def __init__(self, settings: Settings, stack: ExitStack, *, deep: bool) -> None:
        self._settings = settings
        self._stack = stack
        self._folder = DataFolder(settings.data_dir, prove=False)
        self._now = datetime.now(UTC)
        self.checks: Mapping[str, Callable[[], Iterable[Finding]]] = {
            "settings": self._wiring,
            "database": lambda: checks.check_database(
                self._engine, self._folder.database_file, deep=deep, now=self._now
            ),
            "data folder": self._data_folder,
            "valkey": self._valkeys,
            "workers": self._workers,
            "queue": lambda: checks.check_backlog(self._stores.figures.backlog(), now=self._now),
            "histories": self._histories,
            "scores": self._scores,
        }

    @cached_property
    def _engine(self) -> sa.Engine:
        """Open the database for the first check that needs it; an error is raised in each."""
        engine = open_engine(self._settings, self._folder)
        self._stack.callback(engine.dispose)
        return engine

    @cached_property
    def _stores(self) -> SqlStores:
        return SqlStores(self._engine)

    @property
    def _valkey_url(self) -> str:
        return find_valkey_url(self._settings, self._folder)

    def _wiring(self) -> Iterator[Finding]:
        try:
            Wired(self._settings).close()
        except ModerationError as error:
            yield fail("settings", str(error), "Put it right; .env.example explains every setting.")

    def _data_folder(self) -> Iterator[Finding]:
        folder, embedded = self._folder, self._settings.database_url is None
        if wrong := folder.find_fault():
            yield fail("data folder", f"{folder.path} cannot be used: {wrong[0]}", f"{wrong[1]}.")
        yield check_rights(folder.path, user_id=os.geteuid())
        yield check_key_file(folder.key_file)
        usage = shutil.disk_usage(folder.path)
        growth = self._growth() if embedded else None
        yield check_room(usage.free, usage.total, grows_a_day=growth)
        backup = folder.last_backup_file
        last = backup.stat().st_mtime if backup.exists() else None
        yield check_backup(last, now=self._now.timestamp(), embedded=embedded)

    def _growth(self) -> float | None:
        """Return the database's growth in bytes a day over a week, None if it is negligible."""
        since = self._now - timedelta(days=_RATE_DAYS)
        try:
            every = self._stores.cases.count(CaseFilter())
            lately = self._stores.cases.count(CaseFilter(received_from=since))
        except StoreUnavailableError:
            return None
        if lately < 100:
            return None
        return self._folder.database_file.stat().st_size / every * lately / _RATE_DAYS

    def _valkeys(self) -> Iterator[Finding]:
        servers = {"valkey": (self._valkey_url, "VALKEY_URL")}
        history_url = find_history_url(self._settings, self._valkey_url)
        if history_url != self._valkey_url:
            servers["history server"] = (history_url, "HISTORY_URL")
        for check, (url, variable) in servers.items():
            with closing(open_client(url)) as client:
                yield from checks.check_valkey(client, check, variable=f"{ENV_PREFIX}{variable}")

    def _workers(self) -> Iterator[Finding]:
        with closing(open_client(self._valkey_url)) as client:
            try:
                prove_write(client)
                found = [live_workers(client, kind) for kind in (WORKERS, BACKGROUND)]
            except StoreUnavailableError as error:
                yield warn(
                    "workers",
                    f"unknown, as heartbeats come through Valkey: {error}",
                    "Put right what was found of valkey, then call slopsieve doctor again.",
                )
                return
        yield from checks.check_workers(*found)
        oldest = self._stores.figures.oldest_unjudged()
        yield checks.judge_progress(found[0], oldest=oldest, now=self._now)

    def _histories(self) -> Iterator[Finding]:
        decided = self._stores.decisions.find_in_force(after=0, limit=1).items
        url = find_history_url(self._settings, self._valkey_url)
        with closing(ValkeyHistoryStore(url)) as history:
            yield checks.judge_histories(is_blank=history.is_blank(), has_decisions=bool(decided))

    def _scores(self) -> Iterator[Finding]:
        counts = self._stores.figures.count(last_days(None, 1, self._now))
        yield checks.judge_scores(population_stability(counts.earlier_scores, counts.recent_scores))


def check_names(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Check for variables with our prefix that are not settings, mostly misspellings."""
    given = {name for name, value in environment.items() if value and name.startswith(ENV_PREFIX)}
    for name in sorted(given - VARIABLES):
        close = difflib.get_close_matches(name, VARIABLES, n=1)
        meant = f"Did you mean {close[0]}?" if close else "Take it out of the environment."
        yield warn("settings", f"{name} is no setting and changes nothing", meant)
    if given <= VARIABLES:
        yield ok("settings", f"{len(given)} set, all known" if given else "all defaults")


def check_combinations(settings: Settings) -> Iterator[Finding]:
    """Check for settings that are dangerous together, or that let callbacks do harm."""
    if settings.trusted_proxies and not settings.https_only_cookies:
        yield warn(
            "settings",
            "behind a proxy, and session cookies may go over plain HTTP",
            f"Set {ENV_PREFIX}HTTPS_ONLY_COOKIES=true if the proxy speaks TLS.",
        )
    if settings.database_url is not None and settings.secret_key is None:
        yield warn(
            "settings",
            "the database may serve several machines, the secret key lies in one data folder",
            f"Set {ENV_PREFIX}SECRET_KEY, the same on every machine.",
        )
    if settings.metrics_address and settings.metrics_token is None:
        host = settings.metrics_address.rpartition(":")[0].strip("[]")
        if not ipaddress.ip_address(host).is_loopback:
            yield warn(
                "settings",
                f"metrics are served at {settings.metrics_address} to anyone who can reach it",
                f"Set {ENV_PREFIX}METRICS_TOKEN, or keep strangers off that network.",
            )
    wide = [allowed for allowed in settings.callback_allow if _is_wide(allowed)]
    if wide:
        yield warn(
            "outbound",
            f"callbacks may go to whole networks that are not public: {', '.join(wide)}",
            f"Name the hosts alone in {ENV_PREFIX}CALLBACK_ALLOW.",
        )
    if settings.callback_plain_http:
        yield warn(
            "outbound",
            "callbacks may go over plain HTTP, where everybody on the way can read them",
            f"Unset {ENV_PREFIX}CALLBACK_PLAIN_HTTP once no site needs it.",
        )
    if not wide and not settings.callback_plain_http:
        ports = ", ".join(str(port) for port in settings.callback_ports)
        yield ok("outbound", f"callbacks go over https to public addresses, ports {ports}")


def _is_wide(allowed: str) -> bool:
    if "/" not in allowed:
        return False
    network = ipaddress.ip_network(allowed)
    return network.prefixlen < (16 if network.version == 4 else 48)


def check_rights(path: Path, *, user_id: int) -> Finding:
    """Check that only this user may read a data folder.

    A folder with a sticky bit, as in containers, is judged by its files.
    """
    info = path.stat()
    if info.st_mode & stat.S_ISVTX:
        inside = [entry.lstat() for entry in path.iterdir()]
        if all(i.st_uid == user_id and not i.st_mode & _OTHERS for i in inside):
            return ok("data folder", f"{path}, what is in it its owner's alone")
    if info.st_uid != user_id:
        return warn(
            "data folder",
            f"{path} belongs to user {info.st_uid}, this is user {user_id}",
            f"Run Slopsieve as the folder's owner, or: chown -R {user_id} {path}",
        )
    if info.st_mode & _OTHERS:
        return warn(
            "data folder",
            f"{path} is open to others (mode {info.st_mode & 0o777:03o})",
            f"chmod 700 {path}",
        )
    return ok("data folder", f"{path}, its owner's alone")


def check_key_file(path: Path) -> Finding:
    if not path.exists():
        return ok("secret key", "none in the data folder yet, or it is in the environment")
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS:
        return fail(
            "secret key", f"{path} is open to others (mode {mode:03o})", f"chmod 600 {path}"
        )
    return check_secret("secret key", path.read_text("utf-8", "replace").strip(), str(path))


def check_secret(check: str, secret: str, where: str) -> Finding:
    """Check a secret's length and variety; it is never shown."""
    if len(secret) < MIN_SECRET_CHARS:
        remedy = f"Make one of at least {MIN_SECRET_CHARS} random characters: openssl rand -hex 32"
        return fail(check, f"{where} has {len(secret)} characters", remedy)
    if len(set(secret)) < _LEAST_DIFFERENT_CHARS:
        return warn(
            check,
            f"{where} has {len(set(secret))} different characters, it can be guessed",
            "Make a random one: openssl rand -hex 32; a new one ends all sessions.",
        )
    return ok(check, f"{where}, {len(secret)} characters")


def check_room(free: float, total: float, *, grows_a_day: float | None) -> Finding:
    """Check that the disk is not full, or soon full at the database's present growth."""
    left = f"{bytes_in_words(free)} of {bytes_in_words(total)} free"
    is_scarce = free < _LEAST_SHARE_FREE * total
    if is_scarce and free < _FULL_BELOW_BYTES:
        return fail("disk", f"{left}: soon no comment can be kept", checks.MAKE_ROOM)
    days = free / grows_a_day if grows_a_day else None
    if days is not None:
        enough = f"{days:.0f} days" if days < 730 else "years"
        left = f"{left}, enough for {enough} at the present rate"
    if (days is not None and days < 14) or (is_scarce and free < _LEAST_FREE_BYTES):
        return warn("disk", left, checks.MAKE_ROOM)
    return ok("disk", left)


def check_backup(last: float | None, *, now: float, embedded: bool) -> Finding:
    if not embedded:
        return ok("backup", "the database has tools of its own; see that they run")
    remedy = "slopsieve backup FILE.tar, daily, and keep the file elsewhere."
    if last is None:
        return warn("backup", "no backup was made of this data folder yet", remedy)
    if now - last > _BACKUP_SECONDS:
        return warn("backup", f"the last one is {time_in_words(now - last)} old", remedy)
    return ok("backup", f"{time_in_words(max(0.0, now - last))} ago")
