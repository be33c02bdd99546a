"""Measures how many comments a second one process judges, alone and in batches, interleaved."""

from __future__ import annotations

import resource
import statistics
import time
from datetime import UTC, datetime

from service.domain.dataset_row import comment_from_row
from service.domain.history import History
from service.moderation.judging.judgement import judge_comments
from tests.benchmarks.comment_mix import sample_records
from tests.benchmarks.judging_model import current_folder, forget_windows, load_judging_model

_COMMENTS = 1_024
_REPEATS = 5
_BATCH_SIZES = (1, 8, 64, 256)


def main() -> None:
    """Print comments a second by batch size, medians of interleaved repeats."""
    comments = [comment_from_row(row) for row in sample_records(_COMMENTS)]
    started = time.perf_counter()
    model = load_judging_model(current_folder())
    judge_comments(comments[:1], model, histories=[History()], now=datetime.now(UTC))
    print(f"model {model.version}: load and first verdict {time.perf_counter() - started:.2f} s")

    rates: dict[int, list[float]] = {size: [] for size in _BATCH_SIZES}
    for _ in range(_REPEATS):
        for size in _BATCH_SIZES:
            forget_windows(model.classifier)
            started = time.perf_counter()
            for start in range(0, _COMMENTS, size):
                batch = comments[start : start + size]
                judge_comments(
                    batch, model, histories=[History()] * len(batch), now=datetime.now(UTC)
                )
            rates[size].append(_COMMENTS / (time.perf_counter() - started))
    alone = statistics.median(rates[1])
    for size, measured in rates.items():
        median = statistics.median(measured)
        print(
            f"batches of {size:>3}: {median:7.0f} comments/s ({median / alone:.2f}x alone; "
            f"{min(measured):.0f} to {max(measured):.0f})"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {peak:.0f} MiB; {_COMMENTS} comments, {_REPEATS} repeats")


if __name__ == "__main__":
    main()
