"""`slopsieve score`, `evaluate` and `replay`, on files small, large and hostile."""

import gzip
import hashlib
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from models.inputs import ModelInput, ModelOutput
from service.cli import cli
from service.commands.judge_files import Judging, open_judging, verdict_to_json
from service.domain.comment import MAX_TEXT_BYTES
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.imports.input_files import MAX_LINE_BYTES
from service.moderation.decisions import decide_comment
from service.moderation.replay import Archived, replay
from service.settings import load_settings
from service.wiring import find_learning_salt, open_services
from tests.databases import fresh_stores
from tests.factories import NOW, SITE
from tests.fakes import (
    ForgetfulHistory,
    make_model,
    make_services,
    make_site,
    submit_to,
)
from tests.unit.learning import training_examples as examples
from tests.unit.learning.training_examples import SALT, cache_over

DATA = Path(__file__).resolve().parents[2] / "data"
SPAM, HAM = "Buy cheap tyres here", "My drain valve leaks as well"


class WordClassifier:
    """Takes "cheap" for spam, breaks on "poison", and remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[ModelInput] = []

    def score_batch(self, inputs):
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


def judging(classifier=None) -> Judging:
    return Judging(model=make_model(classifier or WordClassifier()), batch_size=4)


def run(*words: object, given: Judging | None = None, stdin: bytes = b"") -> Result:
    names = [str(word) for word in words]
    with pytest.MonkeyPatch.context() as patched:
        for module in ("judge_files", "replay"):
            patched.setattr(f"service.commands.{module}.open_judging", lambda: given or judging())
        return CliRunner().invoke(cli, names, input=stdin)


run_score, run_evaluate = partial(run, "score"), partial(run, "evaluate")


def line(comment_id: str = "c1", text: str = HAM, **more: object) -> bytes:
    return json.dumps({"id": comment_id, "text": text, **more}).encode() + b"\n"


def rows_of(data: bytes) -> list[dict]:
    return [json.loads(row) for row in data.splitlines()]


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_every_comment_gets_one_line_in_its_order_with_its_evidence():
    lines = [line(f"c{n}", SPAM if n % 3 == 0 else HAM, unknown="ignored") for n in range(10)]
    packed = gzip.compress(b"".join(lines))

    result = run_score("-", stdin=packed)

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


def test_a_wrong_line_is_named_by_field_problem_and_remedy_and_the_rest_is_judged(tmp_path):
    broken = [
        b"not json\n",
        b"[1, 2]\n",
        b'{"text": 5}\n',
        b"\xff\xfe\n",
        b"[" * 200_000 + b"\n",
        line("c9", "x" * (MAX_TEXT_BYTES + 1)),
        line("i" * 500),
        b'{"id": "c2", "text": "' + b"x" * (2 * MAX_LINE_BYTES + 5) + b'"}\n',
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
    assert "line 9: line: is longer than 8,388,608 bytes" in result.stderr
    assert "2 comments judged, 8 broken lines." in result.stderr


def test_a_comment_that_cannot_be_judged_takes_no_other_with_it(tmp_path):
    lines = [line("c1"), line("c2", "poison"), line("c3", SPAM)]

    result = run_score(write(tmp_path / "a.jsonl", *lines))

    assert result.exit_code == 1
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["c1", "c3"]
    assert "line 2: text: could not be judged (RuntimeError)" in result.stderr
    assert "poison" not in result.stderr


def test_text_of_any_kind_comes_through(tmp_path):
    strange = [
        line("nul", "a\x00b"),
        line("lone \udc80", "cheap \ud800 half"),
        line("empty", "", label=7),
    ]
    file = write(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + strange[0], b"\n", *strange[1:])

    classifier = WordClassifier()

    result = run_score(file, given=judging(classifier))

    assert result.exit_code == 0
    assert [row["id"] for row in rows_of(result.stdout_bytes)] == ["nul", "lone \udc80", "empty"]
    assert [given.text for given in classifier.seen] == ["a\ufffdb", "cheap \ufffd half", ""]


def test_a_file_is_replaced_by_no_failed_run_and_never_by_its_own_scores(tmp_path):
    class Interrupted:
        def score_batch(self, inputs):
            raise KeyboardInterrupt

    file = write(tmp_path / "a.jsonl", line())
    out = write(tmp_path / "scores.jsonl", b"earlier\n")

    interrupted = run_score(file, "--out", out, given=judging(Interrupted()))
    own = run_score(file, "--out", file)

    assert (interrupted.exit_code, own.exit_code) == (1, 2)
    assert (out.read_bytes(), file.read_bytes()) == (b"earlier\n", line())
    assert "--out would replace FILE" in own.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "scores.jsonl"]


def test_an_evaluation_leaves_scores_and_two_reports(tmp_path):
    labelled = [line(f"s{n}", SPAM, label="spam") for n in range(20)]
    labelled += [line(f"h{n}", HAM, label="ham") for n in range(20)]
    file = write(tmp_path / "blog.jsonl", *labelled, line("x", HAM, label=None))
    out = tmp_path / "made" / "evaluation"

    result = run_evaluate(file, "--out", out)

    rows = rows_of((out / "scores.jsonl").read_bytes())
    report = json.loads((out / "report.json").read_text())
    assert result.exit_code == 0
    assert sorted(p.name for p in out.iterdir()) == ["report.json", "report.md", "scores.jsonl"]
    assert len(rows) == 41
    assert (rows[0]["source"], rows[0]["label"], rows[0]["outcome"]) == ("blog", "spam", "spam")
    assert (report["overall"]["n_ham"], report["overall"]["n_spam"]) == (20, 20)
    assert report["overall"]["verdict"]["roc_auc"]["auc"] == 1.0
    assert report["unlabelled"] == {"blog": {"ham": 1}}
    assert "| blog | 20 | 20 | 1.0000" in (out / "report.md").read_text()


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
    assert report["overall"]["verdict"]["roc_auc"] is None
    assert report["slices"]["kind"][0]["name"] == "not stated"


def test_the_command_line_judges_with_the_current_version_and_needs_no_server(tmp_path):
    file = write(tmp_path / "a.jsonl", *[line(f"c{n}", SPAM) for n in range(3_000)])
    # A reader who has seen enough ends the run quietly.
    command = f"from service.cli import main; main()' score {shlex.quote(str(file))} | head -1"

    finished = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -c '{command}"],
        env=os.environ | {"SLOPSIEVE_DATA_DIR": str(tmp_path / "never made")},
        capture_output=True,
        check=True,
        timeout=120,
    )

    [row] = rows_of(finished.stdout)
    assert (row["id"], row["degraded"]) == ("c0", False)
    assert b"Traceback" not in finished.stderr
    assert not (tmp_path / "never made").exists()


@pytest.fixture(scope="module")
def shipped() -> Judging:
    """Return the version that the release carries, loaded once."""
    return open_judging()


def test_a_comment_gets_the_same_verdict_offline_as_from_the_worker(shipped, tmp_path):
    lines = (DATA / "authored-t5.jsonl").read_bytes().splitlines(keepends=True)[:40]
    services = make_services(current_model=lambda: shipped.model)
    comments = [comment_from_row(json.loads(row)) for row in lines]
    kept = [replace(comment, site_id=SITE) for comment in comments]

    file = write(tmp_path / "a.jsonl", *lines)
    offline = rows_of(run_score(file, given=shipped).stdout_bytes)
    submit_to(services, *kept)

    served = [services.cases.get(c.id).verdict for c in kept]
    assert [json.loads(json.dumps(verdict_to_json(v))) for v in served] == offline
    assert any(row["signals"] for row in offline)


def test_the_shipped_version_knows_the_files_it_was_trained_on(shipped):
    files = {hashlib.sha256(f.read_bytes()).hexdigest() for f in DATA.glob("authored-*.jsonl")}

    assert shipped.trained_on & files


class DoubtfulClassifier:
    """Is in doubt of everything but what says "surely"."""

    def score_batch(self, inputs):
        return [ModelOutput(p_spam=0.001 if "surely" in given.text else 0.5) for given in inputs]


def run_replay(*words: object) -> Result:
    return run("replay", *words, given=judging(DoubtfulClassifier()))


def dated(n: int, **more: object) -> bytes:
    """Return a labelled line, spam if the number is odd, one each day of a short month."""
    text = (examples.SPAM if n % 2 else examples.HAM).format(n)
    date = f"2025-0{1 + n // 20}-{1 + n % 20:02d}"
    given = {"label": "spam" if n % 2 else "ham", "date": date, **more}
    return line(f"c{n:03d}", text, **given)


def test_of_comments_in_the_order_of_dates_what_learns_asks_less_and_errs_never(tmp_path):
    file = write(tmp_path / "blog.jsonl", *map(dated, reversed(range(60))))

    result = run_replay(file, "--out", tmp_path / "out", "--json")

    table = json.loads(result.stdout)
    rows = rows_of((tmp_path / "out" / "replay.jsonl").read_bytes())
    total = table["weeks"][-1]
    assert result.exit_code == 0, result.output
    assert [one["id"] for one in rows] == [f"c{n:03d}" for n in range(60)]
    assert set(rows[0]) == {"id", "asked", "frozen", "learning"}
    assert set(rows[0]["frozen"]) == set(rows[0]["learning"]) == {"p_spam", "score", "outcome"}
    assert (total["week"], total["comments"], total["spam"]) == ("all", 60, 30)
    assert total["frozen"]["left_to_a_person"] == 60
    assert total["learning"]["left_to_a_person"] < 40
    assert total["asked"] < 45
    assert (total["learning"]["ham_lost"], total["learning"]["spam_published"]) == (0, 0)
    assert sum(week["comments"] for week in table["weeks"][:-1]) == 60


def test_what_has_no_label_or_no_date_is_left_out_and_a_broken_line_named(tmp_path):
    lines = [dated(1, date=None), dated(2, label=None), dated(3), b"no json\n"]
    file = write(tmp_path / "blog.jsonl", *lines)

    result = run_replay(file, "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["comments"] == 1
    assert "2 comments without a label or a date left out" in result.stderr
    assert "Each pair: by the version alone > " in run_replay(file).stdout


def test_replay_tells_of_every_comment_what_happens_to_it_live_to_the_last_digit(shipped):
    model, stores = shipped.model, fresh_stores(sites=[make_site()])
    learns = {"learned": cache_over(stores, audit_share=0.0).current, "history": ForgetfulHistory()}
    services = make_services(stores=stores, current_model=lambda: model, **learns)
    rows = [row for row in rows_of((DATA / "authored-t9.jsonl").read_bytes()) if row["label"]][:40]
    archive = []
    for number, row in enumerate(rows):
        at = NOW + timedelta(days=number)
        comment = replace(comment_from_row(row), site_id=SITE, written_at=at)
        archive.append(Archived(comment=comment, is_spam=row["label"] == "spam"))

    played = list(replay(archive, model, decides_all=False, audit_share=0.0, salt=SALT))

    live = []
    for one in played:
        comment = one.archived.comment
        submit_to(services, comment)
        live.append(services.cases.get(comment.id).verdict)
        if one.asked:
            ruling = Ruling.REJECT if one.archived.is_spam else Ruling.APPROVE
            decide_comment(comment.id, ruling, services, decided_by="ada")
    told = [(one.learning.p_spam, one.learning.score, one.learning.outcome) for one in played]
    assert told == [(one.p_spam, one.score, one.outcome) for one in live]
    assert 0 < sum(one.asked for one in played) < 40
    assert any(one.learning != one.frozen for one in played)


def test_replay_learns_under_the_installations_own_salt(tmp_path):
    with open_services(data_dir=str(tmp_path)) as services:
        salt = services.learned().salt

    assert salt == find_learning_salt(load_settings(data_dir=tmp_path))
