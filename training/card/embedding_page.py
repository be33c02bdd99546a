"""Writes what a card says of a version's embedding, for people."""

from __future__ import annotations

from typing import Any

HEADING = "## Embedding"


def embedding_lines(facts: dict[str, Any]) -> list[str]:
    """Return the lines of a card on the embedding, from what `training.fit.embed` measured."""
    rows = [
        "| part | campaigns | members | pairs | at 1 of 10,000 | 1,000 | 100 | nearest of it |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for part in ("train", "calibration", "test"):
        found = facts[part]
        if "found_at" not in found:
            continue
        shares = [*found["found_at"].values(), found["nearest_is_of_the_campaign"]]
        counts = [found["campaigns"], found["members"], found["pairs"]]
        cells = [part, *map(str, counts), *(f"{share:.0%}" for share in shares)]
        rows.append(f"| {' | '.join(cells)} |")
    return [
        HEADING,
        "",
        (
            "An output of the first network beside those about spam (the hidden states of its "
            "second layer, each token by its probability of promotion) and a projection of it to "
            f"{facts['size']} numbers, fitted on {facts['fitted_on']:,} comments at "
            f"{facts['fitted_at']}, "
            "campaigns unseen. Each member of an authored campaign is compared with each spam "
            "comment of its part. The table has the share of its pairs that lie closer than the "
            "closest 1 of 10,000, 1,000 and 100 of the other pairs, and how often the nearest "
            "comment of all is of the same campaign."
        ),
        "",
        *rows,
    ]
