"""Moving an installation, as an operator types it."""

from __future__ import annotations

import json

import pytest

from service.moderation.admin.sites import add_site
from service.start_error import StartError
from service.wiring import open_services
from tests.functional.commands import run_command


def run(*words: str, folder):
    return run_command("move", *words, "--data-dir", folder, code=0)


@pytest.fixture
def home(tmp_path):
    with open_services(data_dir=str(tmp_path / "home")) as services:
        add_site("Kettle blog", services, actor="test")
    return tmp_path / "home"


def test_an_installation_moves_and_is_compared(home, tmp_path):
    target = f"sqlite:///{tmp_path / 'target.db'}"

    done = run("--to", target, "--json", folder=home)

    rows = {row["table"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert (rows["sites"]["rows"], rows["sites"]["moved"]) == (1, "equal")
    assert {row["moved"] for row in rows.values()} == {"equal"}


def test_an_address_that_is_none_is_refused_without_repeating_it(home):
    with pytest.raises(StartError, match="--to") as refused:
        run("--to", "mysql://user:hunter2@db/x", folder=home)

    assert "hunter2" not in str(refused.value)
