"""Promotes one of two model versions after the other under load, and looks at every verdict.

    python -m tests.benchmarks.version_swaps --rate 50 --seconds 60 --every 5

Two versions of the shipped one whose calibration, base, weights and cutoffs differ, so that a
verdict that mixed them would show it. Comments come over HTTP at a steady rate and wait for their
verdicts. Afterwards every stored verdict is reached anew, by both versions, from its own evidence.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from models.inputs import ModelOutput
from models.registry import (
    FUSION_FILE,
    SHIPPED_DIR,
    Fusion,
    load_version,
    promote,
    read_current_name,
    write_version,
)
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.shadow_verdict import Origin, ShadowVerdict
from service.ports.models import JudgingModel
from service.scoring.inputs import model_input
from service.scoring.shadow_verdict import form_shadow_verdict
from service.wiring import open_services
from tests.benchmarks.judging_model import load_judging_model
from tests.benchmarks.own_service import data_dir, running
from tests.benchmarks.steady_comments import offering

_NAMES = ("first", "second")
_DOCUMENTS = ("manifest.json", FUSION_FILE)
_CALIBRATION = "calibration.json"
# Adds log-odds to whatever the second version's classifier says.
_OFFSET = 0.5
_BATCH = 64
# Sums in another order differ in the last digits; versions in the first.
_SAME = 1e-6


def make_versions(models_dir: Path) -> Mapping[str, Fusion]:
    """Write two versions, the first one current; return how each adds up."""
    shipped = SHIPPED_DIR / read_current_name()
    loaded = load_version(shipped)
    kind = json.loads((shipped / "manifest.json").read_text())["kind"]
    files = {p.name: p.read_bytes() for p in shipped.iterdir() if p.name not in _DOCUMENTS}
    calibration = json.loads(files[_CALIBRATION])
    fusions = {}
    for place, name in enumerate(_NAMES):
        fusions[name] = Fusion(
            base=loaded.base + place,
            model_weight=loaded.model_weight + 0.25 * place,
            signal_weights={n: w + 0.125 * place for n, w in loaded.signal_weights.items()},
            ham_cutoff=loaded.ham_cutoff + 0.01 * place,
            spam_cutoff=loaded.spam_cutoff - 0.01 * place,
            promises={},
        )
        moved = calibration | {"offset": calibration["offset"] + _OFFSET * place}
        weights = files | {_CALIBRATION: json.dumps(moved).encode()}
        write_version(
            models_dir, name, kind=kind, weights=weights, fusion=fusions[name], documents={}
        )
    promote(models_dir, _NAMES[0])
    return fusions


def find_mixture(verdict: Mapping[str, Any], *, fusions: Mapping[str, Fusion]) -> str | None:
    """Say what is wrong with a verdict; None if all of it is of one version and adds up."""
    fusion = fusions.get(verdict["model_version"])
    if fusion is None:
        return "unknown version"
    of_version = (fusion.base, fusion.ham_cutoff, fusion.spam_cutoff)
    if (verdict["base"], verdict["ham_cutoff"], verdict["spam_cutoff"]) != of_version:
        return "mixed versions"
    if any(s["weight"] != fusion.signal_weights.get(s["name"], 0.0) for s in verdict["signals"]):
        return "mixed weights"
    p = verdict["model_p_spam"]
    if p is None or verdict["degraded"]:
        return "degraded"
    weighed = fusion.model_weight * math.log(p / (1 - p)) if 0 < p < 1 else None
    if weighed is not None and not math.isclose(
        weighed, verdict["model_contribution"], abs_tol=1e-6
    ):
        return "mixed model weights"
    added = math.fsum(s["contribution"] for s in verdict["signals"])
    total = verdict["base"] + verdict["model_contribution"] + added
    return None if math.isclose(total, verdict["score"], abs_tol=1e-9) else "does not add up"


def swap(models_dir: Path, folder: str, every: float, seconds: float) -> list[str]:
    """Promote and roll back in turn, by the command that an operator types; return what served."""
    program = str(Path(sys.executable).with_name("slopsieve"))
    environment = os.environ | {"SLOPSIEVE_DATA_DIR": data_dir(folder)}
    ends = time.monotonic() + seconds
    served = []
    words: Sequence[str] = ("promote", _NAMES[1])
    while time.monotonic() + every < ends:
        time.sleep(every)
        subprocess.run(
            [program, "models", *words], env=environment, check=True, capture_output=True
        )
        words = ("rollback",)
        served.append(read_current_name(models_dir))
    return served


def check_stored(folder: str, models_dir: Path, ids: Sequence[str]) -> Mapping[str, int]:
    """Return what is wrong with how many stored verdicts, each told anew by both versions.

    A verdict is what exactly the version that it names makes of its signals and of its words, and
    not what the other one makes of them.
    """
    models = {name: load_judging_model(models_dir / name) for name in _NAMES}
    wrong: Counter[str] = Counter()
    with open_services(data_dir=data_dir(folder)) as services:
        for start in range(0, len(ids), _BATCH):
            cases = services.review.cases.find_judged(
                [CommentId(i) for i in ids[start : start + _BATCH]]
            )
            wrong["verdicts looked at"] += len(cases)
            for name, model in models.items():
                outputs = model.classifier.score_batch([model_input(c.comment) for c in cases])
                for case, output in zip(cases, outputs, strict=True):
                    verdict = case.verdict
                    assert verdict is not None
                    told = shadow_verdict_of(model, case, output)
                    same = (
                        abs(told.p_spam - verdict.p_spam) < _SAME
                        and verdict.model_p_spam is not None
                        and abs(output.p_spam - verdict.model_p_spam) < _SAME
                    )
                    own = verdict.model_version == name
                    if own and not (same and told.outcome is verdict.outcome):
                        wrong["not what its version says"] += 1
                    if not own and same:
                        wrong["what the other version says"] += 1
    return wrong


def shadow_verdict_of(model: JudgingModel, case: Case, output: ModelOutput) -> ShadowVerdict:
    """Return what a version makes of the evidence that a verdict recorded."""
    assert case.verdict is not None
    return form_shadow_verdict(
        case.comment,
        case.verdict,
        output=output,
        model_version=model.version,
        weights=model.weights,
        cutoffs=model.cutoffs,
        origin=Origin.BACK_SCORING,
        formed_at=case.verdict.judged_at,
    )


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=50.0, help="comments a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two swaps")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slopsieve-swaps-") as folder:
        models_dir = Path(folder, "models")
        fusions = make_versions(models_dir)
        os.environ["SLOPSIEVE_MODELS_DIR"] = str(models_dir)
        check = partial(find_mixture, fusions=fusions)
        with running(folder) as up:
            load = {"rate": given.rate, "seconds": given.seconds, "check": check}
            with offering(up["url"], up["site_key"], **load) as seen:
                served = swap(models_dir, folder, given.every, given.seconds)
        stored = check_stored(folder, models_dir, seen.ids)
    print(f"{len(seen.milliseconds):,} comments at {given.rate:g}/s, {len(served)} swaps")
    seen.print()
    print(f"  stored, told anew by both versions: {dict(stored)}")


if __name__ == "__main__":
    main()
