"""Examines a whole installation; a check that breaks hides no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from service.data_folder import DataFolder
from service.doctor.database_checks import check_database
from service.doctor.folder_checks import check_folder, check_secret
from service.doctor.judging_checks import (
    check_backlog,
    check_versions,
    check_workers,
    judge_histories,
    judge_progress,
    judge_scores,
)
from service.doctor.settings_checks import check_combinations, check_names, wrong_settings
from service.doctor.valkey_checks import check_valkey
from service.domain.case import CaseFilter
from service.domain.errors import ModerationError, StoreUnavailableError
from service.domain.finding import Finding, fail, warn
from service.moderation.figures import last_days
from service.scoring.figures import population_stability
from service.settings import ENV_PREFIX, Settings
from service.start_error import SettingsError
from service.stores.sql import SqlStores
from service.tasks.broker import open_client, prove_write
from service.tasks.heartbeat import BACKGROUND, WORKERS, live_workers
from service.training_runs.versions import versions_folder
from service.wiring import (
    find_history_server,
    find_valkey_url,
    open_engine,
    open_history,
    wire,
)

_RATE_DAYS = 7
_FEW_COMMENTS = 100


def examine(
    environment: Mapping[str, str], load: Callable[[], Settings], *, deep: bool
) -> Iterator[Finding]:
    """Yield the findings, as they are made; `deep` reads the whole of an embedded database.

    Nothing is changed but for the row and the key by which writes are proven.
    """
    try:
        settings = load()
    except SettingsError as error:
        yield from wrong_settings(str(error))
        return
    yield from check_names(environment)
    yield from check_combinations(settings)
    yield from _secrets(settings)
    yield from _safely("model", lambda: check_versions(versions_folder(settings)))
    # SQLite would make the file.
    file = _database_file(settings)
    if file is not None and not file.exists():
        yield fail(
            "data folder",
            f"{file.parent.resolve()} holds no database yet",
            "Start once with slopsieve up, or name another folder with --data-dir.",
        )
        return
    yield from _safely("settings", lambda: _wiring(settings))
    yield from _installation(settings, deep=deep)


def _database_file(settings: Settings) -> Path | None:
    """Return the file that the database is in, None where it is a server's."""
    if settings.database_url is None:
        return settings.data_dir / "slopsieve.db"
    scheme, _, path = settings.database_url.get_secret_value().partition(":///")
    return Path(path.partition("?")[0]) if scheme.startswith("sqlite") else None


def _wiring(settings: Settings) -> Iterator[Finding]:
    """Find what keeps a process from starting with these settings."""
    try:
        wire(settings).close()
    except ModerationError as error:
        yield fail("settings", str(error), "Put it right; .env.example explains every setting.")


def _installation(settings: Settings, *, deep: bool) -> Iterator[Finding]:
    """Check part by part, each with what it needs alone: none is left out for another's fault."""
    folder = DataFolder(settings.data_dir, prove=False)
    now, embedded = datetime.now(UTC), settings.database_url is None
    with ExitStack() as stack:

        @cache
        def engine() -> sa.Engine:
            """Open the database for the first check that asks: what fails, fails in each."""
            opened = open_engine(settings, folder)
            stack.callback(opened.dispose)
            return opened

        def stores() -> SqlStores:
            return SqlStores(engine())

        def check_own_folder() -> Iterator[Finding]:
            grows_a_day = _growth(stores(), folder, now) if embedded else None
            return check_folder(
                folder, embedded=embedded, grows_a_day=grows_a_day, now=now.timestamp()
            )

        checks: Mapping[str, Callable[[], Iterable[Finding]]] = {
            "database": lambda: check_database(engine(), folder, deep=deep, now=now),
            "data folder": check_own_folder,
            "valkey": lambda: _valkeys(settings, folder),
            "workers": lambda: _workers(settings, folder, stores, now),
            "queue": lambda: check_backlog(stores().backlog.count(), now=now),
            "histories": lambda: [_histories(settings, folder, stores())],
            "scores": lambda: [_scores(stores(), now)],
        }
        for check, ask in checks.items():
            yield from _safely(check, ask)


def _workers(
    settings: Settings, folder: DataFolder, stores: Callable[[], SqlStores], now: datetime
) -> Iterator[Finding]:
    with closing(open_client(find_valkey_url(settings, folder))) as client:
        try:
            prove_write(client)
            signs = [live_workers(client, kind) for kind in (WORKERS, BACKGROUND)]
        except StoreUnavailableError as error:
            yield warn(
                "workers",
                f"unknown, as they give signs of life through Valkey: {error}",
                "Put right what was found of valkey, then call slopsieve doctor again.",
            )
            return
    yield from check_workers(*signs)
    oldest = stores().backlog.oldest_unjudged()
    yield judge_progress(signs[0], oldest=oldest, now=now)


def _histories(settings: Settings, folder: DataFolder, stores: SqlStores) -> Finding:
    decided = stores.decisions.find_in_force(after=0, limit=1).decided_comments
    with closing(open_history(settings, find_valkey_url(settings, folder))) as history:
        return judge_histories(is_blank=history.is_blank(), has_decisions=bool(decided))


def _scores(stores: SqlStores, now: datetime) -> Finding:
    counts = stores.figures.count(last_days(None, 1, now))
    return judge_scores(population_stability(counts.earlier_scores, counts.recent_scores))


def _valkeys(settings: Settings, folder: DataFolder) -> Iterator[Finding]:
    url = find_valkey_url(settings, folder)
    yield from _valkey("valkey", url, "VALKEY_URL")
    history_url, is_cluster = find_history_server(settings, url)
    if history_url != url and not is_cluster:
        yield from _valkey("history server", history_url, "HISTORY_URL")


def _valkey(check: str, url: str, variable: str) -> Iterator[Finding]:
    with closing(open_client(url)) as client:
        yield from check_valkey(client, check, variable=f"{ENV_PREFIX}{variable}")


def _growth(stores: SqlStores, folder: DataFolder, now: datetime) -> float | None:
    """Return by how many bytes a day the database grew this week, None if by hardly any."""
    try:
        every = stores.cases.count(CaseFilter())
        lately = stores.cases.count(CaseFilter(received_from=now - timedelta(days=_RATE_DAYS)))
    except StoreUnavailableError:
        return None
    if lately < _FEW_COMMENTS:
        return None
    return folder.database_file.stat().st_size / every * lately / _RATE_DAYS


def _secrets(settings: Settings) -> Iterator[Finding]:
    for name in ("secret_key", "sender_secret", "sender_secret_before", "metrics_token"):
        given = getattr(settings, name)
        if given is not None:
            yield check_secret("secrets", given.get_secret_value(), f"{ENV_PREFIX}{name.upper()}")


def _safely(check: str, ask: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield what is found; what breaks is a finding too. Its message may hold a password."""
    try:
        yield from ask()
    except Exception as error:  # noqa: BLE001  # the other checks are worth their findings
        remedy = "Put right what else was found, then call slopsieve doctor again."
        yield fail(check, f"it cannot be checked: {type(error).__name__}", remedy)
