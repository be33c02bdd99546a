"""`slopsieve replay` plays archives in order of time, with and without learning."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from models.inputs import ModelOutput
from service.commands.judge_files import Judging
from service.commands.replay import replay_command
from tests.fakes import make_model
from tests.unit.learning.training_examples import HAM, SPAM


class DoubtfulClassifier:
    """Is in doubt of everything but what says "surely"."""

    def score_batch(self, inputs):
        return [ModelOutput(p_spam=0.001 if "surely" in given.text else 0.5) for given in inputs]


def run(*arguments: object) -> Result:
    judging = Judging(model=make_model(DoubtfulClassifier()), batch_size=4)
    return CliRunner().invoke(replay_command, [str(a) for a in arguments], obj=judging)


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(n: int, *, spam: bool, date: str | None, **more) -> dict:
    text = (SPAM if spam else HAM).format(n)
    label = "spam" if spam else "ham"
    return {"id": f"c{n:03d}", "text": text, "label": label, "date": date, **more}


def archive(n: int = 60) -> list[dict]:
    return [
        row(k, spam=bool(k % 2), date=f"2025-0{1 + k // 20}-{1 + k % 20:02d}") for k in range(n)
    ]


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_a_comment_in_the_order_of_dates_in_the_keys_promised(tmp_path):
    file = write(tmp_path / "blog.jsonl", archive()[::-1])

    result = run(file, "--out", tmp_path / "out")

    rows = read(tmp_path / "out" / "replay.jsonl")
    assert result.exit_code == 0, result.output
    assert [one["id"] for one in rows] == [f"c{n:03d}" for n in range(60)]
    assert set(rows[0]) == {"id", "asked", "frozen", "learning"}
    assert set(rows[0]["frozen"]) == set(rows[0]["learning"]) == {"p_spam", "score", "outcome"}


def test_frozen_doubts_to_the_end_while_what_learns_asks_less_and_errs_never(tmp_path):
    file = write(tmp_path / "blog.jsonl", archive())

    result = run(file, "--json")

    table = json.loads(result.stdout)
    total = table["weeks"][-1]
    assert (total["week"], total["comments"], total["spam"]) == ("all", 60, 30)
    assert total["frozen"]["left_to_a_person"] == 60
    assert total["learning"]["left_to_a_person"] < 40
    assert total["asked"] < 45
    assert (total["learning"]["ham_lost"], total["learning"]["spam_published"]) == (0, 0)
    assert sum(week["comments"] for week in table["weeks"][:-1]) == 60


def test_what_has_no_label_or_no_date_is_left_out_and_a_broken_line_named(tmp_path):
    rows = [row(1, spam=True, date=None), {**row(2, spam=True, date="2025-01-01"), "label": None}]
    file = write(tmp_path / "blog.jsonl", [*rows, row(3, spam=True, date="2025-01-01")])
    file.write_text(file.read_text() + "no json\n")

    result = run(file, "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["comments"] == 1
    assert "2 comments without a label or a date left out" in result.stderr
