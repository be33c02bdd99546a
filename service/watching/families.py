"""Turns what several processes counted into one text in Prometheus' format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

from service.watching.readings import Kind, Reading

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus' text format, which every collector reads."""

_Sample = tuple[str, Mapping[str, str], float]


@dataclass(slots=True)
class Family:
    """A metric with its samples, as `prometheus_client` has them."""

    name: str
    about: str
    kind: str
    samples: list[_Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFamilies:
    """What one process counted; `process` says what it does, `slot` tells its like apart."""

    process: str
    slot: str
    families: Sequence[Family]


def families_of(registry: CollectorRegistry, readings: Iterable[Reading]) -> list[Family]:
    """Return what a process counted, and its readings."""
    found = [Family(m.name, m.documentation, m.type, list(_samples(m))) for m in registry.collect()]
    return found + _read_families(readings)


def _samples(metric: Metric) -> Iterator[_Sample]:
    # A moment of creation beside each number doubles them and tells nothing new.
    return (
        (s.name, s.labels, s.value) for s in metric.samples if s.name != f"{metric.name}_created"
    )


def _read_families(readings: Iterable[Reading]) -> list[Family]:
    by_name: dict[str, Family] = {}
    for one in readings:
        family = by_name.setdefault(one.name, Family(one.name, one.about, one.kind.value, []))
        sample = one.name + ("_total" if one.kind is Kind.COUNTER else "")
        family.samples.append((sample, one.labels, one.value))
    return list(by_name.values())


def pack(families: Sequence[Family]) -> bytes:
    """Return families as bytes for another process of ours."""
    return json.dumps([[f.name, f.about, f.kind, f.samples] for f in families]).encode()


def unpack(packed: bytes) -> list[Family]:
    """Return what `pack` made. Raise `ValueError` for anything else."""
    try:
        return [Family(*fields) for fields in json.loads(packed)]
    except TypeError as error:
        msg = "these are no packed families"
        raise ValueError(msg) from error


def write_text(processes: Iterable[ProcessFamilies]) -> bytes:
    """Return Prometheus' text of all of them, each sample labelled with its process and slot."""
    merged: dict[str, Metric] = {}
    for process in processes:
        own = {"process": process.process, "slot": process.slot}
        for family in process.families:
            metric = merged.setdefault(family.name, Metric(family.name, family.about, family.kind))
            for name, labels, value in family.samples:
                metric.add_sample(name, {**labels, **own}, value)
    return generate_latest(_Merged(merged.values()))


class _Merged(CollectorRegistry):
    """Stands where the library wants a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        super().__init__()
        self._metrics = list(metrics)

    def collect(self) -> Iterator[Metric]:
        """Return the metrics that were merged."""
        return iter(self._metrics)
