"""Small edits that leave a label as it is, and how what they do to verdicts is counted."""

import json

import numpy as np
import pytest

from models.registry import SHIPPED_DIR, read_current_name
from tests.factories import make_comment
from tests.unit.training.decided import make_example
from training.contrasts import CONTRASTS, main, measure_contrasts
from training.data.dataset import DEFAULT_DATA


@pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda c: c.words or c.kind)
def test_each_contrast_edits_one_thing_and_keeps_links(contrast):
    before = make_comment("Read https://example.org/Guide, please.")

    after = contrast.edit(before)

    assert after is not None
    assert after != before
    assert "https://example.org/Guide" in after.text
    assert after.text == before.text or after.author == before.author


def test_an_edit_that_changes_nothing_is_left_out():
    (upper,) = (c for c in CONTRASTS if c.kind == "upper case")

    assert upper.edit(make_comment("1 + 1 = 2")) is None


def test_ham_that_waits_now_is_worse_and_spam_that_waits_now_is_better():
    examples = [make_example(text="thanks", is_spam=False), make_example(text="BUY", is_spam=True)]

    def judge(comments):
        return np.array([0.5 if "Marta" in str(c.author.name) else 0.05 for c in comments])

    rows = measure_contrasts(examples, judge, ham_cutoff=0.1)

    named = {r["label"]: r for r in rows if r["contrast"] == "name"}
    assert (named["ham"]["worse"], named["ham"]["better"]) == (1, 0)
    assert (named["spam"]["worse"], named["spam"]["better"]) == (0, 1)
    assert named["ham"]["mean_log_odds_change"] == pytest.approx(np.log(19))
    assert all(r["worse"] == 0 for r in rows if r["contrast"] != "name")


def test_the_command_prints_a_row_a_contrast_and_label(capsys, monkeypatch):
    monkeypatch.setattr("training.contrasts.CONTRASTS", CONTRASTS[:2])
    data = str(DEFAULT_DATA / "authored-t1.jsonl")

    assert main([read_current_name(), "--data", data, "--sample", "3", "--json"]) == 0

    rows = json.loads(capsys.readouterr().out)
    assert [r["label"] for r in rows] == ["ham"] * 2 + ["spam"] * 2
    assert {r["count"] for r in rows} <= {1, 2, 3}
    assert main([str(SHIPPED_DIR / "nowhere"), "--data", data]) == 1
