"""The command that hands out decided comments."""

from __future__ import annotations

import gzip
import json
import stat

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.domain.comment import Lane
from service.domain.decision import Decision, Ruling
from service.domain.errors import InvalidInputError
from service.moderation.admin.sites import add_site
from service.moderation.learning.export_labelled import decisions_for_training
from service.ports.comments import NewComment
from service.wiring import open_services
from tests.factories import make_comment, make_verdict
from training.data.decisions import read_decisions


@pytest.fixture
def folder(tmp_path):
    """Return a data folder with one decided comment on each of two sites."""
    with open_services(data_dir=str(tmp_path / "data")) as services:
        for name in ("Garden", "Kettles"):
            site, _ = add_site(name, services.common, actor="test")
            comment = make_comment(f"All about {name}, \N{SNOWMAN}.", site_id=site.id)
            services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
            services.judging.verdicts.add([make_verdict(comment.id)], audit=frozenset())
            decide(comment.id, services)
    return tmp_path


def decide(comment_id, services):
    services.review.decisions.add(
        Decision(
            id=services.common.new_id("dec"),
            comment_id=comment_id,
            ruling=Ruling.REJECT,
            decided_by="olive",
            decided_at=services.common.clock(),
        )
    )


def export(folder, *words):
    asked = ["decisions", "export", *words, "--data-dir", str(folder / "data")]
    done = CliRunner().invoke(cli, asked)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_the_file_is_for_its_owner_alone_and_is_what_training_reads(folder):
    out = folder / "decisions.jsonl"
    out.write_text("an older one, readable by everybody")

    said = export(folder, "--out", str(out))

    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [one.example.is_spam for one in read_decisions(out)] == [True, True]
    assert "Decided comments written: 2." in said


def test_a_name_in_gz_is_gzipped_and_one_site_alone_can_be_asked_for(folder):
    out = folder / "decisions.jsonl.gz"

    export(folder, "--out", str(out), "--site", "Kettles")

    rows = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
    assert [row["text"] for row in rows] == ["All about Kettles, \N{SNOWMAN}."]
    assert len(read_decisions(out)) == 1


def test_nothing_was_decided_before_a_moment_in_the_past(folder):
    out = folder / "decisions.jsonl"

    export(folder, "--out", str(out), "--until", "2020-01-01")
    before = out.read_text()
    export(folder, "--out", str(out), "--since", "2020-01-01T00:00:00+02:00")

    assert before == ""
    assert len(out.read_text().splitlines()) == 2


def test_everything_wrong_is_said_at_once_and_nothing_is_written(folder):
    out = folder / "nowhere" / "decisions.jsonl"

    with pytest.raises(InvalidInputError) as refused:
        export(folder, "--out", str(out), "--site", "Nobody", "--since", "soon", "--until", "?")

    assert [one.field for one in refused.value.problems] == ["site", "since", "until", "out"]
    assert not out.exists()


def test_an_interval_that_ends_before_it_begins_is_refused(folder):
    out = folder / "decisions.jsonl"

    with pytest.raises(InvalidInputError, match="is not after since"):
        export(folder, "--out", str(out), "--since", "2026-02-01", "--until", "2026-01-01")

    assert not out.exists()


def test_a_run_that_fails_half_way_leaves_the_older_file(folder, monkeypatch):
    out = folder / "decisions.jsonl"
    out.write_text("older\n")

    def failing(services, **asked):
        yield next(decisions_for_training(services, **asked))
        raise RuntimeError("the database went away")

    monkeypatch.setattr("service.commands.decisions.decisions_for_training", failing)
    with pytest.raises(RuntimeError):
        export(folder, "--out", str(out))

    assert out.read_text() == "older\n"
    assert [path.name for path in folder.iterdir() if path.name.endswith(".part")] == []
