"""`slopsieve score` and `slopsieve evaluate`, on files small, large and hostile."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from models.inputs import ModelInput, ModelOutput
from service.commands.dataset_files import MAX_LINE_BYTES
from service.commands.judged_lines import verdict_to_json
from service.commands.judging_files import Judging, open_judging
from service.commands.offline import evaluate_command, score_command
from service.domain.comment import MAX_EXCERPT_CHARS, MAX_TEXT_BYTES, Lane
from service.domain.dataset_row import comment_from_row
from service.domain.errors import ModelUnavailableError
from service.moderation.intake.submit import submit_comments
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.scoring.weights import Cutoffs, Weights
from tests.factories import NOW, SITE
from tests.fakes import FixedClassifier, make_services

DATA = Path(__file__).resolve().parents[2] / "data"
SPAM, HAM = "Buy cheap tyres here", "My drain valve leaks as well"


class WordClassifier:
    """Takes "cheap" for spam, breaks on "poison", and remembers what it was shown."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.seen: list[ModelInput] = []

    def score_batch(self, inputs):
        self.batches.append(len(inputs))
        self.seen += inputs
        if any("poison" in given.text for given in inputs):
            msg = "broke on a text that must not be shown: poison"
            raise RuntimeError(msg)
        return [self._answer(given.text) for given in inputs]

    def _answer(self, text: str) -> ModelOutput:
        at = text.find("cheap")
        if at < 0:
            return ModelOutput(p_spam=0.01)
        return ModelOutput(p_spam=0.99, promo_spans=((at, len(text)),))


class AwayClassifier:
    def score_batch(self, inputs):
        raise ModelUnavailableError("away")


def judging(classifier=None, *, batch_size: int = 4) -> Judging:
    model = JudgingModel(
        version="test-1",
        classifier=classifier or WordClassifier(),
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.2, spam_cutoff=0.9),
    )
    return Judging(model=model, batch_size=batch_size, clock=lambda: NOW)


def run_score(*arguments: object, given: Judging | None = None, stdin: bytes = b"") -> Result:
    names = [str(a) for a in arguments]
    return CliRunner().invoke(score_command, names, obj=given or judging(), input=stdin)


def run_evaluate(*arguments: object, given: Judging | None = None) -> Result:
    names = [str(a) for a in arguments]
    return CliRunner().invoke(evaluate_command, names, obj=given or judging())


def line(comment_id: str = "c1", text: str = HAM, **more: object) -> bytes:
    return json.dumps({"id": comment_id, "text": text, **more}).encode() + b"\n"


def rows_of(data: bytes) -> list[dict]:
    return [json.loads(row) for row in data.splitlines()]


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_every_comment_gets_one_line_in_its_order_with_its_evidence(tmp_path):
    lines = [line(f"c{n}", SPAM if n % 3 == 0 else HAM, unknown="ignored") for n in range(10)]
    file = write(tmp_path / "comments.jsonl", *lines)

    result = run_score(file)

    rows = rows_of(result.stdout_bytes)
    assert result.exit_code == 0
    assert [row["id"] for row in rows] == [f"c{n}" for n in range(10)]
    assert [row["outcome"] for row in rows[:3]] == ["spam", "ham", "ham"]
    assert rows[0]["spans"] == [[4, 20]]
    assert rows[0]["model_version"] == "test-1"
    assert (rows[0]["degraded"], rows[0]["model_p_spam"]) == (False, 0.99)
    assert set(rows[0]) == {
        "id", "p_spam", "model_p_spam", "score", "outcome", "degraded", "signals", "spans",
        "model_version",
    }  # fmt: skip


def test_signals_come_with_weight_reason_and_spans(tmp_path):
    file = write(tmp_path / "comments.jsonl", line(text="More on https://tyres.example"))
    given = judging()

    result = run_score(file, given=given)

    [row] = rows_of(result.stdout_bytes)
    [link] = [s for s in row["signals"] if s["name"] == "front_page_link"]
    fields = {"name", "strength", "weight", "contribution", "reason", "spans", "boundaries"}
    fields.add("weight_kind")
    assert set(link) == fields
    assert link["spans"]
    assert link["reason"]


def test_gzip_is_told_by_its_content_and_written_by_its_name(tmp_path):
    file = tmp_path / "comments.jsonl"
    file.write_bytes(gzip.compress(line("c1", SPAM) + line("c2")))
    out = tmp_path / "scores.jsonl.gz"

    result = run_score(file, "--out", out)

    assert result.exit_code == 0
    assert result.stdout_bytes == b""
    assert [row["outcome"] for row in rows_of(gzip.decompress(out.read_bytes()))] == ["spam", "ham"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_read_gzipped_or_not(pack):
    result = run_score("-", stdin=pack(line("c1", SPAM) + line("c2")))

    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["c1", "c2"]


def test_comments_reach_the_classifier_in_batches_and_without_their_labels(tmp_path):
    lines = [line(f"c{n}", label="spam", kind="advert", post_title="Tyres") for n in range(10)]
    classifier = WordClassifier()

    run_score(write(tmp_path / "a.jsonl", *lines), given=judging(classifier, batch_size=4))

    assert classifier.batches == [4, 4, 2]
    assert classifier.seen[0] == ModelInput(text=HAM, post_title="Tyres")


def test_a_wrong_line_is_named_by_field_problem_and_remedy_and_the_rest_is_judged(tmp_path):
    broken = [
        b"not json\n",
        b"[1, 2]\n",
        b'{"text": 5}\n',
        b"\xff\xfe\n",
        b"[" * 200_000 + b"\n",
        line("c9", "x" * (MAX_TEXT_BYTES + 1)),
        line("i" * 500),
    ]
    file = write(tmp_path / "comments.jsonl", line("c1"), *broken, line("c2"))

    result = run_score(file)

    assert result.exit_code == 1
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["c1", "c2"]
    assert "line 2: line: is not JSON (column 1); write one JSON object a line." in result.stderr
    assert "line 3: line: is not a JSON object" in result.stderr
    assert "line 4: id: is missing" in result.stderr
    assert "line 4: text: is not a string" in result.stderr
    assert "line 5: line: is not UTF-8; convert the file to UTF-8." in result.stderr
    assert "line 6: line: is JSON beyond reason" in result.stderr
    assert "line 7: text: is longer than 65,536 bytes" in result.stderr
    assert "line 8: id: is not usable" in result.stderr
    assert "2 comments judged, 7 broken lines." in result.stderr


def test_a_line_too_long_for_memory_is_passed_over(tmp_path):
    endless = b'{"id": "c2", "text": "' + b"x" * (2 * MAX_LINE_BYTES + 5) + b'"}\n'
    file = write(tmp_path / "comments.jsonl", line("c1"), endless, line("c3"))

    result = run_score(file)

    assert result.exit_code == 1
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["c1", "c3"]
    assert "line 2: line: is longer than 8,388,608 bytes" in result.stderr


def test_no_message_repeats_what_a_comment_says(tmp_path):
    file = write(tmp_path / "a.jsonl", b'{"id": "secret", "text": ["secret"]}\n', b"secret\n")

    result = run_score(file)

    assert result.exit_code == 1
    assert "secret" not in result.stderr


def test_memory_does_not_grow_with_the_file(tmp_path):
    peaks = []
    for n_lines in (500, 10_000):
        file = write(tmp_path / "a.jsonl", *[line(f"c{n}", SPAM) for n in range(n_lines)])
        tracemalloc.start()

        result = run_score(
            file, "--out", tmp_path / "scores.jsonl", given=judging(FixedClassifier())
        )

        assert result.exit_code == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 1.2 * peaks[0] + 100_000


def test_many_wrong_lines_are_counted_but_only_the_first_are_shown(tmp_path):
    result = run_score(write(tmp_path / "a.jsonl", *[b"nonsense\n"] * 500))

    assert "0 comments judged, 500 broken lines." in result.stderr
    assert len(result.stderr.splitlines()) < 30


def test_a_comment_that_cannot_be_judged_takes_no_other_with_it(tmp_path):
    lines = [line("c1"), line("c2", "poison"), line("c3", SPAM)]

    result = run_score(write(tmp_path / "a.jsonl", *lines))

    assert result.exit_code == 1
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["c1", "c3"]
    assert "line 2: text: could not be judged (RuntimeError)" in result.stderr
    assert "poison" not in result.stderr


def test_without_the_classifier_every_verdict_is_unsure_and_degraded(tmp_path):
    result = run_score(write(tmp_path / "a.jsonl", line()), given=judging(AwayClassifier()))

    [row] = rows_of(result.stdout_bytes)
    assert (row["outcome"], row["degraded"], row["model_p_spam"]) == ("unsure", True, None)


def test_text_of_any_kind_comes_through(tmp_path):
    strange = [line("nul", "a\x00b"), line("lone \udc80", "cheap \ud800 half"), line("empty", "")]
    file = write(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + strange[0], b"\n", *strange[1:])

    classifier = WordClassifier()

    result = run_score(file, given=judging(classifier))

    assert result.exit_code == 0
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["nul", "lone \udc80", "empty"]
    assert [given.text for given in classifier.seen] == ["a\ufffdb", "cheap \ufffd half", ""]


def test_a_long_excerpt_is_cut_as_for_a_request(tmp_path):
    classifier = WordClassifier()

    run_score(
        write(tmp_path / "a.jsonl", line(post_excerpt="x" * 10_000)), given=judging(classifier)
    )

    assert len(classifier.seen[0].post_excerpt) == MAX_EXCERPT_CHARS


def test_damaged_gzip_is_reported_where_it_ends(tmp_path):
    file = tmp_path / "a.jsonl.gz"
    lines = [line(f"c{n}", hashlib.sha256(str(n).encode()).hexdigest()) for n in range(2000)]
    file.write_bytes(gzip.compress(b"".join(lines))[:-2000])

    result = run_score(file)

    judged = rows_of(result.stdout_bytes)
    assert result.exit_code == 1
    assert 0 < len(judged) < 2000
    assert f"line {len(judged) + 1:,}: line: the gzip data are damaged" in result.stderr


def test_a_run_that_fails_leaves_the_earlier_file_untouched(tmp_path):
    class Interrupted:
        def score_batch(self, inputs):
            raise KeyboardInterrupt

    file = write(tmp_path / "a.jsonl", line())
    out = write(tmp_path / "scores.jsonl", b"earlier\n")

    result = run_score(file, "--out", out, given=judging(Interrupted()))

    assert result.exit_code == 1
    assert out.read_bytes() == b"earlier\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "scores.jsonl"]


def test_a_file_is_never_replaced_by_its_own_scores(tmp_path):
    file = write(tmp_path / "a.jsonl", line())

    result = run_score(file, "--out", file)

    assert result.exit_code == 2
    assert "--out would replace FILE" in result.stderr
    assert file.read_bytes() == line()


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path):
    file = write(tmp_path / "a.jsonl", line())

    result = run_score(file, "--out", tmp_path / "missing" / "scores.jsonl")

    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr
    assert "Traceback" not in result.stderr


def labelled(n: int = 40, **more: object) -> list[bytes]:
    return [
        line(
            f"c{number}",
            SPAM if number % 2 else HAM,
            label="spam" if number % 2 else "ham",
            **more,
        )
        for number in range(n)
    ]


def test_an_evaluation_leaves_scores_and_two_reports(tmp_path):
    file = write(tmp_path / "blog.jsonl", *labelled(), line("x", HAM, label=None))
    out = tmp_path / "made" / "evaluation"

    result = run_evaluate(file, "--out", out)

    rows = rows_of((out / "scores.jsonl").read_bytes())
    report = json.loads((out / "report.json").read_text())
    assert result.exit_code == 0
    assert sorted(p.name for p in out.iterdir()) == ["report.json", "report.md", "scores.jsonl"]
    assert len(rows) == 41
    assert (rows[1]["source"], rows[1]["label"], rows[1]["outcome"]) == ("blog", "spam", "spam")
    assert (report["overall"]["n_ham"], report["overall"]["n_spam"]) == (20, 20)
    assert report["overall"]["verdict"]["roc_auc"]["auc"] == 1.0
    assert report["unlabelled"] == {"blog": {"ham": 1}}
    assert "| blog | 20 | 20 | 1.0000" in (out / "report.md").read_text()


def test_the_report_names_version_date_and_files(tmp_path):
    file = write(tmp_path / "blog.jsonl.gz", gzip.compress(b"".join(labelled(4))))

    run_evaluate(file, "--out", tmp_path / "out")

    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["model_version"] == "test-1"
    assert report["made_at"] == "2026-03-01T12:00:00+00:00"
    assert report["files"] == [
        {
            "name": "blog.jsonl.gz",
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "trained_on": False,
            "n_comments": 4,
            "n_broken": 0,
        }
    ]
    assert report["slices"]["source"][0]["name"] == "blog"


def test_a_report_over_the_training_files_says_so_at_once(tmp_path):
    file = write(tmp_path / "blog.jsonl", *labelled(4))
    checksum = hashlib.sha256(file.read_bytes()).hexdigest()

    run_evaluate(
        file, "--out", tmp_path, given=replace(judging(), trained_on=frozenset([checksum]))
    )

    opening, *_ = (tmp_path / "report.md").read_text().partition("## By source")
    assert "has learnt from 1 of these 1 file" in opening


def test_the_shipped_version_knows_the_files_it_was_trained_on():
    shipped = {hashlib.sha256(f.read_bytes()).hexdigest() for f in DATA.glob("authored-*.jsonl")}

    assert open_judging().trained_on & shipped


def test_comments_are_sliced_by_what_their_file_says(tmp_path):
    stated = {"source": "forum", "kind": "remark", "lang": "de", "hardness": 2}
    first = write(tmp_path / "a.jsonl", *labelled(4, **stated))
    second = write(tmp_path / "b.jsonl", *labelled(6))

    run_evaluate(first, second, "--out", tmp_path / "out")

    slices = json.loads((tmp_path / "out" / "report.json").read_text())["slices"]
    sizes = {by: {part["name"]: part["n"] for part in parts} for by, parts in slices.items()}
    assert sizes["source"] == {"forum": 4, "b": 6}
    assert sizes["kind"] == {"remark": 4, "not stated": 6}
    assert sizes["language"] == {"de": 4, "not stated": 6}
    assert sizes["hardness"] == {"2": 4, "not stated": 6}
    assert sizes["length"] == {"0-49": 10}


def test_spans_are_compared_where_they_are_labelled(tmp_path):
    lines = [
        line("c1", SPAM, label="spam", promo_spans=[[0, 20]], boundary=0),
        line("c2", HAM, label="ham", promo_spans=[], boundary=None),
    ]

    run_evaluate(write(tmp_path / "a.jsonl", *lines), "--out", tmp_path / "out")

    report = json.loads((tmp_path / "out" / "report.json").read_text())
    promo = report["spans"][0]
    assert (promo["tokens_right"], promo["tokens_marked"], promo["tokens_labelled"]) == (3, 3, 4)
    assert report["boundaries"][0]["n_within_one_sentence"] == 1


def test_a_label_that_is_none_is_reported_and_left_out(tmp_path):
    lines = [
        line("c1", label="viagra"),
        line("c2", label="ham", promo_spans=[[5, 999]], boundary="late"),
        line("c3", label="ham"),
    ]

    result = run_evaluate(write(tmp_path / "a.jsonl", *lines), "--out", tmp_path / "out")

    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert result.exit_code == 1
    assert 'line 1: label: is none of the labels; use "spam", "ham" or null.' in result.stderr
    assert "line 2: promo_spans: does not fit the text" in result.stderr
    assert "line 2: boundary: does not fit the text" in result.stderr
    assert "viagra" not in result.stderr
    assert (report["overall"]["n"], report["files"][0]["n_broken"]) == (1, 2)


def slopsieve(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from service.cli import main; main()"]
    return subprocess.run(
        [*command, *(str(a) for a in arguments)],
        env=os.environ | environment,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_the_command_line_judges_with_the_current_version_and_needs_no_server(tmp_path):
    file = write(tmp_path / "a.jsonl", line("c1", SPAM), b"nonsense\n", line("c2", HAM))
    data_dir = tmp_path / "never made"

    finished = slopsieve("score", file, SLOPSIEVE_DATA_DIR=str(data_dir))

    rows = rows_of(finished.stdout)
    assert finished.returncode == 1
    assert [row["id"] for row in rows] == ["c1", "c2"]
    assert [row["degraded"] for row in rows] == [False, False]
    assert b"2 comments judged, 1 broken line" in finished.stderr
    assert not data_dir.exists()


def test_a_comment_gets_the_same_verdict_offline_as_from_the_worker():
    file = DATA / "authored-t5.jsonl"
    given = open_judging()
    services = make_services(current_model=lambda: given.model)
    comments = [comment_from_row(row) for row in rows_of(file.read_bytes())[:40]]
    kept = [replace(comment, site_id=SITE) for comment in comments]

    offline = rows_of(run_score(file, given=given).stdout_bytes)[:40]
    submit_comments(
        [NewComment(comment=c, lane=Lane.BULK) for c in kept], services.intake, services.common
    )

    served = [services.review.cases.get(c.id).verdict for c in kept]
    assert [json.loads(json.dumps(verdict_to_json(v))) for v in served] == offline
    assert any(row["signals"] for row in offline)


def test_without_a_usable_version_nothing_is_judged_and_one_line_says_why(tmp_path):
    file = write(tmp_path / "a.jsonl", line())

    finished = slopsieve("score", file, SLOPSIEVE_MODELS_DIR=str(tmp_path))

    assert finished.returncode == 1
    assert finished.stdout == b""
    assert b"CURRENT" in finished.stderr
    assert len(finished.stderr.splitlines()) <= 2


def test_a_reader_who_has_seen_enough_ends_the_run_quietly(tmp_path):
    file = write(tmp_path / "a.jsonl", *[line(f"c{n}", SPAM) for n in range(3_000)])
    command = f"from service.cli import main; main()' score {shlex.quote(str(file))} | head -1"

    finished = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -c '{command}"],
        capture_output=True,
        check=True,
        timeout=120,
    )

    assert len(finished.stdout.splitlines()) == 1
    assert b"Traceback" not in finished.stderr
