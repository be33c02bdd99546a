"""One command, from decisions to a candidate with a report; cut off anywhere it ends the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from models.inputs import ModelInput
from models.registry import list_versions, load_version, read_current_name
from models.transformer import (
    MARKS_FILE,
    NAMES_FILE,
)
from tests.benchmarks.retrain_data import draw, read_rows, write_decisions
from tests.tiny_version import TINY, TINY_DATA
from training.data.dataset import DEFAULT_DATA
from training.retrain import main
from training.retraining.config import STEPS
from training.retraining.run_folder import RunFolder
from training.retraining.watch import OUT_OF_MEMORY, STOPPED

# What says when a run was, and how long it took; all else must be the same to the bit.
WITH_TIMES = {"card.json", "card.md", "manifest.json"}
ROOT = Path(__file__).parents[3]


class CutOffError(Exception):
    """Raised in place of a power cut."""


@pytest.fixture(autouse=True, scope="module")
def threads_as_before():
    """Leave torch and the process as this file found them."""
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "nice", lambda _: 0)
        yield
    torch.use_deterministic_algorithms(mode=False)
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def decisions(tmp_path_factory) -> Path:
    """Return a file with 36 decisions on comments that the base corpora of these tests lack."""
    path = tmp_path_factory.mktemp("decisions") / "decisions.jsonl"
    rows = read_rows(DEFAULT_DATA / "authored-t6.jsonl")
    spam = draw([r for r in rows if r["label"] == "spam"], "spam")[:24]
    ham = draw([r for r in rows if r["label"] == "ham"], "ham")[:12]
    write_decisions(draw(spam + ham, "order"), path)
    return path


def arguments(run: Path, versions: Path, decisions: Path, *more: str) -> list[str]:
    data = [str(path) for path in TINY_DATA]
    return [
        *("--decisions", str(decisions), "--run", str(run), "--versions", str(versions)),
        *("--no-own-data", "--data", *data, *more),
    ]


def copy_versions(tiny_versions, folder: Path) -> Path:
    shutil.copytree(tiny_versions, folder / "versions")
    return folder / "versions"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, tiny_versions, decisions) -> Path:
    """Return the folder of a run that nothing cut off, with its versions beside it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    versions = copy_versions(tiny_versions, folder)
    assert main(arguments(folder / "run", versions, decisions), TINY) == 0
    return folder


@pytest.fixture(scope="module")
def report(undisturbed) -> dict:
    return json.loads((undisturbed / "run" / "report.json").read_bytes())


def start_process(asked: list[str]) -> subprocess.Popen[bytes]:
    """Start the command, with the settings of these tests, as a process of its own."""
    code = (
        "import sys; from tests.tiny_version import TINY; from training.retrain import main; "
        "sys.exit(main(sys.argv[1:], TINY))"
    )
    command = [sys.executable, "-c", code, *asked]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


def candidate_bytes(folder: Path) -> dict[str, bytes]:
    """Return the candidate's files that must not differ."""
    name = json.loads((folder / "run" / "report.json").read_bytes())["version"]
    files = (folder / "versions" / name).iterdir()
    return {path.name: path.read_bytes() for path in files if path.name not in WITH_TIMES}


def test_the_candidate_loads_answers_and_is_not_promoted(undisturbed, report):
    candidate = load_version(undisturbed / "versions" / report["version"])

    (answer,) = candidate.classifier.score_batch([ModelInput(text="thanks, that helped")])

    assert 0.0 < answer.p_spam < 1.0
    assert answer.embedding is not None
    assert read_current_name(undisturbed / "versions") == "tiny"


def test_the_candidate_has_learnt_something_else(undisturbed, report, tiny_versions):
    written = (undisturbed / "versions" / report["version"] / "network.bin").read_bytes()

    assert written != (tiny_versions / "tiny" / "network.bin").read_bytes()


@pytest.mark.parametrize("file", [NAMES_FILE, MARKS_FILE])
def test_a_table_beside_the_linear_member_stays_the_current_version_s(
    undisturbed, report, tiny_versions, file
):
    candidate = undisturbed / "versions" / report["version"]

    assert (candidate / file).read_bytes() == (tiny_versions / "tiny" / file).read_bytes()


def test_the_report_says_what_was_learnt_checked_and_taken(report):
    training_examples = report["lessons"]

    assert report["recommendation"] in ("promote", "refuse")
    assert report["current"] == "tiny"
    assert training_examples["used"] == training_examples["spam"] + training_examples["ham"]
    assert (
        training_examples["used"]
        + training_examples["held"]
        + sum(training_examples["set_aside"].values())
        == 36
    )
    assert {"core", "held", "learnt"} <= {check["part"] for check in report["checks"]}
    assert "trigger phrases" in {check["name"] for check in report["checks"]}
    assert set(report["seconds_by_step"]) >= set(STEPS) - {"report"}
    assert report["peak_memory_mb"] > 100


def test_the_page_lists_newly_lost_ham_with_its_text_as_code(undisturbed, report):
    page = (undisturbed / "run" / "report.md").read_text("utf-8")

    assert page.startswith(f"# {report['version']}\n")
    assert "## All checks" in page
    for lost in report["newly_lost"]:
        assert f"`{lost}`\n\n    " in page


def test_the_card_says_where_the_candidate_comes_from(undisturbed, report):
    folder = undisturbed / "versions" / report["version"]
    card = json.loads((folder / "card.json").read_bytes())
    page = (folder / "card.md").read_text("utf-8")
    retrained = card["retrained"]

    assert card["version"] == report["version"]
    assert (retrained["from"], retrained["start"]) == ("tiny", "current")
    assert set(retrained["data"]) >= {"authored-t1.jsonl", "decisions.jsonl"}
    assert retrained["environment"].keys() >= {"python", "torch", "openvino", "cores"}
    assert retrained["code"]
    assert retrained["seed"] == TINY.seed
    assert page.count("## Retrained from") == 1
    assert page.startswith(f"# {report['version']}\n")


def test_what_was_set_aside_is_listed_by_id_and_reason(undisturbed, report):
    lines = (undisturbed / "run" / "set-aside.jsonl").read_text("utf-8").splitlines()

    rows = [json.loads(line) for line in lines]

    assert len(rows) == sum(report["lessons"]["set_aside"].values())
    assert all(set(row) == {"id", "reason"} for row in rows)


def test_progress_ends_at_the_end(undisturbed):
    told = json.loads((undisturbed / "run" / "run.json").read_bytes())

    assert (told["state"], told["share_done"], told["problem"]) == ("ended", 1.0, None)
    assert [(s["name"], s["state"]) for s in told["steps"]] == [(name, "done") for name in STEPS]


def test_an_ended_run_is_not_run_again(undisturbed, decisions, capsys):
    before = list_versions(undisturbed / "versions")

    code = main(arguments(undisturbed / "run", undisturbed / "versions", decisions), TINY)

    assert code == 0
    assert "this run ended" in capsys.readouterr().out
    assert list_versions(undisturbed / "versions") == before


def test_other_inputs_are_refused_by_name(undisturbed, decisions, tmp_path, capsys):
    other = tmp_path / "decisions.jsonl"
    other.write_bytes(b"".join(decisions.read_bytes().splitlines(keepends=True)[:-1]))

    code = main(
        arguments(undisturbed / "run", undisturbed / "versions", other, "--threads", "2"), TINY
    )

    said = capsys.readouterr().err.splitlines()
    assert code == 1
    assert "begun with other inputs (--decisions, --threads)" in said[-1]


def test_cut_off_before_a_file_is_written_it_ends_with_the_same_candidate(
    undisturbed, tiny_versions, decisions, tmp_path, monkeypatch
):
    versions = copy_versions(tiny_versions, tmp_path)
    write = RunFolder.write
    # Amid the cleaning, the export, the weighing, and between the version and its report.
    ahead = ["cleaned.json", "candidate/network.bin", "candidate/calibration.json", "report.md"]

    def cut_off_once_each(self, name, content):
        if ahead and name == ahead[0]:
            raise CutOffError(ahead.pop(0))
        write(self, name, content)

    monkeypatch.setattr(RunFolder, "write", cut_off_once_each)
    for _ in range(4):
        with pytest.raises(CutOffError):
            main(arguments(tmp_path / "run", versions, decisions), TINY)
    code = main(arguments(tmp_path / "run", versions, decisions), TINY)

    assert code == 0
    assert ahead == []
    assert candidate_bytes(tmp_path) == candidate_bytes(undisturbed)
    assert len(list_versions(versions)) == 2


def test_killed_again_and_again_it_ends_with_the_same_candidate(
    undisturbed, tiny_versions, decisions, tmp_path
):
    versions = copy_versions(tiny_versions, tmp_path)
    run = tmp_path / "run"

    def start() -> subprocess.Popen[bytes]:
        return start_process(arguments(run, versions, decisions))

    for reached, how, code in (
        ("steps/clean.json", signal.SIGTERM, STOPPED),
        ("checkpoint.pt", signal.SIGKILL, -signal.SIGKILL),
    ):
        process = start()
        while not (run / reached).exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(how)
        process.communicate()
        assert process.returncode == code
    process = start()
    process.communicate()

    assert process.returncode == 0

    assert candidate_bytes(tmp_path) == candidate_bytes(undisturbed)


def test_before_it_takes_more_memory_than_it_may_it_ends_with_two(
    tiny_versions, decisions, tmp_path
):
    process = start_process(
        arguments(tmp_path / "run", tiny_versions, decisions, "--memory-mb", "100")
    )

    _, said = process.communicate()

    told = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert process.returncode == OUT_OF_MEMORY
    assert b"raise --memory-mb" in said
    assert told["state"] == "failed"
    assert "raise --memory-mb" in told["problem"]


def test_from_the_base_a_candidate_is_trained_with_the_decisions_among_the_rest(
    tiny_versions, decisions, tmp_path
):
    versions = copy_versions(tiny_versions, tmp_path)

    code = main(arguments(tmp_path / "run", versions, decisions, "--start", "base"), TINY)

    report = json.loads((tmp_path / "run" / "report.json").read_bytes())
    card = json.loads((versions / report["version"] / "card.json").read_bytes())
    assert code == 0
    assert card["retrained"]["start"] == "base"
    candidate = load_version(versions / report["version"])
    (answer,) = candidate.classifier.score_batch([ModelInput(text="thanks", author_name="Jo")])
    assert 0.0 < answer.p_spam < 1.0
    assert list_versions(versions) == [report["version"], "tiny"]


def test_a_dry_run_says_what_would_be_learnt_and_trains_nothing(tiny_versions, decisions, tmp_path):
    code = main(arguments(tmp_path / "run", tiny_versions, decisions, "--dry-run"), TINY)

    report = json.loads((tmp_path / "run" / "report.json").read_bytes())
    assert code == 0
    assert (report["recommendation"], report["version"]) == (None, None)
    assert report["lessons"]["used"] > 10
    assert report["planned_seconds"] > 0
    assert report["planned_memory_mb"] > 100
    assert not (tmp_path / "run" / "checkpoint.pt").exists()
    assert list_versions(tiny_versions) == ["tiny"]


def test_too_few_decisions_are_nothing_to_learn(tiny_versions, decisions, tmp_path):
    few = tmp_path / "few.jsonl"
    few.write_bytes(b"".join(decisions.read_bytes().splitlines(keepends=True)[:5]))

    code = main(arguments(tmp_path / "run", tiny_versions, few), TINY)

    report = json.loads((tmp_path / "run" / "report.json").read_bytes())
    assert code == 0
    assert (report["recommendation"], report["version"]) == ("nothing to learn", None)


def test_wrong_decisions_are_refused_by_line_and_told_in_the_run(tiny_versions, tmp_path, capsys):
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"id": "a", "text": "x", "label": "spam"}\n', "utf-8")

    code = main(arguments(tmp_path / "run", tiny_versions, wrong), TINY)

    told = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert code == 1
    assert "wrong.jsonl:1" in capsys.readouterr().err
    assert told["state"] == "failed"
    assert told["problem"]


def test_no_data_to_keep_what_was_learnt_is_refused(tiny_versions, decisions, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(
            [
                *("--decisions", str(decisions), "--run", str(tmp_path)),
                *("--versions", str(tiny_versions), "--no-own-data"),
            ]
        )

    assert "name files with --data" in capsys.readouterr().err
