"""The commands about models, retraining and what training reads, as an operator types them."""

import gzip
import json
import shutil
import stat
from dataclasses import asdict

import pytest

from models.registry import SHIPPED_DIR, promote, read_current_name
from service.cli import main
from service.domain.decision import Ruling
from service.domain.retraining import RetrainingState
from service.moderation.decisions import decide_comment
from service.moderation.sites import add_site
from service.settings import Settings, versions_folder
from service.stores.files.model_versions import ModelVersions
from service.wiring import open_services
from tests.commands import run_command
from tests.factories import make_comment
from tests.fakes import make_site
from tests.functional.moderators import keep
from tests.runs import REPORT, play_training, processes
from training.data.decisions import read_decisions


@pytest.fixture
def folder(tmp_path):
    """Hold two versions, `first` current."""
    shipped = SHIPPED_DIR / read_current_name()
    for name in ("first", "second"):
        shutil.copytree(shipped, tmp_path / "models" / name)
    promote(tmp_path / "models", "first")
    return tmp_path / "models"


def test_versions_are_listed_and_shown_by_what_their_cards_measured(run, folder):
    card = json.loads((SHIPPED_DIR / read_current_name() / "card.json").read_text())
    (folder / "first" / "card.json").write_text(json.dumps({**card, "trained_at": "2026-01-01"}))

    rows = run("models", "list", "--json")

    assert [(row["version"], row["serves"]) for row in rows] == [
        ("first", "current"),
        ("second", ""),
    ]
    blogs = next(row for row in card["evidence_table"] if row["source"] == "blogs alone")
    assert rows[0]["roc_auc"] == f"{blogs['roc_auc']:.4f}"
    assert f"run `slopsieve models promote {read_current_name()}`" in run("models", "list")
    # As the card and README.md state the promises.
    for key in ("ham_called_spam", "spam_called_ham"):
        kept = card["cutoffs"][key]
        assert rows[0][key].startswith(f"{kept['hits']} of {kept['count']:,} (promised: at most ")
    assert run("models", "show", "second").startswith("#")


def test_a_promoted_version_serves_and_rollback_brings_the_other_back(run, folder, tmp_path):
    times = iter(range(0, 100, 10))
    serving = ModelVersions(folder, monotonic=lambda: next(times), beside=lambda load: load())
    seen = [serving.current().version]

    run("models", "promote", "second")
    seen.append(serving.current().version)
    run("models", "rollback")
    seen.append(serving.current().version)

    assert seen == ["first", "second", "first"]
    with open_services(data_dir=str(tmp_path)) as services:
        acts = [(one.act, one.subject, one.detail) for one in services.audit_log.recent()]
    assert acts == [
        ("promote model version", "first", "before: second"),
        ("promote model version", "second", "before: first"),
    ]


def test_going_back_works_without_a_database(run, folder, tmp_path):
    run("models", "promote", "second")
    (tmp_path / "slopsieve.db").write_bytes(b"not a database" * 100)

    told = run("models", "rollback")

    assert read_current_name(folder) == "first"
    assert "could not be written" in told


@pytest.fixture
def retrain(tmp_path, monkeypatch):
    """Return a function that trains on three decisions, by a program that is quick."""
    monkeypatch.setattr("service.commands.models.training_runs", lambda _: processes(tmp_path))
    play_training(tmp_path / "told", monkeypatch)
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(tmp_path))
    with open_services() as services:
        services.sites.add(make_site())
        for _ in range(3):
            comment = keep(services)
            decide_comment(comment.id, Ruling.REJECT, services, decided_by="Ola")
    return lambda *words: run_command("retrain", *words, code=0).output


def test_a_candidate_is_trained_and_waits(retrain):
    said = retrain("--wait")

    with open_services() as services:
        [done] = services.retrainings.recent(limit=9)
    assert (done.state, done.decisions, done.waits) == (RetrainingState.ENDED, 3, True)
    assert "passed  core: ham lost: 9 of 9,126, as before" in said
    assert "set aside: 1; contradictory: 1" in said
    assert "slopsieve models promote candidate" in said
    rows = [
        json.loads(line) for line in run_command("models", "list", "--json").stdout.splitlines()
    ]
    assert [(row["version"], row["serves"]) for row in rows] == [
        (read_current_name(), "current"),
        ("candidate", ""),
    ]
    assert "kept for 30 days" in said
    assert versions_folder(Settings()) == SHIPPED_DIR


def test_too_few_decisions_are_counted(retrain, tmp_path):
    few = asdict(REPORT) | {"recommendation": "nothing to learn", "version": None, "seconds": None}
    (tmp_path / "told" / "report.json").write_text(json.dumps(few | {"spam": 3, "ham": 0}))

    first, second = retrain(), retrain()

    assert "3 decisions, 3 usable (3 spam, 0 ham); a candidate needs about 100." in first
    assert "none that the last retraining did not have" in second


def test_a_dry_run_keeps_nothing(retrain, tmp_path):
    said = retrain("--dry-run")

    assert "nothing was kept" in said
    assert not (tmp_path / "models").exists()


def test_a_promoted_candidate_serves_and_rollback_brings_the_shipped_version_back(retrain):
    said = retrain("--promote")

    promoted = read_current_name(versions_folder(Settings()))
    run_command("models", "rollback", code=0)
    assert "candidate serves now" in said
    assert promoted == "candidate"
    assert read_current_name(versions_folder(Settings())) == read_current_name()


@pytest.fixture
def decided(tmp_path):
    """Decide one comment on each of two sites; return the file to export into."""
    with open_services(data_dir=str(tmp_path)) as services:
        for name in ("Garden", "Kettles"):
            site, _ = add_site(name, services, actor="test")
            comment = keep(
                services, make_comment(f"All about {name}, \N{SNOWMAN}.", site_id=site.id)
            )
            decide_comment(comment.id, Ruling.REJECT, services, decided_by="olive")
    return tmp_path / "decisions.jsonl"


def test_the_file_is_for_its_owner_alone_and_is_what_training_reads(decided, run):
    decided.write_text("an older one, readable by everybody")

    said = run("decisions", "export", "--out", str(decided))

    assert stat.S_IMODE(decided.stat().st_mode) == 0o600
    assert [one.example.is_spam for one in read_decisions(decided)] == [True, True]
    assert "Decided comments written: 2." in said


def test_a_name_in_gz_is_gzipped_and_one_site_alone_can_be_asked_for(decided, run):
    out = decided.with_suffix(".gz")

    run("decisions", "export", "--out", str(out), "--site", "Kettles")

    rows = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
    assert [row["text"] for row in rows] == ["All about Kettles, \N{SNOWMAN}."]
    assert len(read_decisions(out)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "soon"], "'--since': is no date; write 2026-11-21"),
        (["--since", "2026-02-01", "--until", "2026-01-01T00:00+01:00"], "is not after --since"),
        (["--site", "Nobody"], "there is no site 'Nobody'"),
        (["--out", "nowhere/decisions.jsonl"], "No such file or directory"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(decided, capsys, words, said):
    home = ["--data-dir", str(decided.parent)]

    with pytest.raises(SystemExit) as ended:
        main(["decisions", "export", "--out", str(decided), *home, *words])

    assert ended.value.code
    assert said in capsys.readouterr().err
    assert not decided.exists()
