"""The training program as a process, its folders, and the versions that it leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from models.errors import ModelVersionError
from models.registry import (
    SHIPPED_DIR,
    check_version,
    import_version,
    promote,
    read_current_fusion,
    read_current_name,
)
from service.domain.errors import ConflictError, TrainingFailedError, TrainingStoppedError
from service.domain.retraining import RetrainingOptions
from service.settings import Settings, own_versions_folder, versions_folder
from tests.commands import ROOT, command_of, until
from tests.runs import play_training, processes

DECISIONS = [{"id": f"c{number}", "label": "spam", "text": "\u2603 \ud800"} for number in range(3)]


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY", "a password")
    return play_training(tmp_path / "told", monkeypatch)


@pytest.fixture
def runs(tmp_path, told):
    return processes(tmp_path)


def train(runs, options=None, *, should_continue=lambda: True, told=lambda _step, _share: None):
    wanted = options or RetrainingOptions()
    return runs.train("rtr_1", wanted, dry_run=False, told=told, should_continue=should_continue)


def test_the_program_gets_what_it_needs_and_no_more(runs, told, tmp_path):
    runs.keep_decisions("rtr_1", DECISIONS)

    report = train(runs, options=RetrainingOptions(data=("/a", "/b")))

    [seen] = [json.loads(line) for line in (told / "started").read_text().splitlines()]
    assert (seen["nice"], seen["threads"], seen["mode"]) == (19, "1", "0o600")
    assert (seen["data"], seen["secrets"]) == (["/a", "/b"], [])
    assert (report.used, report.version) == (3, "candidate")
    # No CURRENT: the shipped version serves on, after an upgrade the next one.
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["candidate"]


def test_only_state_and_report_stay_of_a_run_that_ended(runs, told):
    runs.keep_decisions("rtr_1", DECISIONS)
    train(runs)

    before = runs.holds("rtr_1")
    runs.keep_report_alone("rtr_1")

    assert (before, runs.holds("rtr_1")) == (True, False)
    assert {path.name for path in runs.folder("rtr_1").iterdir()} == {
        ".ended",
        "report.json",
        "report.md",
        "run.json",
    }
    runs.drop_texts("rtr_1")
    assert not (runs.folder("rtr_1") / "report.md").exists()
    assert (runs.runs()[0].texts_since, runs.runs()[0].unfinished) == (None, False)


def test_progress_is_passed_on_and_a_stopped_run_goes_on_where_it_was(runs, told):
    runs.keep_decisions("rtr_1", DECISIONS)
    (told / "waits").touch()
    heard = []

    with pytest.raises(TrainingStoppedError):
        train(
            runs,
            told=lambda *one: heard.append(one),
            should_continue=lambda: "fit" not in dict(heard),
        )
    (told / "waits").unlink()
    report = train(runs)

    assert max(share for _, share in heard) == 0.5
    assert report.version == "candidate"
    assert len((told / "started").read_text().splitlines()) == 2
    assert list(runs.kept_labels("rtr_1")) == [("c0", "spam"), ("c1", "spam"), ("c2", "spam")]


@pytest.mark.parametrize(
    ("file", "says", "words"),
    [
        ("fails", "line 3: label: is missing; say spam or ham", "line 3: label: is missing"),
        ("exceeds", "", "more than the 4,000 MB"),
    ],
)
def test_a_program_that_fails_is_quoted_in_one_line(runs, told, file, says, words):
    runs.keep_decisions("rtr_1", DECISIONS)
    (told / file).write_text(says)

    with pytest.raises(TrainingFailedError, match=words):
        train(runs)


@pytest.mark.parametrize("report", ["", "[]", '{"recommendation": "perhaps"}'])
def test_a_report_that_cannot_be_read_is_a_failure(runs, told, tmp_path, report):
    program = tmp_path / "silent.py"
    program.write_text(f"import sys; open(sys.argv[4] + '/report.json', 'w').write({report!r})")
    silent = processes(tmp_path, program=(sys.executable, str(program)))
    silent.keep_decisions("rtr_1", DECISIONS)

    with pytest.raises(TrainingFailedError, match="report"):
        train(silent)


def test_one_process_on_this_machine_trains(runs, tmp_path):
    with runs.only_one(), pytest.raises(ConflictError, match=str(os.getpid())), runs.only_one():
        pass

    with runs.only_one():
        pass


def test_the_program_ends_with_whoever_started_it_even_by_sigkill(tmp_path, told):
    (told / "waits").touch()
    script = (
        "from pathlib import Path; import sys; from tests.runs import processes\n"
        "from service.domain.retraining import RetrainingOptions\n"
        "runs = processes(Path(sys.argv[1]))\n"
        "runs.keep_decisions('rtr_1', [{'id': 'c1'}])\n"
        "with runs.only_one():\n"
        "    runs.train('rtr_1', RetrainingOptions(), dry_run=False, told=lambda *_: None,"
        " should_continue=lambda: True)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT)
    until(lambda: (told / "started").exists() and (told / "started").read_text())
    [line] = (told / "started").read_text().splitlines()
    child = json.loads(line)["pid"]

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    until(lambda: not command_of(child))
    (told / "waits").unlink()
    again = processes(tmp_path)
    with again.only_one():
        assert train(again).version == "candidate"


def test_decisions_are_written_whole_or_not_at_all(runs):
    first = runs.keep_decisions("rtr_1", DECISIONS)

    def breaks():
        yield DECISIONS[0]
        raise OSError("the database went away")

    with pytest.raises(OSError, match="went away"):
        runs.keep_decisions("rtr_1", breaks())

    assert list(runs.kept_labels("rtr_1")) == [("c0", "spam"), ("c1", "spam"), ("c2", "spam")]
    assert runs.keep_decisions("rtr_2", DECISIONS) == first


@pytest.mark.parametrize("run_id", ["", "../x", ".lock", "a/b"])
def test_a_run_is_a_folder_here_and_nowhere_else(runs, run_id):
    with pytest.raises(ValueError, match="folder's name"):
        runs.folder(run_id)


SHIPPED = SHIPPED_DIR / read_current_name()


def test_the_shipped_versions_serve_until_a_folder_is_set_or_the_own_has_a_current_one(tmp_path):
    settings = Settings(data_dir=tmp_path)
    own = own_versions_folder(settings)
    elsewhere = Settings(data_dir=tmp_path, models_dir=tmp_path / "mine")

    before = versions_folder(settings)
    import_version(own, SHIPPED)
    while_none_is_current = versions_folder(settings)
    promote(own, SHIPPED.name, check=check_version)

    assert own == tmp_path / "models"
    assert (before, while_none_is_current) == (SHIPPED_DIR, SHIPPED_DIR)
    assert versions_folder(settings) == own
    assert versions_folder(elsewhere) == own_versions_folder(elsewhere) == tmp_path / "mine"


def test_a_version_imported_is_the_same_and_is_imported_once(tmp_path):
    first, second = import_version(tmp_path, SHIPPED), import_version(tmp_path, SHIPPED)

    assert (first, second) == (True, False)
    assert check_version(tmp_path / SHIPPED.name) == read_current_fusion()[1]
    assert [path.name for path in tmp_path.iterdir()] == [SHIPPED.name]


def test_a_damaged_version_is_neither_imported_nor_promoted(tmp_path):
    damaged = shutil.copytree(SHIPPED, tmp_path / "elsewhere" / "damaged")
    (damaged / "card.md").write_text("another card")

    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        import_version(tmp_path / "models", damaged)
    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        promote(damaged.parent, "damaged", check=check_version)

    assert not (tmp_path / "models").exists()
    assert not (damaged.parent / "CURRENT").exists()
