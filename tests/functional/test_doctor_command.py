"""`slopsieve doctor` looks at everything, and fails if anything does."""

from __future__ import annotations

import json

import pytest

from service.moderation.sites import add_site
from service.wiring import open_services
from tests.functional.commands import run_command
from tests.servers import running_valkey


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    with open_services(data_dir=str(folder)) as services:
        add_site("Kettle blog", services, actor="test")
    return folder


def examine(folder, *options: str, **environment: str):
    """Return the exit code and the findings' states by check, the worst of each."""
    done = run_command("doctor", "--json", "--data-dir", folder, *options, env=environment)
    rows = [json.loads(line) for line in done.output.splitlines()]
    order = ("ok", "warn", "fail")
    found: dict[str, str] = {}
    for row in rows:
        worst = max(order.index(row["state"]), order.index(found.get(row["check"], "ok")))
        found[row["check"]] = order[worst]
        assert bool(row["remedy"]) == (row["state"] != "ok")
    return done.exit_code, found


def test_without_workers_everything_else_is_well(home, tmp_path):
    with running_valkey(tmp_path) as server:
        code, found = examine(home, SLOPSIEVE_VALKEY_URL=server.url)

    assert code == 1
    assert {check for check, state in found.items() if state == "fail"} == {"workers"}
    assert {check for check, state in found.items() if state == "warn"} == {"backup", "background"}
    assert len(found) > 16


@pytest.mark.parametrize("url", [{}, {"SLOPSIEVE_DATABASE_URL": "sqlite:///{}/one.db"}])
def test_an_empty_folder_is_told_and_left_as_it_was(tmp_path, url):
    given = {name: value.format(tmp_path) for name, value in url.items()}
    code, found = examine(tmp_path / "nothing", **given)

    assert code == 1
    assert found["data folder"] == "fail"
    assert list(tmp_path.iterdir()) == []


def test_a_lost_key_is_told_and_not_replaced(home):
    (home / "secret.key").unlink()

    assert examine(home)[1]["settings"] == "fail"
    assert not (home / "secret.key").exists()
