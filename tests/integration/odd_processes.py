"""Processes like the real ones that misbehave on command.

`worker SECONDS SIZE` takes so long for a batch of at most this size; `kill` in a comment ends the
process as a crash in native code would. `background` has a training program that learns nothing in
no time. `told-early PROCESS` is told to stop in the moment that it says it started.
"""

import importlib
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from models.inputs import ModelInput, ModelOutput
from service.logs import configure_logging
from service.processes.background import run_background
from service.processes.worker import run_worker
from service.settings import load_settings
from service.tasks import batcher
from service.wiring import Wired
from tests.fakes import make_model
from tests.runs import processes


class OddClassifier:
    """Answers 0.99 for texts with `spam`, else 0.01, after a while; see the words above."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        time.sleep(self._seconds)
        if any("kill" in given.text for given in inputs):
            os._exit(70)
        return [ModelOutput(p_spam=0.99 if "spam" in given.text else 0.01) for given in inputs]


def _tell(record: logging.LogRecord) -> bool:
    if record.getMessage().endswith("started"):
        os.kill(os.getpid(), signal.SIGTERM)
    return True


def main(kind: str, *given: str) -> None:
    if kind == "told-early":
        process = importlib.import_module(f"service.processes.{given[0]}")
        process.log.addFilter(_tell)
        process.main()
    configure_logging()
    wired = Wired(load_settings())
    if kind == "background":
        wired.runs = processes(wired.folder.path)
        run_background(wired)
        return
    model = make_model(OddClassifier(float(given[0])))
    wired.services = replace(wired.services, current_model=lambda: model)
    batcher.BATCH_SIZE = int(given[1])
    sys.exit(run_worker(wired))


if __name__ == "__main__":
    arguments, sys.argv[1:] = sys.argv[1:], []
    main(*arguments)
