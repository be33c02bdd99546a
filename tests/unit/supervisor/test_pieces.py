"""The lock, the first accounts, the children and the embedded server's files."""

import os
import stat
import subprocess
import sys

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.data_folder import DataFolder
from service.moderation.accounts import authenticate_user, change_password, reset_password
from service.moderation.sites import revoke_key
from service.process_lock import only_one
from service.start_error import StartError
from service.supervisor.prepare import keep_first_run, make_first_accounts
from service.supervisor.process import ChildProcess, ProcessSpec
from service.supervisor.report import FirstRun, Running, to_text
from service.supervisor.valkey import EmbeddedValkey
from service.wiring import open_services
from tests.commands import until
from tests.fakes import make_services

FIRST_RUN = FirstRun(site_id="site_1", site_key="slop_key", moderator="moderator", password="once")
RUNNING = Running(
    url="http://127.0.0.1:8080", pid=4711, data_dir="/data", seconds=1.234, first_run=FIRST_RUN
)

# Takes the lock, leaves a child that inherits it, and ends without a word.
_LEAVE_A_CHILD = """
import os, pathlib, subprocess, sys
from service.process_lock import only_one
with only_one(pathlib.Path(sys.argv[1])) as lock:
    child = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    print(subprocess.Popen(child, pass_fds=(lock,)).pid, flush=True)
    os._exit(9)
"""


@pytest.fixture
def left_behind(tmp_path):
    """Give a child that holds the lock after its supervisor; it ends as its input does."""
    command = (sys.executable, "-c", _LEAVE_A_CHILD, str(tmp_path / "lock"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as gone:
        assert int(gone.stdout.readline()) > 0
        gone.wait(30)
        yield gone.stdin


@pytest.mark.usefixtures("left_behind")
def test_what_outlives_a_killed_supervisor_keeps_its_lock(tmp_path):
    with (
        pytest.raises(StartError, match="already runs"),
        only_one(tmp_path / "lock", ending_seconds=0),
    ):
        pytest.fail("a second supervisor started beside what the first one left")


def test_the_lock_waits_for_what_a_killed_supervisor_left_to_end(tmp_path, left_behind):
    left_behind.close()

    with only_one(tmp_path / "lock"):
        holder = (tmp_path / "lock").read_text(encoding="utf-8")

    assert holder == f"{os.getpid()}\n"


def test_the_command_that_shows_them_again_works_where_it_is_read(monkeypatch, tmp_path):
    program = tmp_path / ".venv" / "bin" / "slopsieve"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(program.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")

    elsewhere = to_text(RUNNING)
    monkeypatch.chdir(tmp_path)
    beside = to_text(RUNNING)
    monkeypatch.setenv("PATH", str(program.parent))
    activated = to_text(RUNNING)

    assert f"  {program} first-run --data-dir /data" in elsewhere
    assert "  .venv/bin/slopsieve first-run --data-dir /data" in beside
    assert "  slopsieve first-run --data-dir /data" in activated


def first_run(folder, *words):
    return CliRunner().invoke(cli, ["first-run", *words, "--data-dir", str(folder.path)])


def test_what_the_first_start_made_is_its_owners_alone_and_found_again_until_it_is_forgotten(
    tmp_path,
):
    folder = DataFolder(tmp_path)
    with open_services(data_dir=str(tmp_path)) as services:
        made = make_first_accounts(services)
        keep_first_run(made, folder, services)
        mode = stat.S_IMODE(folder.first_run_file.stat().st_mode)
        shown = first_run(folder)
        reset_password(made.moderator, services, actor="Ada")
        after_reset = first_run(folder).output
        revoke_key(services.sites.list_keys(made.site_id)[0].id, services, actor="Ada")
        after_both = first_run(folder).output
    forgotten, gone = first_run(folder, "--forget"), first_run(folder)

    assert mode == 0o600
    assert f"{made.site_key}\n" in shown.output
    assert f"{made.password}\n               works once" in shown.output
    assert made.site_key in after_reset
    assert made.password not in after_reset
    assert after_both == (
        "  `slopsieve sites add-key SITE` issues a key\n"
        "  `slopsieve users reset moderator` makes a password\n"
    )
    assert forgotten.exit_code == 0
    assert gone.exit_code == 1
    assert "or `slopsieve up` did not run on it yet" in gone.output
    assert "slopsieve users reset" in gone.output


def test_a_later_start_forgets_it_once_the_moderator_has_a_password_of_their_own(tmp_path):
    folder, services = DataFolder(tmp_path), make_services()
    made = make_first_accounts(services)
    keep_first_run(made, folder, services)

    keep_first_run(FirstRun(), folder, services)
    kept = folder.first_run_file.exists()
    user = authenticate_user(made.moderator, made.password, services)
    change_password(user, services, old=made.password, new="radiators need bleeding")
    keep_first_run(FirstRun(), folder, services)

    assert kept
    assert not folder.first_run_file.exists()


def test_valkey_listens_on_a_private_socket_with_a_password_of_its_own(tmp_path):
    # pytest's folders may be too deep for a socket, so the choice is read from the length.
    folder = DataFolder(tmp_path)
    valkey = EmbeddedValkey(folder)
    again = EmbeddedValkey(folder)

    config = folder.valkey_folder / "valkey.conf"
    assert config.stat().st_mode & 0o777 == 0o600
    assert folder.valkey_url_file.stat().st_mode & 0o777 == 0o600
    assert folder.read_valkey_url() == again.url != valkey.url
    assert "requirepass" in config.read_text()
    assert "appendfsync everysec" in config.read_text()
    assert "noeviction" in config.read_text()


def test_a_path_too_long_for_a_socket_gets_a_loopback_port(tmp_path):
    folder = DataFolder(tmp_path / ("deep" * 20) / ("deeper" * 10))

    valkey = EmbeddedValkey(folder)

    assert valkey.url.startswith("redis://:")
    assert "@127.0.0.1:" in valkey.url


@pytest.fixture
def make_child(seconds):
    made = []

    def make(code, *, stop_seconds=5.0, write_line=lambda line: None):
        spec = ProcessSpec(
            name="worker",
            command=[sys.executable, "-S", "-c", code],
            environment={},
            stop_seconds=stop_seconds,
        )
        child = ChildProcess(spec, write_line=write_line, monotonic=seconds)
        made.append(child)
        return child

    yield make
    for child in made:
        child.ask_to_stop()
        seconds.now += 1000
        child.wait_or_kill()


def test_a_child_that_keeps_dying_comes_back_ever_more_slowly(make_child, seconds):
    child = make_child("raise SystemExit(1)")
    child.start()
    waits = []

    for _ in range(9):
        until(child.look_after)
        died_at = seconds.now
        while child._process is None:
            seconds.now += 0.25
            child.look_after()
        waits.append(seconds.now - died_at)

    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_healthy_minute_makes_earlier_deaths_forgotten(make_child, seconds):
    child = make_child("import sys; sys.stdin.read(); raise SystemExit(1)")
    for _ in range(3):
        child.start()
        until(child.look_after)
    child.start()
    seconds.now += 61

    until(child.look_after)
    seconds.now += 0.25
    child.look_after()

    assert child._process is not None


def test_a_child_that_ignores_the_order_to_stop_is_killed(make_child):
    child = make_child(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(600)",
        stop_seconds=0.0,
    )
    child.start()
    until(child.forward_output)

    child.ask_to_stop()
    child.wait_or_kill()

    assert child._process is None
