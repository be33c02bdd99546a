"""What people install: one package, which judges from any folder and takes no other's name."""

import json
import os
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("service", "models", "training")
_TIMEOUT_SECONDS = 120


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return a folder with the wheel beside packages of other people that bear our rooms' names."""
    folder = tmp_path_factory.mktemp("installed")
    _pip("install", "--target", str(folder), str(wheel))
    for room in ROOMS:
        (folder / room).mkdir()
        (folder / room / "__init__.py").write_text(f"raise ImportError('{room} is not ours')\n")
    return folder


def _pip(command, *arguments):
    subprocess.run(
        [sys.executable, "-m", "pip", command, "-q", "--no-deps", "--no-index", *arguments],
        check=True,
        timeout=_TIMEOUT_SECONDS,
    )


def _environment(installed, home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SLOPSIEVE_")}
    return {**kept, "PYTHONPATH": str(installed), "HOME": str(home), "XDG_DATA_HOME": ""}


def _run(installed, home, program, *words):
    """Run a program with what is installed, from a folder that holds nothing else."""
    return subprocess.run(
        [str(program), *words],
        cwd=home,
        env=_environment(installed, home),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )


def test_the_wheel_puts_one_name_into_the_world(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
        (info,) = names - {"slopsieve"}
        told = message_from_string(archive.read(f"{info}/METADATA").decode())
        top_level = archive.read(f"{info}/top_level.txt").decode().split()
        commands = archive.read(f"{info}/entry_points.txt").decode().split("\n")

    assert top_level == ["slopsieve"]
    assert "slopsieve = slopsieve.service.cli:main" in commands
    assert set(told.get_all("Provides-Extra")) >= {"postgres", "train"}


def test_the_wheel_carries_what_the_tree_reads_beside_its_code(wheel):
    wanted = {
        path.relative_to(ROOT).as_posix()
        for folder in (
            "service/web/templates",
            "service/web/static",
            "service/web/plugins/wordpress",
        )
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    wanted |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob("data/*.jsonl")}
    wanted |= {"service/web/languages/de.po", "service/commands/slopsieve.service"}

    with zipfile.ZipFile(wheel) as archive:
        carried = {name.removeprefix("slopsieve/") for name in archive.namelist()}

    assert wanted <= carried


def test_what_is_installed_judges_from_any_folder(installed, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = installed / "bin" / "slopsieve"
    with subprocess.Popen(
        [str(program), "up", "--port", "0", "--json"],
        cwd=elsewhere,
        env=_environment(installed, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as up:
        try:
            assert up.stdout is not None
            told = json.loads(up.stdout.readline())
            shown = _run(installed, tmp_path, program, "demo", "--count", "2", "--url", told["url"])
            sites = _run(installed, tmp_path, program, "sites", "list", "--json")
        finally:
            up.terminate()
            up.wait(_TIMEOUT_SECONDS)

    assert told["data_dir"] == str(tmp_path / ".local/share/slopsieve")
    assert "2 comments judged" in shown.stdout, shown.stderr
    assert '"demo"' in sites.stdout
    assert list(elsewhere.iterdir()) == []


def test_a_retraining_names_the_command_that_installs_what_it_lacks(installed, tmp_path):
    script = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "from slopsieve.service.training_runs import TrainingProcesses\n"
        "import pathlib\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "print(TrainingProcesses(folder, folder).refuse())\n"
    )
    ended = _run(installed, tmp_path, sys.executable, "-P", "-c", script, str(tmp_path))

    assert "(sklearn)" in ended.stdout, ended.stderr
    assert f"{sys.executable} -m pip install 'slopsieve[retrain]'" in ended.stdout
