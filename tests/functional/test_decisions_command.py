"""The command that hands out decided comments."""

from __future__ import annotations

import gzip
import json
import stat

import pytest

from service.cli import main
from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from service.moderation.sites import add_site
from service.wiring import open_services
from tests.factories import keep_all, make_comment, make_verdict
from tests.functional.commands import run_command
from training.data.decisions import read_decisions


@pytest.fixture
def folder(tmp_path):
    """Return a data folder with one decided comment on each of two sites."""
    with open_services(data_dir=str(tmp_path / "data")) as services:
        for name in ("Garden", "Kettles"):
            site, _ = add_site(name, services, actor="test")
            comment = make_comment(f"All about {name}, \N{SNOWMAN}.", site_id=site.id)
            keep_all(services.comments, comment)
            services.verdicts.add([make_verdict(comment.id)], audit=frozenset())
            decide_comment(comment.id, Ruling.REJECT, services, decided_by="olive")
    return tmp_path


def export(folder, *words):
    return run_command("decisions", "export", *words, "--data-dir", folder / "data").output


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "soon"], "'--since': is no date; write 2026-11-21"),
        (["--since", "2026-02-01", "--until", "2026-01-01T00:00+01:00"], "is not after --since"),
        (["--site", "Nobody"], "there is no site 'Nobody'"),
        (["--out", "nowhere/decisions.jsonl"], "No such file or directory"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(folder, capsys, words, said):
    out = folder / "decisions.jsonl"
    home = ["--data-dir", str(folder / "data")]

    with pytest.raises(SystemExit) as ended:
        main(["decisions", "export", "--out", str(out), *home, *words])

    assert ended.value.code
    assert said in capsys.readouterr().err
    assert not out.exists()
