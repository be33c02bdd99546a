"""Runs all of Slopsieve on one machine until a signal stops it."""

import gc
import json
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http.client import HTTPException
from importlib import import_module
from multiprocessing import get_context
from typing import TypeVar

from service import ENV_PREFIX, PREFIX
from service.child_processes import handling
from service.data_folder import DataFolder
from service.listening import ask, base_url, listen, reachable_address
from service.logs import LogFormat, configure_logging, line_of_another
from service.memory import ARENAS, limit_arenas, return_unused
from service.process_lock import only_one
from service.settings import Settings
from service.start_error import ExitCode, StartError
from service.supervisor.prepare import add_first_accounts, prepare_stores, send_result
from service.supervisor.process import ChildProcess, ProcessSpec, describe_exit, write_to_stderr
from service.supervisor.report import Running, to_json, to_text
from service.supervisor.valkey import EmbeddedValkey, put_log_back, set_log_aside

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_POLL_SECONDS = 0.05

RESTART_SIGNAL = signal.SIGUSR2
"""Asks for a restart of everything but Valkey, one process after another."""

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, RESTART_SIGNAL)
_POLL_WHEN_READY_SECONDS = 0.5
# Loading a classifier from a slow disk may take long.
_READY_SECONDS = 120.0
# Longer than the API drains (8 s), than the worker's longest batch, than the slowest callback
# (16 s) and than a training program may take to stop (20 s). Valkey only writes its log.
_STOP_SECONDS = {"api": 12.0, "worker": 25.0, "background": 30.0, "valkey": 15.0}
_MAY_STAY = {"model", "judging"}
_MODULES = {
    "api": f"{PREFIX}service.processes.app",
    "worker": f"{PREFIX}service.processes.worker",
    "background": f"{PREFIX}service.processes.background",
}


def supervise(settings: Settings, *, workers: int, as_json: bool) -> None:
    """Start everything, keep it running, and stop it on SIGINT or SIGTERM.

    Raises `StartError` if a child cannot start.
    """
    began = time.monotonic()
    configure_logging(settings.log_format, process="supervisor")
    folder = DataFolder(settings.data_dir)
    signals = _Signals()
    with (
        only_one(folder.lock_file) as lock,
        handling(_HANDLED, signals.received),
        # Held here, so that restarts of the API refuse no connection.
        listen(settings) as listener,
    ):
        manager = _ProcessManager(signals, settings.log_format)
        try:
            _import_modules()
            _in_process(prepare_stores, settings, manager.look_after)
            url = None if settings.valkey_url else _start_valkey(manager, folder, lock)
            _start_children(manager, _environment(settings, folder, url), listener, workers=workers)
            problem = _wait_until_ready(manager, listener)
            first_run = _in_process(add_first_accounts, settings, manager.look_after)
            running = Running(
                url=base_url(listener),
                pid=os.getpid(),
                data_dir=str(folder.path),
                seconds=time.monotonic() - began,
                first_run=first_run,
                problem=problem,
            )
            on_screen = sys.stdout.isatty()
            told = to_json(running) if as_json else to_text(running, with_secrets=on_screen)
            print(told, flush=True)
            manager.keep_running()
        except _StopRequestedError:
            pass
        finally:
            # Clients still wait at the listening socket; refuse them from now on.
            listener.close()
            manager.stop()
    log.info("everything stopped")


class _StopRequestedError(Exception):
    """A signal requested to stop."""


class _Signals:
    """Counts the signals that request to stop, including SIGHUP, and notes restart requests."""

    def __init__(self) -> None:
        self.count = 0
        self.restart = False
        # A byte is written for each signal, so that `select` returns at once.
        self.pipe, self._written = os.pipe()

    def received(self, number: int, _frame: object) -> None:
        os.write(self._written, b"s")
        if number == RESTART_SIGNAL:
            self.restart = True
        else:
            self.count += 1

    def check(self) -> None:
        if self.count:
            raise _StopRequestedError


class _ProcessManager:
    """The child processes in the order of starting; they stop in reverse order."""

    def __init__(self, signals: _Signals, form: LogFormat) -> None:
        self._signals = signals
        self._write_line = _write_json if form is LogFormat.JSON else write_to_stderr
        self._children: list[ChildProcess] = []

    def add(self, spec: ProcessSpec) -> ChildProcess:
        child = ChildProcess(spec, write_line=self._write_line)
        self._children.append(child)
        child.start()
        return child

    def remove(self, child: ChildProcess) -> None:
        child.ask_to_stop()
        child.wait_or_kill(pause=self.wait)
        self._children.remove(child)

    def wait(self, seconds: float) -> None:
        """Forward the children's output until a signal comes, at most this long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            written = {child.output: child for child in self._children if child.output is not None}
            readable, _, _ = select.select([self._signals.pipe, *written], [], [], left)
            for child in (written[pipe] for pipe in readable if pipe in written):
                child.forward_output()
            if self._signals.pipe in readable:
                os.read(self._signals.pipe, 64)
                return

    def look_after(self) -> list[tuple[ChildProcess, int]]:
        """Restart children that exited; return them with their exit codes."""
        self._signals.check()
        found = [(child, child.look_after()) for child in self._children]
        return [(child, code) for child, code in found if code is not None]

    def keep_running(self) -> None:
        while True:
            self.look_after()
            if self._signals.restart:
                self._signals.restart = False
                self._restart()
            self.wait(_POLL_WHEN_READY_SECONDS)

    def _restart(self) -> None:
        """Replace one process after another; each works until its successor does."""
        log.info("restarting one process after another")
        for child in list(self._children):
            if child.spec.says_when_started and not self._replace(child):
                log.error("the restart ends here", extra={"part": child.spec.name})
                return
        log.info("everything was restarted")

    def _replace(self, old: ChildProcess) -> bool:
        """Start a successor and stop the old child once it works; return False if it does not.

        The successor is no fork: it imports the program as it is installed now.
        """
        successor = self.add(replace(old.spec, run=None))
        deadline = time.monotonic() + _READY_SECONDS
        while not successor.works:
            died = any(child is successor for child, _ in self.look_after())
            if died or time.monotonic() > deadline:
                self.remove(successor)
                return False
            self.wait(_POLL_SECONDS)
        self.remove(old)
        return True

    def stop(self) -> None:
        """Stop the children by kind, the API first, Valkey last; a second signal kills them."""
        for kind in ("api", "worker", "background", "valkey"):
            children = [child for child in self._children if child.spec.name.startswith(kind)]
            for child in children:
                child.ask_to_stop()
            for child in children:
                child.wait_or_kill(pause=self.wait, hurry=lambda: self._signals.count > 1)


def _write_json(line: str) -> None:
    name, _, text = line.partition("| ")
    write_to_stderr(line_of_another(name.strip(), text))


def _import_modules() -> None:
    """Import what the children run, so that their forks share its memory."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        limit_arenas()
    # Otherwise numpy's library starts threads, which a fork would lack.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for module in _MODULES.values():
        import_module(module)
    # The collector would write to every object, and so copy it.
    gc.collect()
    gc.freeze()
    return_unused()


def _in_process(
    work: Callable[[Settings], _Result], settings: Settings, meanwhile: Callable[[], object]
) -> _Result:
    """Call `work` in a child process, which frees its memory by ending, and return the result.

    Calls `meanwhile` while it waits. Raises `StartError`.
    """
    # A spawned process would import every module again.
    context = get_context("fork")
    result, theirs = context.Pipe(duplex=False)
    process = context.Process(target=send_result, args=(work, settings, theirs, os.getpid()))
    process.start()
    theirs.close()
    try:
        while not result.poll(_POLL_SECONDS):
            meanwhile()
        answer: _Result | StartError = result.recv()
    except EOFError:
        raise StartError("the stores could not be prepared, see above") from None
    finally:
        process.kill()
        process.join()
    if isinstance(answer, StartError):
        raise answer
    return answer


def _start_children(
    manager: _ProcessManager,
    environment: Mapping[str, str],
    listener: socket.socket,
    *,
    workers: int,
) -> None:
    descriptor = listener.fileno()
    manager.add(_python("api", environment, "--fd", str(descriptor), pass_fds=(descriptor,)))
    # Only the API has the metrics port; it includes the other processes' metrics.
    environment = {**environment, f"{ENV_PREFIX}METRICS_ADDRESS": ""}
    for number in range(1, workers + 1):
        manager.add(_python("worker", environment, number=number if workers > 1 else None))
    manager.add(_python("background", environment))


def _start_valkey(manager: _ProcessManager, folder: DataFolder, lock: int) -> str:
    """Start the embedded server and return its URL. Raises `StartError`.

    An append-only file on which it fails is renamed, never deleted.
    """
    url, died = _try_valkey(manager, folder, lock)
    if url is None and died and (aside := set_log_aside(folder)):
        url, _ = _try_valkey(manager, folder, lock)
        if url is None:
            # The file was not the cause.
            put_log_back(folder, aside)
    if url is None:
        msg = f"Valkey did not start, its own lines say why; its files: {folder.valkey_folder}"
        raise StartError(msg, ExitCode.VALKEY)
    return url


def _try_valkey(manager: _ProcessManager, folder: DataFolder, lock: int) -> tuple[str | None, bool]:
    """Start the embedded server on a socket or, if it does not respond, on a loopback port.

    Returns its URL, None if it does not respond, and whether it exited.
    """
    died = False
    for use_socket in (True, False):
        valkey = EmbeddedValkey(folder, use_socket=use_socket)
        spec = ProcessSpec(
            name="valkey",
            command=valkey.command,
            environment=valkey.environment,
            stop_seconds=_STOP_SECONDS["valkey"],
            # It may outlive a killed supervisor for a while. A second server on its files would
            # damage both, and the first removes the second's socket as it exits.
            pass_fds=(lock,),
            mend=partial(set_log_aside, folder),
        )
        child = manager.add(spec)
        if valkey.wait(died=child.has_died):
            return valkey.url, False
        died = child.has_died()
        manager.remove(child)
    return None, died


def _environment(
    settings: Settings, folder: DataFolder, valkey_url: str | None = None
) -> Mapping[str, str]:
    """Return the children's environment: this process's, with the values decided here."""
    decided = {
        f"{ENV_PREFIX}DATA_DIR": str(folder.path),
        f"{ENV_PREFIX}HOST": settings.host,
        f"{ENV_PREFIX}PORT": str(settings.port),
        "PYTHONUNBUFFERED": "1",
        "MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", str(ARENAS)),
    }
    if valkey_url:
        decided |= {f"{ENV_PREFIX}VALKEY_URL": valkey_url, f"{ENV_PREFIX}VALKEY_URL_FILE": ""}
    return os.environ | decided


def _python(
    kind: str,
    environment: Mapping[str, str],
    *arguments: str,
    number: int | None = None,
    pass_fds: tuple[int, ...] = (),
) -> ProcessSpec:
    arguments = ("--parent", str(os.getpid()), *arguments)
    module = _MODULES[kind]
    return ProcessSpec(
        name=f"{kind}-{number}" if number else kind,
        # -P keeps a folder named "service" in the current one from being imported.
        command=(sys.executable, "-P", "-m", module, *arguments),
        environment=environment,
        stop_seconds=_STOP_SECONDS[kind],
        pass_fds=pass_fds,
        run=partial(_run_module, module, arguments),
        says_when_started=f"{kind} started",
    )


def _run_module(name: str, arguments: tuple[str, ...]) -> None:
    sys.argv = [name, *arguments]
    import_module(name).main()


def _wait_until_ready(manager: _ProcessManager, listener: socket.socket) -> str | None:
    """Wait until everything is ready; return a problem with which it may run, such as no model.

    Raises `StartError` if a child cannot start or the time is over.
    """
    deadline = time.monotonic() + _READY_SECONDS
    parts: Mapping[str, str] = {}
    while time.monotonic() < deadline:
        for child, code in manager.look_after():
            if code in set(ExitCode) - {ExitCode.FAILED}:
                msg = f"the {child.spec.name} could not start ({describe_exit(code)}), see above"
                raise StartError(msg, ExitCode(code))
        parts = _ask_ready(listener)
        missing = {name: state for name, state in parts.items() if state != "ok"}
        is_settled = not missing.get("model", "").startswith("unknown")
        if parts and not missing.keys() - _MAY_STAY and is_settled:
            return next(iter(missing.values()), None)
        manager.wait(_POLL_SECONDS)
    states = "; ".join(f"{name}: {state}" for name, state in parts.items()) or "the API is silent"
    raise StartError(f"not everything became ready in {_READY_SECONDS:.0f} s: {states}")


def _ask_ready(listener: socket.socket) -> Mapping[str, str]:
    """Return the state of each part from `/readyz`, {} while the API is not up."""
    try:
        parts = json.loads(ask(*reachable_address(listener), "/readyz")[1])["parts"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return {}
    return {str(name): str(state) for name, state in parts.items()}
