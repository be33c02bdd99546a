"""An evaluation as plain values, ready for JSON."""

from __future__ import annotations

from dataclasses import asdict

from service.scoring.report.markdown import Evaluation


def evaluation_to_json(evaluation: Evaluation) -> dict[str, object]:
    """Return everything that was found; None stands for every figure that there is not."""
    found = asdict(evaluation.measurements)
    return {
        "model_version": evaluation.model_version,
        "made_at": evaluation.made_at.isoformat(timespec="seconds"),
        "cutoffs": asdict(evaluation.cutoffs),
        "files": [asdict(file) for file in evaluation.files],
        **found,
        "spans": [{**asdict(tally), "token_f1": tally.f1} for tally in evaluation.spans],
        "boundaries": [asdict(tally) for tally in evaluation.boundaries],
    }
