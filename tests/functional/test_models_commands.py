"""The commands about model versions, as an operator types them."""

from __future__ import annotations

import json
import shutil

import pytest

from models.registry import SHIPPED_DIR, promote, read_current_name
from service.stores.files.model_versions import ModelVersions
from service.wiring import open_services
from tests.functional.commands import run_command


@pytest.fixture
def folder(tmp_path):
    """Hold two versions, `first` current."""
    shipped = SHIPPED_DIR / read_current_name()
    for name in ("first", "second"):
        shutil.copytree(shipped, tmp_path / "models" / name)
    promote(tmp_path / "models", "first")
    return tmp_path / "models"


@pytest.fixture
def run(folder, tmp_path):
    def run(*words: str) -> str:
        env = {
            "SLOPSIEVE_MODELS_DIR": str(folder),
            "SLOPSIEVE_DATA_DIR": str(tmp_path / "data"),
        }
        return run_command("models", *words, env=env).output

    return run


def test_versions_are_listed_and_shown_by_what_their_cards_measured(run):
    rows = [json.loads(line) for line in run("list", "--json").splitlines()]

    assert [(row["version"], row["serves"]) for row in rows] == [
        ("first", "current"),
        ("second", ""),
    ]
    card = json.loads((SHIPPED_DIR / read_current_name() / "card.json").read_text())
    blogs = next(row for row in card["evidence_table"] if row["source"] == "blogs alone")
    assert rows[0]["roc_auc"] == f"{blogs['roc_auc']:.4f}"
    # As the card and README.md state the promises.
    for key in ("ham_called_spam", "spam_called_ham"):
        kept = card["cutoffs"][key]
        assert rows[0][key].startswith(f"{kept['hits']} of {kept['count']:,} (promised: at most ")
    assert run("show", "second").startswith("#")


def test_a_promoted_version_serves_and_rollback_brings_the_other_back(run, folder, tmp_path):
    times = iter(range(0, 100, 10))
    serving = ModelVersions(folder, monotonic=lambda: next(times), beside=lambda load: load())
    seen = [serving.current().version]

    run("promote", "second")
    seen.append(serving.current().version)
    run("rollback")
    seen.append(serving.current().version)

    assert seen == ["first", "second", "first"]
    with open_services(data_dir=str(tmp_path / "data")) as services:
        acts = [(one.act, one.subject, one.detail) for one in services.audit_log.recent()]
    assert acts == [
        ("promote model version", "first", "before: second"),
        ("promote model version", "second", "before: first"),
    ]


def test_going_back_works_without_a_database(run, folder, tmp_path):
    run("promote", "second")
    (tmp_path / "data" / "slopsieve.db").write_bytes(b"not a database" * 100)

    told = run("rollback")

    assert read_current_name(folder) == "first"
    assert "could not be written" in told
