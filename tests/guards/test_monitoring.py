"""Dashboard and alerts speak of metrics that exist, and each alert has its runbook and its test."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from service.domain.decision import Ruling
from service.domain.figures import FigureCounts, Scope
from service.domain.retraining import Recommendation, RetrainingReport
from service.domain.verdict import Outcome
from service.processes.background import jobs, slow_jobs
from service.processes.operating import expose, show_model, state_parts
from service.settings import load_settings
from service.stores.migrations import migrate
from service.watching.exposition import Exposition
from service.wiring import Wired
from tests.factories import NOW
from tests.fakes import make_services, submit_one
from tests.functional.filled import retrained

FOLDER = Path(__file__).resolve().parents[2] / "docker" / "monitoring"
_NAME = re.compile(r"\b(?:slopsieve|process)_[a-z_]+\b(?!=)")
_LABELS = re.compile(r"([a-z_]+)\{([^}]*)\}")
_LABEL = re.compile(r"(\w+)(=~|!=|=)\"([^\"]*)\"")


def _audited(scope: Scope) -> FigureCounts:
    """Count an audit sample large enough to estimate from; see `FigureStore.count`."""
    return FigureCounts(
        days={scope.until.date(): Counter({Outcome.SPAM: 1000, Outcome.HAM: 1000})},
        audited=Counter({(Outcome.SPAM, Ruling.REJECT): 40}),
        recent_scores=(900, 100),
        earlier_scores=(100, 900),
    )


@pytest.fixture(scope="module")
def samples(tmp_path_factory, valkey) -> dict[str, list[dict[str, str]]]:
    """Return the labels of everything that a scrape may show, by the metric's name."""
    folder = tmp_path_factory.mktemp("data")
    wired = Wired(load_settings(data_dir=folder, valkey_url=valkey.url))
    migrate(wired.engine)
    wired.folder.last_backup_file.touch()
    services = make_services(observer=wired.counting, history=wired.services.history)
    wired.services = services
    services.figures.count = _audited
    report = RetrainingReport(recommendation=Recommendation.REFUSE)
    services.retrainings.put(retrained(report=report))
    submit_one(services)
    parts = {
        # What it says now: a busy machine must not hide one.
        name: replace(part, read=partial(tuple, list(part.read())))
        for name, part in state_parts(wired).items()
    }
    exposition = expose("api", wired, parts=parts)
    for process in ("worker", "background"):
        wired.counting.expect(process)
    for job in (*jobs(wired), *slow_jobs(wired)):
        wired.counting.watch_upkeep(job.task, lambda: 1)()
    wired.counting.database_failed("OperationalError")
    wired.counting.served(route="/1.1/comment-check", method="POST", status=200, seconds=0.1)
    wired.models.loaded_at = NOW
    shown_by_workers = [partial(show_model, wired)]
    worker = Exposition("worker", CollectorRegistry(), folder / "metrics", shown_by_workers)
    shown = exposition.text().decode()
    exposition.close()
    worker.close()
    wired.close()
    found: dict[str, list[dict[str, str]]] = {}
    for line in shown.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            found.setdefault(name, []).append(dict(re.findall(r'(\w+)="([^"]*)"', rest)))
    return found


def _load(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def _alerts() -> list[dict[str, Any]]:
    return [rule for group in _load("alerts.yaml")["groups"] for rule in group["rules"]]


def _panels() -> list[dict[str, Any]]:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def _expressions() -> Iterator[tuple[str, str]]:
    for rule in _alerts():
        yield rule["alert"], rule["expr"]
    for panel in _panels():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def test_every_expression_names_metrics_that_exist(samples):
    unknown = {
        (where, name)
        for where, expression in _expressions()
        for name in _NAME.findall(expression)
        if name not in samples
    }

    assert len(list(_expressions())) > 60
    assert unknown == set()


def test_every_label_that_is_asked_for_is_one_of_its_metric(samples):
    unknown = set()
    for where, expression in _expressions():
        for name, labels in _LABELS.findall(expression):
            for label, how, value in _LABEL.findall(labels):
                seen = {sample.get(label) for sample in samples.get(name, [])}
                fits = any(re.fullmatch(value, one or "") for one in seen)
                if seen == {None} or (how == "=" and label != "status" and not fits):
                    unknown.add((where, name, label, value))

    assert unknown == set()


def test_no_label_names_a_person_a_site_or_a_comment(samples):
    labels = {label for all_of in samples.values() for sample in all_of for label in sample}

    assert labels == {
        "process", "slot", "lane", "outcome", "cause", "stage", "le", "route", "method", "status",
        "task", "error", "calls", "state", "part", "kind", "version", "bound",
        "recommendation",
    }  # fmt: skip


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    sections = re.findall(r"^## (\w+)$", (FOLDER / "RUNBOOKS.md").read_text("utf-8"), re.MULTILINE)
    names = [rule["alert"] for rule in _alerts()]

    assert sorted(sections) == sorted(names)
    for rule in _alerts():
        anchor = f"RUNBOOKS.md#{rule['alert'].lower()}"
        assert rule["annotations"]["runbook"] == anchor
        assert rule["labels"]["severity"] in {"page", "ticket"}
