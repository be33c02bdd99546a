"""The command `slopsieve retrain`, over a training program that takes no time."""

from __future__ import annotations

import json

import pytest

from models.registry import read_current_name
from service.domain.decision import Ruling
from service.domain.retraining import RetrainingState, report_to
from service.moderation.decisions import decide_comment
from service.settings import Settings
from service.training_runs import versions_folder
from service.wiring import open_services
from tests.fakes import make_site
from tests.functional.commands import run_command
from tests.functional.moderators import keep
from tests.runs import REPORT, processes


@pytest.fixture
def told(tmp_path, monkeypatch):
    folder = tmp_path / "told"
    folder.mkdir()
    monkeypatch.setenv("FAKE_TRAINING", str(folder))
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(tmp_path))
    (folder / "report.json").write_text(json.dumps(report_to(REPORT)))
    with open_services() as services:
        services.sites.add(make_site())
        for _ in range(3):
            comment = keep(services)
            decide_comment(comment.id, Ruling.REJECT, services, decided_by="Ola")
    return folder


@pytest.fixture
def run(tmp_path, told):
    return lambda *words: (
        run_command("retrain", *words, code=0, obj=lambda _: processes(tmp_path)).output
    )


def kept():
    with open_services() as services:
        return services.retrainings.recent(limit=9)


def test_a_candidate_is_trained_and_waits(run, tmp_path):
    said = run("--wait")

    [done] = kept()
    assert (done.state, done.decisions, done.waits) == (RetrainingState.ENDED, 3, True)
    assert "passed  core: ham lost: 9 of 9,126, as before" in said
    assert "set aside: 1; contradictory: 1" in said
    assert "slopsieve models promote candidate" in said
    assert "kept for 30 days" in said
    assert read_current_name(versions_folder(Settings())) == read_current_name()


def test_a_promoted_candidate_serves_and_rollback_brings_the_shipped_version_back(run):
    said = run("--promote")

    promoted = read_current_name(versions_folder(Settings()))
    run_command("models", "rollback", code=0)
    assert "candidate serves now" in said
    assert promoted == "candidate"
    assert read_current_name(versions_folder(Settings())) == read_current_name()
