"""The commands for sites, lists, the data folder and its upkeep, as an operator types them."""

import json
import sys
from configparser import RawConfigParser
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from service.cli import cli, main
from service.commands.output import print_rows
from service.moderation.accounts import authenticate_user
from service.moderation.sites import add_site, authenticate_akismet, authenticate_site
from service.settings import load_settings
from service.start_error import ExitCode
from service.supervisor.supervise import _STOP_SECONDS
from service.wiring import open_services
from tests.commands import run_command, run_python
from tests.servers import free_port, running_valkey


def test_a_list_never_shows_a_secret_and_a_revoked_key_is_invalid_at_once(run):
    (added,) = run("sites", "add", "Garden", "--json")
    (new,) = run("sites", "rotate-key", "Garden", "--overlap-days", "2", "--json")

    listed = run("sites", "list") + run("sites", "keys", "Garden")
    during = {row["key_id"]: row["valid"] for row in run("sites", "keys", "Garden", "--json")}
    run("sites", "revoke-key", added["key_id"])
    after = {row["key_id"]: row["valid"] for row in run("sites", "keys", "Garden", "--json")}

    assert "Garden" in listed
    assert added["key_id"] in listed
    assert added["key"] not in listed
    assert during == {added["key_id"]: True, new["key_id"]: True}
    assert after == {added["key_id"]: False, new["key_id"]: True}


def test_what_two_word_clients_are_told_is_a_setting(run):
    run("sites", "add", "Garden")
    change = ("sites", "set", "Garden", "--json")
    there = ("--passes-unsure", "--reports-decide", "--rejects-campaigns")
    back = ("--holds-unsure", "--reports-ask", "--asks-about-campaigns")
    blog = "https://garden.example/"

    settings = [
        [row[name] for name in ("holds_unsure", "reports_decide", "rejects_campaigns", "blog")]
        for words in ([*there, "--blog", f" {blog} "], ["--mode", "enforce"], back)
        for row in run(*change, *words)
    ]

    changed = [False, True, True, blog]
    assert settings == [changed, changed, [True, False, False, blog]]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["sites", "keys", "Nowhere"], 1, "there is no site 'Nowhere'"),
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


def test_help_waits_for_no_package_that_it_does_not_need():
    left_out = {"sqlalchemy", "flask", "celery", "redis", "openvino", "numpy"}
    shown = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    words = ["sites", "--help"]
    script = f"from service.cli import cli; cli.main({words}, standalone_mode=False); {shown}"

    done = run_python("-c", script, check=True)

    assert "Commands:" in done.stdout
    assert left_out & set(json.loads(done.stdout.splitlines()[-1])) == set()


def test_every_command_that_help_lists_is_there():
    context = click.Context(cli)

    assert len(cli.list_commands(context)) > 20
    assert all(cli.get_command(context, name) for name in cli.list_commands(context))


def test_entries_are_added_listed_and_removed(run):
    (site,) = run("sites", "add", "Garden", "--json")
    words = ("lists", "add", "block", "domain", "pills-direct.shop", "--reason", "Sells pills")
    (here,) = run(*words, "--site", "Garden", "--days", "7", "--json")
    (everywhere,) = run(*words, "--json")

    listed = run("lists", "list", "--json")
    said = run("lists", "remove", here["entry_id"])

    assert [row["entry_id"] for row in listed] == [everywhere["entry_id"], here["entry_id"]]
    assert (here["site_id"], everywhere["site_id"]) == (site["site_id"], "all")
    assert here["expires_at"]
    assert everywhere["expires_at"] is None
    assert "is removed" in said
    (left,) = run("lists", "list", "--json")
    (ended,) = run("lists", "list", "--ended", "--json")
    assert (left["entry_id"], ended["entry_id"]) == (everywhere["entry_id"], here["entry_id"])


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with no data folder named."""
    monkeypatch.delenv("SLOPSIEVE_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        *(
            (words, ExitCode.DATA_FOLDER)
            for words in (
                "sites add Garden",
                "export --site Garden",
                "backup garden.tar",
                "move --to sqlite:///garden.db",
                "reputation lists",
                "migrate",
            )
        ),
        ("restart", ExitCode.FAILED),
        ("first-run", ExitCode.FAILED),
    ],
)
def test_what_needs_an_installation_names_the_folder_and_makes_none(elsewhere, words, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.split())

    assert ended.value.code == code
    assert str(elsewhere / "var") in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("outside", [False, True])
def test_what_needs_a_running_slopsieve_says_so(tmp_path, monkeypatch, capsys, outside):
    if outside:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", f"redis://127.0.0.1:{free_port()}/0")

    with pytest.raises(SystemExit) as ended:
        main(["erase", "--name", "Mara", "--yes", "--data-dir", str(tmp_path)])

    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert (f"nothing runs on the data folder {tmp_path}: start it" in told) is not outside
    assert ("SLOPSIEVE_VALKEY_URL" in told) is outside


def test_the_folder_under_where_one_stands_is_named_when_it_is_used(elsewhere):
    with open_services(data_dir=str(elsewhere / "var")):
        pass

    done = run_command("sites", "add", "Garden", "--json")

    assert done.stderr == f"Data folder: {elsewhere / 'var'}\n"
    assert json.loads(done.stdout)["name"] == "Garden"


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_named_folder_is_begun_once_and_that_is_said(elsewhere, how):
    folder = str(elsewhere / "named")
    words = ["--data-dir", folder] if how == "option" else []
    env = {"SLOPSIEVE_DATA_DIR": folder} if how == "environment" else {}

    first, second = (run_command("sites", "list", *words, env=env).stderr for _ in range(2))

    assert first == f"A new installation is begun in the data folder {folder}.\n"
    assert second == ""


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    with open_services(data_dir=str(folder)) as services:
        add_site("Kettle blog", services, actor="test")
    return folder


def test_the_demo_makes_nothing_where_nothing_answers(home):
    done = run_command("demo", "--data-dir", home, env={"SLOPSIEVE_PORT": str(free_port())}, code=1)

    assert "SLOPSIEVE_PORT" in done.output
    sites = run_command("sites", "list", "--json", "--data-dir", home).stdout
    assert [json.loads(line)["name"] for line in sites.splitlines()] == ["Kettle blog"]


def examine(folder, *options: str, **environment: str):
    """Return the exit code and what was checked, by state."""
    done = run_command("doctor", "--json", "--data-dir", folder, *options, env=environment)
    found: dict[str, set[str]] = {"ok": set(), "warn": set(), "fail": set()}
    for row in map(json.loads, done.output.splitlines()):
        found[row["state"]].add(row["check"])
        assert bool(row["remedy"]) == (row["state"] != "ok")
    return done.exit_code, found


def test_without_workers_everything_else_is_well(home, tmp_path):
    with running_valkey(tmp_path) as server:
        code, found = examine(home, SLOPSIEVE_VALKEY_URL=server.url)

    assert code == 1
    assert (found["fail"], found["warn"]) == ({"workers"}, {"backup", "background"})
    assert len(found["ok"]) > 13


@pytest.mark.parametrize("url", [{}, {"SLOPSIEVE_DATABASE_URL": "sqlite:///{}/one.db"}])
def test_an_empty_folder_is_told_and_left_as_it_was(tmp_path, url):
    given = {name: value.format(tmp_path) for name, value in url.items()}
    code, found = examine(tmp_path / "nothing", **given)

    assert code == 1
    assert "data folder" in found["fail"]
    assert list(tmp_path.iterdir()) == []


def test_a_lost_key_is_told_and_not_replaced(home):
    (home / "secret.key").unlink()

    assert "settings" in examine(home)[1]["fail"]
    assert not (home / "secret.key").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("SLOPSIEVE_BATCH_SIZE=9", True),
        ("export SLOPSIEVE_BATCH_SIZE=9", True),
        ("SLOPSIEVE_DATA_DIR=exported", False),
        ("#SLOPSIEVE_PORT=80", False),
        ("PORT=80", False),
    ],
)
def test_a_dot_env_file_is_not_read_and_that_is_said(elsewhere, monkeypatch, line, told):
    (elsewhere / ".env").write_text(f"{line}\n")
    # Nothing starts in a file.
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(elsewhere / ".env"))

    for command in ("up", "doctor"):
        said = CliRunner().invoke(cli, [command]).output
        assert ("`.env` is not read" in said) is told


@pytest.fixture
def unit(monkeypatch):
    """Return the unit by section and name; of a name that comes twice, the last line."""
    monkeypatch.setattr("sys.executable", "/opt/slopsieve/bin/python3")
    unit = RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(run_command("systemd").stdout)
    return unit


def test_the_unit_runs_this_very_program_and_agrees_with_it(unit, monkeypatch):
    service = unit["Service"]
    assert service["ExecStart"] == "/opt/slopsieve/bin/slopsieve up"
    assert (service["NoNewPrivileges"], service["CapabilityBoundingSet"]) == ("yes", "")
    assert (service["ProtectSystem"], service["StateDirectoryMode"]) == ("strict", "0700")
    name, _, folder = service["Environment"].partition("=")
    monkeypatch.setenv(name, folder.replace("%S", "/var/lib"))
    assert load_settings().data_dir == Path("/var/lib/slopsieve")
    # What cannot heal is not started again and again.
    codes = service["RestartPreventExitStatus"].split()
    assert {ExitCode(int(code)) for code in codes} == {
        ExitCode.SETTINGS,
        ExitCode.DATA_FOLDER,
        ExitCode.DATABASE,
        ExitCode.PACKAGE,
    }
    # Every part has the time that it needs to stop.
    needed = max(_STOP_SECONDS.values()) + _STOP_SECONDS["valkey"]
    assert int(service["TimeoutStopSec"]) > needed


def test_a_missing_package_stops_the_start_and_is_named_with_the_command_that_installs_it(tmp_path):
    script = "import sys; sys.modules['waitress'] = None; from service.cli import main; main()"

    done = run_python("-c", script, "up", "--port", "0", "--data-dir", str(tmp_path))

    assert done.returncode == ExitCode.PACKAGE
    assert "needs the package waitress" in done.stderr
    assert "run `make install`" in done.stderr


@pytest.mark.parametrize("home", ["/root/.local/pipx/venvs/slopsieve", "/home/ada/venv"])
def test_a_program_that_the_unit_could_not_read_is_refused_with_a_remedy(monkeypatch, home):
    monkeypatch.setattr("sys.executable", f"{home}/bin/python3")

    done = CliRunner().invoke(cli, ["systemd"])

    assert done.exit_code == 1
    assert f"{home}/bin/slopsieve" in done.stderr
    assert "python3 -m venv /opt/slopsieve" in done.stderr
    assert done.stdout == ""


SHOWN_ONCE = [
    ["sites", "add", "Garden", "--akismet"],
    ["sites", "add-key", "Garden"],
    ["sites", "add-akismet-key", "Garden"],
    ["users", "add", "mara"],
    ["users", "reset", "mara"],
    ["hooks", "add", "Garden", "static-form"],
    ["callbacks", "set", "Garden", "https://blog.example/told"],
    ["callbacks", "rotate", "Garden"],
    ["hooks", "list"],
]


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_what_is_shown_once_is_whole_in_any_terminal(tmp_path, monkeypatch, capsys, width):
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for words in SHOWN_ONCE:
        cli.main(words, standalone_mode=False)
    printed = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]

    def named(name):
        return [value.strip() for found, _, value in printed if found == name]

    with open_services(data_dir=str(tmp_path)) as services:
        for key in named("key"):
            authenticate_site(key, services)
        for key in named("akismet key"):
            authenticate_akismet(key, services)
        authenticate_user("mara", named("password")[-1], services)
        (garden,) = services.sites.all()
        endpoint = services.endpoints.get(garden.id)
    assert (len(named("key")), len(named("akismet key"))) == (2, 2)
    assert set(named("secret")) == set(endpoint.secrets)
    # When it is added, and in the list of hooks.
    (script,) = set(named("script"))
    assert script.startswith("<script ")
    assert script.endswith("</noscript>")


def test_nothing_that_was_written_elsewhere_steers_the_terminal(capsys):
    print_rows([{"reason": "a\x1b[2Jb\r\nc\u202ed"}])

    assert capsys.readouterr().out == "reason: a\ufffd[2Jb c\ufffdd\n"
