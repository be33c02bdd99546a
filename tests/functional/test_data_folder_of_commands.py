"""Which installation a command works on, and that none is begun by accident."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from service.cli import cli, main
from service.start_error import ExitCode, StartError
from service.wiring import open_services


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with no data folder named."""
    monkeypatch.delenv("SLOPSIEVE_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["sites", "add", "Garden"],
        ["sites", "list"],
        ["users", "add", "ada"],
        ["hooks", "list"],
        ["export", "--site", "Garden"],
        ["backup", "garden.tar"],
        ["move", "--to", "sqlite:///garden.db"],
        ["reputation", "lists"],
        ["reputation", "remove", "garden"],
    ],
)
def test_no_installation_is_begun_where_somebody_happens_to_stand(elsewhere, words):
    done = CliRunner().invoke(cli, words)

    assert isinstance(done.exception, StartError)
    assert done.exception.exit_code is ExitCode.DATA_FOLDER
    assert str(elsewhere / "var") in str(done.exception)
    assert "slop_" not in done.output
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("migrate", ExitCode.DATA_FOLDER),
        ("audit", ExitCode.DATA_FOLDER),
        ("restart", ExitCode.FAILED),
        ("first-run", ExitCode.FAILED),
    ],
)
def test_what_needs_an_installation_names_the_folder_and_makes_none(elsewhere, word, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main([word])

    assert ended.value.code == code
    assert str(elsewhere / "var") in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []


def test_the_folder_under_where_one_stands_is_named_when_it_is_used(elsewhere):
    with open_services(data_dir=str(elsewhere / "var")):
        pass

    done = CliRunner().invoke(cli, ["sites", "add", "Garden", "--json"])

    assert done.stderr == f"Data folder: {elsewhere / 'var'}\n"
    assert json.loads(done.stdout)["name"] == "Garden"


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_named_folder_is_begun_once_and_that_is_said(elsewhere, monkeypatch, how):
    folder = elsewhere / "named"
    words = ["--data-dir", str(folder)] if how == "option" else []
    if how == "environment":
        monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(folder))

    first = CliRunner().invoke(cli, ["sites", "list", *words])
    second = CliRunner().invoke(cli, ["sites", "list", *words])

    assert first.stderr == f"A new installation is begun in the data folder {folder}.\n"
    assert second.stderr == ""
