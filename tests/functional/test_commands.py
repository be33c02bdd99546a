"""The commands for sites, moderators and the audit log, as an operator types them."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from service.cli import cli, main
from tests.servers import free_port


def test_a_list_never_shows_a_secret(run):
    (added,) = run("sites", "add", "Garden", "--json")

    listed = run("sites", "list") + run("sites", "keys", "Garden")

    assert "Garden" in listed
    assert added["key_id"] in listed
    assert added["key"] not in listed


def test_what_two_word_clients_are_told_is_a_setting(run):
    run("sites", "add", "Garden")
    change = ("sites", "set", "Garden", "--json")
    there = ("--passes-unsure", "--reports-decide", "--rejects-campaigns")
    back = ("--holds-unsure", "--reports-ask", "--asks-about-campaigns")

    settings = [
        [row[name] for name in ("holds_unsure", "reports_decide", "rejects_campaigns", "blog")]
        for (row,) in (
            run("sites", "list", "--json"),
            run(*change, *there, "--blog", " https://garden.example/ "),
            run(*change, "--mode", "enforce"),
            run(*change, *back),
        )
    ]

    changed = [False, True, True, "https://garden.example/"]
    assert settings == [
        [True, False, False, None],
        changed,
        changed,
        [True, False, False, "https://garden.example/"],
    ]


def test_rotating_keeps_the_old_key_for_the_overlap_and_revoking_ends_it_at_once(run):
    (added,) = run("sites", "add", "Garden", "--json")
    (new,) = run("sites", "rotate-key", "Garden", "--overlap-days", "2", "--json")
    during = {row["key_id"]: row["valid"] for row in run("sites", "keys", "Garden", "--json")}

    run("sites", "revoke-key", added["key_id"])

    after = {row["key_id"]: row["valid"] for row in run("sites", "keys", "Garden", "--json")}
    assert during == {added["key_id"]: True, new["key_id"]: True}
    assert after == {added["key_id"]: False, new["key_id"]: True}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["sites", "keys", "Nowhere"], 1, "there is no site 'Nowhere'"),
        (["users", "reset", "nobody"], 1, "there is no moderator called 'nobody'"),
        (["sites", "add", ""], 2, "name: is empty"),
        (["sites", "set", "Nowhere", "--blog", "kettle"], 2, "--blog"),
        (["reputation", "forget"], 2, "nothing says who is to be forgotten"),
        (["reputation", "forget", "--address", "somewhere"], 2, "is not an IP address"),
        (["reputation", "rebuild"], 1, "check that it runs"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_what_went_wrong_is_said_in_one_clear_line(
    tmp_path, monkeypatch, capsys, words, code, said
):
    monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", f"redis://127.0.0.1:{free_port()}/0")
    where = [] if words == ["nonsense"] else ["--data-dir", str(tmp_path)]

    with pytest.raises(SystemExit) as ended:
        main([*words, *where])

    told = capsys.readouterr().err
    assert ended.value.code == code
    assert said in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        (
            ["--help"],
            {"sqlalchemy", "flask", "celery", "redis", "openvino", "numpy", "pydantic", "babel"},
        ),
        (["sites", "--help"], {"sqlalchemy", "flask", "celery", "redis", "openvino", "numpy"}),
    ],
)
def test_help_waits_for_no_package_that_it_does_not_need(words, left_out):
    shown = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    script = f"from service.cli import cli; cli.main({words!r}, standalone_mode=False); {shown}"

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert "Commands:" in done.stdout
    assert left_out & set(json.loads(done.stdout.splitlines()[-1])) == set()


def test_every_command_that_help_lists_is_there():
    listed = cli.list_commands(click.Context(cli))

    assert len(listed) > 20
    assert [name for name in listed if not cli.get_command(click.Context(cli), name)] == []
