"""Turns what several processes counted into one text in Prometheus' format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus' text format, which every collector reads."""


def pack(metrics: Iterable[Metric]) -> bytes:
    """Return metrics as bytes for another process of ours."""
    return json.dumps(
        [
            [
                metric.name,
                metric.documentation,
                metric.type,
                [
                    (one.name, one.labels, one.value)
                    for one in metric.samples
                    # A moment of creation beside each number doubles them and tells nothing new.
                    if one.name != f"{metric.name}_created"
                ],
            ]
            for metric in metrics
        ]
    ).encode()


def unpack(packed: bytes, **labels: str) -> list[Metric]:
    """Return what `pack` made, each sample with these labels too.

    Raise `ValueError` for anything else.
    """
    metrics = []
    try:
        for name, about, kind, samples in json.loads(packed):
            metric = Metric(name, about, kind)
            for sample, own, value in samples:
                metric.add_sample(sample, {**own, **labels}, value)
            metrics.append(metric)
    except TypeError as error:
        raise ValueError("these are no packed metrics") from error
    return metrics


def write_text(metrics: Iterable[Metric]) -> bytes:
    """Return Prometheus' text of the metrics; those of one name are written together."""
    merged: dict[str, Metric] = {}
    for one in metrics:
        known = merged.setdefault(one.name, one)
        if known is not one:
            known.samples += one.samples
    return generate_latest(_Merged(merged.values()))


class _Merged(CollectorRegistry):
    """Stands where the library wants a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        super().__init__()
        self._metrics = list(metrics)

    def collect(self) -> Iterator[Metric]:
        """Return the metrics that were merged."""
        return iter(self._metrics)
