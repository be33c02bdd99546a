"""A worker like the real one, whose classifier misbehaves on command: by a word in a comment.

`poison` raises, `kill` ends the process as a crash in native code would; every batch takes the
seconds given as the first argument.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from models.inputs import ModelInput, ModelOutput
from service.logs import configure_logging
from service.ports.models import JudgingModel
from service.processes.worker import run_worker
from service.scoring.weights import Cutoffs, Weights
from service.settings import load_settings
from service.wiring import wire


class OddClassifier:
    """Answers 0.99 for texts with `spam`, else 0.01, after a while; see the words above."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """See `Classifier.score_batch`."""
        time.sleep(self._seconds)
        if any("kill" in given.text for given in inputs):
            os._exit(70)
        if any("poison" in given.text for given in inputs):
            msg = "a comment that nobody foresaw"
            raise RuntimeError(msg)
        return [ModelOutput(p_spam=0.99 if "spam" in given.text else 0.01) for given in inputs]


def main() -> None:
    """Run the worker."""
    configure_logging()
    wired = wire(load_settings())
    model = JudgingModel(
        version="odd-1",
        classifier=OddClassifier(float(sys.argv[1])),
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9),
    )
    services = replace(wired.services, current_model=lambda: model)
    sys.exit(run_worker(replace(wired, services=services)))


if __name__ == "__main__":
    main()
