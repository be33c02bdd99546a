"""`slopsieve signals report` counts what it says, alone and beside the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from models.inputs import ModelOutput
from service.commands.judging_files import Judging
from service.commands.signals import signals_group
from service.ports.models import JudgingModel
from service.scoring.weights import Cutoffs, Weights
from tests.factories import NOW

_LINK = "The order of the valves is shown at https://valves.example.com/a/b"
_SHOP = "Best valves here: https://valvehaus.shop"


class KnowsShops:
    """Calls spam what names a shop, and is unsure of "maybe"."""

    def score_batch(self, inputs):
        return [ModelOutput(p_spam=self._p_spam(given.text)) for given in inputs]

    def _p_spam(self, text: str) -> float:
        if "maybe" in text:
            return 0.5
        return 0.99 if ".shop" in text else 0.01


def judging() -> Judging:
    model = JudgingModel(
        version="test-1",
        classifier=KnowsShops(),
        weights=Weights(signals={"bare_link": 0.4}),
        cutoffs=Cutoffs(ham_cutoff=0.2, spam_cutoff=0.9),
    )
    return Judging(model=model, batch_size=4, clock=lambda: NOW)


def report(*arguments: object, stdin: bytes = b"") -> Result:
    names = ["report", *(str(a) for a in arguments)]
    return CliRunner().invoke(signals_group, names, obj=judging(), input=stdin)


@pytest.fixture
def file(tmp_path) -> Path:
    rows = [
        *(("spam", "a", _SHOP) for _ in range(12)),
        *(("spam", "b", f"{_LINK} maybe") for _ in range(4)),
        *(("ham", "b", _LINK) for _ in range(2)),
        *(("ham", "a", "The third valve was stuck.") for _ in range(38)),
        (None, "a", "Nobody has looked at this one."),
    ]
    lines = [
        json.dumps({"id": f"c{n}", "text": text, "label": label, "source": source})
        for n, (label, source, text) in enumerate(rows)
    ]
    path = tmp_path / "comments.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def found(file, tmp_path) -> dict:
    out = tmp_path / "signals.json"
    result = report(file, "--json", out)
    assert result.exit_code == 0
    return json.loads(out.read_bytes())


def row_of(found: dict, name: str) -> dict:
    (row,) = [row for row in found["rows"] if row["name"] == name]
    return row


def test_a_signal_is_counted_on_spam_and_on_ham_with_its_weight(found):
    row = row_of(found, "bare_link")

    assert (found["n_spam"], found["n_ham"], found["n_unlabelled"]) == (16, 40, 1)
    assert (row["on_spam"]["count"], row["on_spam"]["n"]) == (16, 16)
    assert (row["on_ham"]["count"], row["on_ham"]["share"]) == (2, 0.05)
    assert row["on_ham"]["low"] < 0.05 < row["on_ham"]["high"]
    assert (row["weight"], row["points_to"]) == (0.4, "spam")


def test_the_likelihood_ratio_is_that_of_the_shares(found):
    ratio = row_of(found, "bare_link")["likelihood_ratio"]

    assert ratio["value"] == pytest.approx((16.5 / 16.5) / (2.5 / 40.5))
    assert ratio["low"] < ratio["value"] < ratio["high"]


def test_alone_means_that_no_other_signal_for_the_same_label_fired(found):
    assert row_of(found, "commercial_link")["alone_on_spam"] == 0
    assert row_of(found, "bare_link")["alone_on_ham"] == 2


def test_what_it_adds_is_what_the_model_alone_does_not_call_spam(found):
    row = row_of(found, "bare_link")

    assert (row["model_agrees"]["count"], row["model_agrees"]["n"]) == (12, 16)
    assert (row["adds"]["count"], row["adds_against_the_model"]) == (4, 0)


def test_every_source_has_its_row(found):
    sources = {part["source"]: part for part in row_of(found, "bare_link")["sources"]}

    assert sources["a"]["on_spam"] == {"count": 12, "n": 12, **_shares_of(sources["a"])}
    assert (sources["b"]["on_ham"]["count"], sources["b"]["on_ham"]["n"]) == (2, 2)
    assert sources["b"]["on_ham"]["share"] is None


def _shares_of(part: dict) -> dict:
    return {key: part["on_spam"][key] for key in ("share", "low", "high")}


def test_detectors_that_never_fired_say_what_they_would_have_needed(found):
    never = {row["name"]: row["needs"] for row in found["rows"] if row["points_to"] is None}

    assert never["honeypot_filled"] == "form"
    assert never["rejected_person_before"] == "history"
    assert never["prompt_injection"] is None
    assert row_of(found, "honeypot_filled")["likelihood_ratio"] is None


def test_the_page_has_every_signal_and_goes_to_standard_output(file):
    result = report(file)

    assert result.exit_code == 0
    assert "# Signals beside `test-1`" in result.stdout
    assert "| `bare_link` | spam | +0.40 | 16 (100.0 %) |" in result.stdout
    assert "| `too_fast` | needs form |" in result.stdout
    assert "valvehaus" not in result.stdout


def test_the_same_comes_from_standard_input_and_goes_to_a_file(file, tmp_path):
    out = tmp_path / "signals.md"

    result = report("-", "--out", out, stdin=file.read_bytes())

    assert result.exit_code == 0
    assert "| `bare_link` | spam |" in out.read_text()


def test_a_broken_line_is_named_and_the_rest_is_counted(file):
    result = report("-", stdin=file.read_bytes() + b'{"id": "x", "text": "a", "label": "maybe"}\n')

    assert result.exit_code == 1
    assert "label: is none of the labels" in result.stderr
    assert "1 line could not be read" in result.stdout


def test_no_file_of_comments_is_replaced(file, tmp_path):
    same = tmp_path / "one"

    assert report(file, "--out", file).exit_code == 2
    assert report(file, "--out", same, "--json", same).exit_code == 2
    assert file.stat().st_size


def test_no_row_is_without_a_sentence_on_why_it_weighs_that(found):
    says = {row["name"]: row["says"] for row in found["rows"]}

    assert all(one.endswith(".") for one in says.values())
    assert says["bare_link"] == "Fitted on labelled comments."
    assert says["too_fast"].startswith("Set: nobody reads and types that fast")
    assert says["commercial_link"].startswith("Recorded and shown to moderators")
    row = row_of(found, "too_fast")
    assert (row["weight"], row["set_weight"], row["decisions"]) == (1.0, 1.0, 0)


def test_the_page_shows_weights_as_set_and_as_they_are_now(file, tmp_path):
    result = report(file, "--data-dir", tmp_path)

    assert "## Why each weighs that" in result.stdout
    assert "| +1.00 | +1.00 | 0 |" in result.stdout
