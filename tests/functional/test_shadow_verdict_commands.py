"""The commands that set a version into the shadow, ask one about the archive, and tell of both."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from models.errors import ModelVersionError
from models.registry import promote, read_shadow_name
from service.cli import cli
from service.domain.comment import Lane
from service.domain.decision import Decision, Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.domain.shadow_verdict import Origin, ShadowVerdict
from service.domain.verdict import Outcome
from service.moderation.admin.sites import add_site
from service.ports.comments import NewComment
from service.start_error import StartError
from service.wiring import open_services
from tests.factories import NOW, make_comment, make_verdict
from tests.unit.models.test_registry import write


@pytest.fixture
def folder(tmp_path):
    for name in ("first", "second"):
        write(tmp_path / "models", name)
    promote(tmp_path / "models", "first")
    return tmp_path / "models"


@pytest.fixture
def run(folder, tmp_path):
    def run(*words: str) -> str:
        env = {
            "SLOPSIEVE_MODELS_DIR": str(folder),
            "SLOPSIEVE_DATA_DIR": str(tmp_path / "data"),
        }
        done = CliRunner().invoke(cli, [*words], env=env)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.output

    return run


@pytest.fixture
def services(tmp_path):
    with open_services(data_dir=str(tmp_path / "data")) as services:
        yield services


@pytest.fixture
def archive(services):
    """Keep three comments that `second` has spoken of, one of them newly lost, at two sites."""
    sites = [add_site(name, services.common, actor="test")[0] for name in ("Radiators", "Trains")]
    ids = []
    for n, (outcome, ruling) in enumerate(
        [(Outcome.HAM, None), (Outcome.UNSURE, Ruling.APPROVE), (Outcome.SPAM, None)]
    ):
        comment = make_comment(id=f"com_{n}", site_id=sites[n // 2].id)
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        services.judging.verdicts.add([make_verdict(comment.id, outcome)], audit=frozenset())
        if ruling:
            services.review.decisions.add(
                Decision(
                    id=f"d{n}",
                    comment_id=comment.id,
                    ruling=ruling,
                    decided_by="Ola",
                    decided_at=NOW,
                )
            )
        ids.append(comment.id)
    services.judging.shadow_verdicts.add(
        [
            ShadowVerdict(
                comment_id=one,
                model_version="second",
                origin=Origin.SHADOW,
                outcome=Outcome.SPAM,
                p_spam=0.99,
                formed_at=NOW,
            )
            for one in ids
        ]
    )
    return ids


def test_a_version_is_set_into_the_shadow_listed_there_and_taken_out(run, folder, services):
    none = run("models", "shadow")
    set_in = run("models", "shadow", "second")
    listed = run("models", "list", "--json")
    named = run("models", "shadow")
    off = run("models", "shadow", "--off")

    assert none == "No version is in the shadow.\n"
    assert set_in == "second is in the shadow; before it was none.\n"
    marks = [json.loads(line) for line in listed.splitlines()]
    assert {row["version"]: row["serves"] for row in marks} == {
        "first": "current",
        "second": "shadow",
    }
    assert named == "second is in the shadow.\n"
    assert off == "No version is in the shadow; before it was second.\n"
    assert read_shadow_name(folder) is None
    acts = services.common.audit_log.recent()
    assert [(one.act, one.subject) for one in acts] == [
        ("set shadow version", "none"),
        ("set shadow version", "second"),
    ]


@pytest.mark.parametrize("words", [("third",), ("second", "--off")])
def test_what_cannot_be_meant_is_refused(run, folder, words):
    with pytest.raises(StartError):
        run("models", "shadow", *words)

    assert read_shadow_name(folder) is None


def test_a_tampered_version_is_not_set_into_the_shadow_and_not_asked_about_the_archive(run, folder):
    (folder / "second" / "fusion.json").write_text("{}")

    for words in (("models", "shadow", "second"), ("backscore", "start", "second")):
        with pytest.raises(ModelVersionError, match="SHA-256"):
            run(*words)
    assert read_shadow_name(folder) is None


def test_differences_name_the_approved_comments_that_would_be_lost(run, archive):
    told = run("models", "differences")

    assert "second: 3 shadow verdicts, 2 (66.7%) differ." in told
    assert "In the shadow it saw 3 of 3 comments judged meanwhile (100.0%)." in told
    assert "Newly called spam although people approved them: 1.\n  com_1\n" in told
    assert "Verdict ham, shadow verdict spam: 1; verdict spam, shadow verdict ham: 0." in told


def test_differences_are_printed_worst_first_as_json_and_for_one_site(run, archive):
    rows = [json.loads(line) for line in run("models", "differences", "--json").splitlines()]
    trains = run("models", "differences", "second", "--site", "Trains")

    assert [row["comment"] for row in rows] == ["com_1", "com_0"]
    assert rows[0] == {
        "comment": "com_1",
        "why": "approved, called spam",
        "verdict": "unsure",
        "p_spam": "0.500",
        "opinion": "spam",
        "its_p_spam": "0.990",
        "ruling": "approve",
    }
    assert "second: 1 shadow verdicts, 0 (0.0%) differ." in trains


def test_without_any_shadow_verdict_the_way_to_one_is_told(run):
    with pytest.raises(StartError, match="models shadow VERSION"):
        run("models", "differences")


def test_a_job_is_started_paused_resumed_and_cancelled(run, archive, services):
    started = run("backscore", "start", "first", "--site", "Radiators", "--from", "2026-01-01")
    [job] = services.judging.back_scorings.recent(limit=5)
    words = [run("backscore", word, job.id) for word in ("pause", "resume", "cancel")]
    [row] = [json.loads(line) for line in run("backscore", "status", "--json").splitlines()]

    assert started == f"{job.id}: first is asked about 2 comments.\n"
    assert words == [
        f"{job.id} is {state}: 0 of 2 comments.\n" for state in ("paused", "running", "cancelled")
    ]
    assert (row["version"], row["state"], row["share"]) == ("first", "cancelled", "0%")
    with pytest.raises(ConflictError):
        run("backscore", "resume", job.id)


def test_a_job_that_rests_can_be_followed_and_an_unknown_one_is_said_to_be_unknown(
    run, archive, services
):
    run("backscore", "start", "first")
    [job] = services.judging.back_scorings.recent(limit=5)
    run("backscore", "pause", job.id)

    followed = run("backscore", "status", job.id, "--follow")

    assert "paused" in followed
    with pytest.raises(NotFoundError):
        run("backscore", "pause", "bsc_nobody")


def test_without_a_job_there_is_nothing_to_show(run):
    run("sites", "list")

    assert run("backscore", "status") == "No version was asked about the archive yet.\n"
