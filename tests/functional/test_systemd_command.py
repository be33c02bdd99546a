"""The unit that `slopsieve systemd` prints: what it starts, where it writes, what it is denied."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.settings import load_settings
from service.start_error import ExitCode
from service.supervisor.supervise import _STOP_SECONDS

PROGRAM = "/opt/slopsieve/bin/slopsieve"


@pytest.fixture
def unit(monkeypatch):
    """Return the unit's lines that say something, by section and name."""
    monkeypatch.setattr("sys.executable", "/opt/slopsieve/bin/python3")
    printed = CliRunner().invoke(cli, ["systemd"]).stdout
    found, section = {}, ""
    for line in printed.splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = heading[1]
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault((section, name), []).append(value)
    return found


def test_the_unit_runs_this_very_program_and_reloads_it_part_by_part(unit):
    assert unit["Service", "ExecStart"] == [f"{PROGRAM} up"]
    assert unit["Service", "ExecReload"] == [f"{PROGRAM} restart"]
    assert unit["Install", "WantedBy"] == ["multi-user.target"]


def test_the_unit_writes_to_its_own_folder_alone(unit, monkeypatch):
    (given,) = unit["Service", "Environment"]
    name, _, folder = given.partition("=")
    monkeypatch.setenv(name, folder.replace("%S", "/var/lib"))

    assert load_settings().data_dir == Path("/var/lib/slopsieve")
    assert unit["Service", "StateDirectory"] == ["slopsieve"]
    assert unit["Service", "StateDirectoryMode"] == ["0700"]
    assert unit["Service", "ProtectSystem"] == ["strict"]
    assert unit["Service", "NoNewPrivileges"] == ["yes"]
    assert unit["Service", "CapabilityBoundingSet"] == [""]
    assert ("Service", "ReadWritePaths") not in unit


def test_what_cannot_heal_is_not_started_again_and_again(unit):
    (codes,) = unit["Service", "RestartPreventExitStatus"]

    assert {ExitCode(int(code)) for code in codes.split()} == {
        ExitCode.SETTINGS,
        ExitCode.DATA_FOLDER,
        ExitCode.DATABASE,
        ExitCode.PACKAGE,
    }
    assert unit["Service", "Restart"] == ["on-failure"]


def test_the_unit_gives_every_part_the_time_it_needs_to_stop(unit):
    (seconds,) = unit["Service", "TimeoutStopSec"]

    assert unit["Service", "KillMode"] == ["mixed"]
    assert int(seconds) > max(_STOP_SECONDS.values()) + _STOP_SECONDS["valkey"]


@pytest.mark.parametrize("home", ["/root/.local/pipx/venvs/slopsieve", "/home/ada/venv"])
def test_a_program_that_the_unit_could_not_read_is_refused_with_a_remedy(monkeypatch, home):
    monkeypatch.setattr("sys.executable", f"{home}/bin/python3")

    done = CliRunner().invoke(cli, ["systemd"])

    assert done.exit_code == 1
    assert f"{home}/bin/slopsieve" in done.stderr
    assert "python3 -m venv /opt/slopsieve" in done.stderr
    assert done.stdout == ""
