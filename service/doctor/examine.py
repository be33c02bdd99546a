"""Examines a whole installation; a check that breaks hides no other."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from service.data_folder import DataFolder
from service.doctor.database_checks import check_database
from service.doctor.finding import Finding, fail, warn, well
from service.doctor.folder_checks import check_folder, check_secret
from service.doctor.judging_checks import (
    check_backlog,
    check_processor,
    check_versions,
    check_workers,
    judge_histories,
    read_flags,
    usable_threads,
)
from service.doctor.settings_checks import check_combinations, check_names, name_of, wrong_settings
from service.doctor.valkey_checks import check_valkey
from service.domain.case import CaseFilter
from service.domain.errors import ModerationError
from service.outbound.sender import trusted_authorities
from service.settings import ENV_PREFIX, Settings, SettingsError, load_settings
from service.tasks.broker import open_client
from service.tasks.heartbeat import BEATS, COURIERS, WORKERS, live_workers
from service.versions import versions_folder
from service.wiring import Wired, find_history_server, find_valkey_url, wire

_RATE_DAYS = 7
_FEW_COMMENTS = 100


def examine(
    environment: Mapping[str, str], *, data_dir: str | None, deep: bool
) -> Iterator[Finding]:
    """Yield the findings, as they are made; `deep` reads the whole of an embedded database.

    Nothing is changed but for the one row by which a write is proven.
    """
    try:
        settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    except SettingsError as error:
        yield from wrong_settings(str(error))
        return
    yield from check_names(name_of(environment))
    yield from check_combinations(settings)
    yield from _secrets(settings)
    yield from _safely("certificates", lambda: [_certificates()])
    yield check_processor(read_flags(), threads=usable_threads())
    yield from _safely("model", lambda: check_versions(versions_folder(settings)))
    if settings.database_url is None and not (settings.data_dir / "slopsieve.db").exists():
        yield fail(
            "data folder",
            f"{settings.data_dir.resolve()} holds no database yet",
            "Start once with slopsieve up, or name another folder with --data-dir.",
        )
        return
    try:
        wired = wire(settings)
    except (SettingsError, ModerationError) as error:
        yield fail("settings", str(error), "Put it right; .env.example explains every setting.")
        return
    try:
        yield from _installation(wired, deep=deep)
    finally:
        wired.close()


def _installation(wired: Wired, *, deep: bool) -> Iterator[Finding]:
    services, settings = wired.services, wired.settings
    now, embedded = services.clock(), settings.database_url is None
    stores = list(
        _safely("database", lambda: check_database(wired.engine, wired.folder, deep=deep, now=now))
    )
    yield from stores
    has_stores = all(finding.state != "fail" for finding in stores)
    grows = _growth(wired) if embedded and has_stores else None
    yield from _safely(
        "data folder",
        lambda: check_folder(
            wired.folder, embedded=embedded, grows_a_day=grows, now=now.timestamp()
        ),
    )
    yield from _valkeys(settings, wired.folder)
    client = open_client(wired.valkey_url)
    yield from _safely(
        "workers",
        lambda: check_workers(*(live_workers(client, kind) for kind in (WORKERS, COURIERS, BEATS))),
    )
    client.close()
    if has_stores:
        yield from _safely("queue", lambda: check_backlog(services.backlog.count(), now=now))
        yield from _safely("histories", lambda: [_histories(wired)])


def _histories(wired: Wired) -> Finding:
    decided = wired.services.decisions.find_in_force(after=0, limit=1).precedents
    return judge_histories(is_blank=wired.history.is_blank(), has_decisions=bool(decided))


def _valkeys(settings: Settings, folder: DataFolder) -> Iterator[Finding]:
    url = find_valkey_url(settings, folder)
    yield from _valkey("valkey", url, "VALKEY_URL")
    history_url, is_cluster = find_history_server(settings, url)
    if history_url != url and not is_cluster:
        yield from _valkey("history server", history_url, "HISTORY_URL")


def _valkey(check: str, url: str, variable: str) -> Iterator[Finding]:
    client = open_client(url)
    yield from _safely(
        check, lambda: check_valkey(client, check, variable=f"{ENV_PREFIX}{variable}")
    )
    client.close()


def _growth(wired: Wired) -> float | None:
    """Return by how many bytes a day the database grew this week, None if by hardly any."""
    cases, now = wired.services.cases, wired.services.clock()
    every = cases.count(CaseFilter())
    lately = cases.count(CaseFilter(received_from=now - timedelta(days=_RATE_DAYS)))
    if lately < _FEW_COMMENTS:
        return None
    return wired.folder.database_file.stat().st_size / every * lately / _RATE_DAYS


def _secrets(settings: Settings) -> Iterator[Finding]:
    for name in ("secret_key", "sender_secret", "sender_secret_before", "metrics_token"):
        given = getattr(settings, name)
        if given is not None:
            yield check_secret("secrets", given.get_secret_value(), f"{ENV_PREFIX}{name.upper()}")


def _certificates(load: Callable[[], ssl.SSLContext] = trusted_authorities) -> Finding:
    remedy = "Install the package ca-certificates, and run make install again for certifi."
    try:
        known = load().cert_store_stats()["x509_ca"]
    except (OSError, ssl.SSLError) as error:
        return fail("certificates", f"they cannot be loaded: {type(error).__name__}", remedy)
    if not known:
        return warn("certificates", "no authority is known, so no callback can be sent", remedy)
    return well("certificates", f"{known} authorities are known")


def _safely(check: str, ask: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield what is found; what breaks is a finding too. Its message may hold a password."""
    try:
        yield from ask()
    except Exception as error:  # noqa: BLE001  # the other checks are worth their findings
        remedy = "Put right what else was found, then call slopsieve doctor again."
        yield fail(check, f"it cannot be checked: {type(error).__name__}", remedy)
