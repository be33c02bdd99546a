"""Answers a container's probes by its exit code: is this process alive, does the schema fit?"""

import argparse
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.client import HTTPException

from service.data_folder import DataFolder
from service.domain.errors import ModerationError, StoreUnavailableError
from service.listening import ask
from service.settings import Settings, load_settings


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one probe of this container. Always raises `SystemExit`: 0 for healthy, 1 for not.

    `api` requests `/livez`; `worker` and `background` look for this host's own heartbeat in Valkey;
    `schema` compares the database with this version. A problem is printed in one line.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.probe", description=__doc__)
    parser.add_argument("probe", choices=list(_PROBES))
    given = parser.parse_args(arguments)
    try:
        problem = _PROBES[given.probe](load_settings())
    except ModerationError as error:
        problem = str(error)
    if problem:
        sys.stderr.write(f"{problem}\n")
    sys.exit(1 if problem else 0)


def _api(settings: Settings) -> str | None:
    try:
        status, _ = ask(settings.host, settings.port, "/livez")
    except (OSError, HTTPException) as error:
        return f"the API does not answer: {type(error).__name__}"
    return None if status == 200 else f"the API answers {status}"


def _heartbeat(process: str, settings: Settings) -> str | None:
    """Look for a recent heartbeat of this kind of process on this host.

    While Valkey is unavailable or full no process can send one, so none is reported as dead.
    """
    from service.tasks.broker import open_client, prove_write
    from service.tasks.heartbeat import BACKGROUND, WORKERS, live_workers
    from service.wiring import find_valkey_url

    kind = {"worker": WORKERS, "background": BACKGROUND}[process]
    client = open_client(find_valkey_url(settings, DataFolder(settings.data_dir, prove=False)))
    try:
        prove_write(client)
        names = [status.name for status in live_workers(client, kind)]
    except StoreUnavailableError:
        return None
    finally:
        client.close()
    own = f"{socket.gethostname()}:"
    alive = any(name.startswith(own) for name in names)
    return None if alive else "this host's process has sent no heartbeat lately"


def _schema(settings: Settings) -> str | None:
    from service.stores.migrations import SchemaState, schema_state
    from service.wiring import open_engine

    engine = open_engine(settings, DataFolder(settings.data_dir, prove=False))
    try:
        state = schema_state(engine)
    finally:
        engine.dispose()
    if state is SchemaState.UP_TO_DATE:
        return None
    return "the database's schema does not fit this version: run the migration"


_PROBES: Mapping[str, Callable[[Settings], str | None]] = {
    "api": _api,
    "worker": partial(_heartbeat, "worker"),
    "background": partial(_heartbeat, "background"),
    "schema": _schema,
}

if __name__ == "__main__":
    main()
