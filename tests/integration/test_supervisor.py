"""`slopsieve up`: the one command that starts everything, keeps it running and ends it."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.start_error import ExitCode
from tests.commands import ROOT, command_of, run_python, until
from tests.servers import free_port

UP = [sys.executable, "-c", "from service.cli import main; main()", "up"]
PARTS = ("valkey", "api", "worker", "background")


def children(pid: int) -> dict[int, str]:
    """Return the commands of a process's children by their ids."""
    ids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(one): command for one in ids if (command := command_of(one))}


def child(pid: int, name: str) -> int | None:
    return next(
        (number for number, command in children(pid).items() if command.startswith(name)), None
    )


def alive(pids) -> list[int]:
    return [pid for pid in pids if command_of(pid)]


@dataclass
class Up:
    """A running `slopsieve up --json` with what it said."""

    process: subprocess.Popen[str]
    log: Path
    said: dict[str, Any]

    def get(self, path: str, *, key: str | None = None) -> tuple[int, Any]:
        """Return an answer's status and JSON."""
        status, text = self.call("GET", path, Authorization=f"Bearer {key}")
        return status, json.loads(text)

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        """Post as the first site and return the answer's status and JSON."""
        headers["Authorization"] = f"Bearer {self.said['site_key']}"
        headers["Content-Type"] = "application/json"
        status, text = self.call("POST", path, json.dumps(body).encode(), **headers)
        return status, json.loads(text)

    def call(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
        """Return an answer's status and text."""
        with closing(HTTPConnection(urlsplit(self.said["url"]).netloc, timeout=30)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")


def start(home: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    with (home / "log").open("a") as errors:
        return subprocess.Popen(
            [*UP, "--port", "0", "--data-dir", str(home / "data"), *options],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )


def ready(home: Path, *options: str, **environment: str) -> Up:
    process, log = start(home, "--json", *options, **environment), home / "log"
    line = process.stdout.readline()
    assert line, log.read_text()
    return Up(process=process, log=log, said=json.loads(line))


def stop(process: subprocess.Popen[str]) -> int:
    process.terminate()
    try:
        return process.wait(timeout=40)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def fails(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and the only line of an `up` that is expected not to start."""
    words = (*UP[1:], "--port", "0", "--data-dir", str(folder), *options)
    done = run_python(*words, cwd=ROOT, env=os.environ | environment, timeout=60)
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    return done.returncode, line


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """Run one installation for the tests that leave it as it was."""
    up = ready(tmp_path_factory.mktemp("up"))
    yield up
    stop(up.process)


def test_it_says_in_one_line_of_json_where_everything_is(up):
    status, answer = up.get("/readyz")

    assert status == 200
    assert set(answer["parts"].values()) == {"ok"}
    assert up.said["pid"] == up.process.pid
    assert up.said["site_key"].startswith("slop_")
    assert up.said["moderator"]
    assert up.said["password"]
    assert up.said["problem"] is None


def test_secrets_stand_in_no_log_and_on_no_command_line(up):
    valkey_url = (Path(up.said["data_dir"]) / "valkey" / "url").read_text().strip()
    password = valkey_url.partition("://:")[2].partition("@")[0]
    secrets = [password, up.said["site_key"], up.said["password"]]

    shown = up.log.read_text() + " ".join(children(up.process.pid).values())
    assert len(password) >= 32
    assert [secret for secret in secrets if secret in shown] == []


def test_a_second_start_on_the_same_folder_is_refused_in_one_line(up):
    code, line = fails(Path(up.said["data_dir"]))

    assert code == ExitCode.ALREADY_RUNNING
    assert f"process {up.process.pid}" in line


def test_valkey_keeps_the_folder_locked_should_it_outlive_the_supervisor(up):
    valkey = child(up.process.pid, "valkey")

    opened = {descriptor.resolve() for descriptor in Path(f"/proc/{valkey}/fd").iterdir()}

    assert Path(up.said["data_dir"]) / "slopsieve.lock" in opened


def test_a_port_in_use_is_one_clear_line(up, tmp_path):
    port = up.said["url"].rpartition(":")[2]

    code, line = fails(tmp_path / "data", "--port", port)

    assert code == ExitCode.ADDRESS
    assert f"port {port}" in line


@pytest.mark.parametrize("part", ["worker", "valkey-server"])
def test_what_is_killed_is_started_again(up, part):
    before = until(lambda: child(up.process.pid, part))
    os.kill(before, signal.SIGKILL)

    until(lambda: child(up.process.pid, part) not in (None, before))

    def judged():
        try:
            _, answer = up.post("/v1/comments?wait=5", {"text": "Is it running again?"})
        except (OSError, HTTPException):
            return False
        return answer.get("verdict")

    assert until(judged, seconds=40)


def test_a_restart_replaces_every_part_but_valkey_and_refuses_nobody(up):
    parts = ("valkey-server", "api", "worker", "background")
    before = {part: child(up.process.pid, part) for part in parts}
    answers = []

    subprocess.run([*UP[:-1], "restart", "--data-dir", up.said["data_dir"]], check=True)
    while "everything was restarted" not in up.log.read_text():
        answers.append(up.post("/v1/comments?wait=20", {"text": f"Number {len(answers)}."}))
        assert len(answers) < 10_000, "the restart never ended"
    after = {part: child(up.process.pid, part) for part in parts}

    assert answers
    assert {status for status, _ in answers} == {202}
    assert all(body["verdict"] for _, body in answers)
    assert {part for part in parts if before[part] == after[part]} == {"valkey-server"}
    assert None not in after.values()


def test_sigterm_ends_everything_and_a_later_start_shows_no_secrets_again(tmp_path):
    port = free_port()
    first = ready(tmp_path, "--port", str(port))
    first.post("/v1/comments?wait=5", {"text": "Kept across the restart."})
    family = [first.process.pid, *children(first.process.pid)]
    code = stop(first.process)
    left = alive(family)
    with socket.socket() as probe:
        refused = probe.connect_ex(("127.0.0.1", port))

    # Switched on, retraining stops with the others.
    again = ready(tmp_path, SLOPSIEVE_RETRAIN_EVERY_DAYS="30")
    status, kept = again.get("/v1/comments", key=first.said["site_key"])
    later_family = children(again.process.pid)
    stop(again.process)

    assert code == 0
    assert first.said["url"].endswith(f":{port}")
    assert refused != 0
    assert len(family) == len(("supervisor", *PARTS))
    assert len(later_family) == len(PARTS)
    assert "retraining is on" in (tmp_path / "log").read_text()
    assert left == alive(later_family) == []
    assert [again.said[name] for name in ("site_key", "moderator", "password")] == [None] * 3
    assert status == 200
    assert len(kept["comments"]) == 1


def test_without_a_model_comments_wait_for_a_person_and_an_outside_valkey_is_left_running(
    tmp_path, valkey
):
    (tmp_path / "models").mkdir()
    up = ready(
        tmp_path, SLOPSIEVE_MODELS_DIR=str(tmp_path / "models"), SLOPSIEVE_VALKEY_URL=valkey.url
    )
    readiness, parts = up.get("/readyz")
    commands = children(up.process.pid).values()

    _, answer = up.post("/v1/comments?wait=10", {"text": "Who judges me?"})
    code = stop(up.process)

    assert "CURRENT" in up.said["problem"]
    assert readiness == 503
    assert "CURRENT" in parts["parts"]["model"]
    assert answer["verdict"]["degraded"]
    assert answer["verdict"]["outcome"] == "unsure"
    assert not any("valkey-server" in command for command in commands)
    assert (code, valkey.process.poll()) == (0, None)


def test_people_are_shown_addresses_and_secrets_and_parts_end_with_a_killed_supervisor(tmp_path):
    process = start(tmp_path, SLOPSIEVE_MODELS_DIR=str(tmp_path))
    lines = []
    while not any("first-run" in line for line in lines):
        lines.append(process.stdout.readline())
        assert lines[-1], (tmp_path / "log").read_text()
    family = list(children(process.pid))

    process.kill()
    process.wait()
    process.stdout.close()

    # A pipe may lead into a log, so the secrets themselves are for a screen and for the command.
    printed = "".join(lines)
    again = CliRunner().invoke(cli, ["first-run", "--data-dir", str(tmp_path / "data")]).output
    assert [one for one in ("/v1/comments", "/review", "/docs") if one not in printed] == []
    assert "slop_" in again
    assert "Password" in again
    assert "slop_" not in printed + (tmp_path / "log").read_text()
    assert len(family) == len(PARTS)
    until(lambda: not alive(family))


def test_a_file_in_the_data_folders_place_is_one_clear_line(tmp_path):
    (tmp_path / "data").write_text("not a folder")

    code, line = fails(tmp_path / "data")

    assert code == ExitCode.DATA_FOLDER
    assert "--data-dir" in line


@pytest.mark.parametrize(
    ("setting", "value", "code"),
    [
        ("SLOPSIEVE_VALKEY_URL", "redis://:secret@127.0.0.1:1/0", ExitCode.VALKEY),
        ("SLOPSIEVE_DATABASE_URL", "postgresql://user:secret@127.0.0.1:1/x", ExitCode.DATABASE),
        ("SLOPSIEVE_SECRET_KEY", "secret", ExitCode.SETTINGS),
    ],
)
def test_a_wrong_setting_is_one_clear_line_that_names_it(tmp_path, setting, value, code):
    exit_code, line = fails(tmp_path / "data", **{setting: value})

    assert exit_code == code
    assert line.startswith(setting)
    assert "secret" not in line
