"""A real background process retrains when asked, and goes on after it was stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.domain.decision import Ruling
from service.domain.retraining import Retraining, RetrainingOptions, RetrainingState, report_to
from service.moderation.decisions import decide_comment
from service.moderation.retraining import ask_retraining
from tests.integration.installation import until
from tests.runs import REPORT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def told(tmp_path, monkeypatch):
    folder = tmp_path / "told"
    folder.mkdir()
    monkeypatch.setenv("FAKE_TRAINING", str(folder))
    (folder / "report.json").write_text(json.dumps(report_to(REPORT)))
    return folder


@contextmanager
def trainer(installation):
    """Run a background process that retrains until the block ends; give its process."""
    environment = os.environ | {
        "SLOPSIEVE_DATA_DIR": str(installation.folder),
        "SLOPSIEVE_VALKEY_URL": installation.valkey_url,
        "SLOPSIEVE_RETRAIN_EVERY_DAYS": "30",
    }
    with (installation.folder / "trainer.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.odd_background"],
            cwd=ROOT,
            env=environment,
            stderr=output,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_a_trainer_retrains_when_asked_and_goes_on_after_it_was_stopped(install, told):
    installation = install()
    services = installation.services
    [comment_id] = installation.submit(["Cheap boilers at https://boilers.example"])
    decide_comment(comment_id, Ruling.REJECT, services, decided_by="Ola")
    (told / "waits").touch()
    # Nothing is due: what begins is what was asked for.
    options = RetrainingOptions()
    lately = Retraining(
        id="rtr_1",
        asked_by="Ola",
        asked_at=services.clock(),
        options=options,
        state=RetrainingState.ENDED,
    )
    services.retrainings.put(lately)

    with trainer(installation) as first:
        until(services.trainer_queue.is_heard)
        asked = ask_retraining(services, by="Olive", options=options)
        until(lambda: services.retrainings.get(asked.id).step == "fit", seconds=90)
        alive_while_training = services.trainer_queue.is_heard()
        first.send_signal(signal.SIGTERM)
        code = first.wait(30)
    stopped = services.retrainings.get(asked.id)
    (told / "waits").unlink()
    with trainer(installation):
        until(lambda: services.retrainings.get(asked.id).state is RetrainingState.ENDED, seconds=90)

    ended = services.retrainings.get(asked.id)
    assert (code, alive_while_training) == (0, True)
    assert stopped.state is RetrainingState.STOPPED
    assert (ended.asked_by, ended.decisions, ended.waits) == ("Olive", 1, True)
    assert ended.version == REPORT.version
