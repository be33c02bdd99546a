"""What a card measures: every group of sources and every way of judging, each with an interval."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from models.card_figures import CARD_FILE, CARD_PAGE
from models.registry import SHIPPED_DIR, Fusion, read_current_name
from tests.unit.training.decided import make_example
from training.card.facts import card_facts, part_facts
from training.card.fingerprint import fingerprint
from training.card.page import card_page
from training.fit.boundaries import FoundBoundaries
from training.fit.fuse import promise
from training.fit.measured import ALL_EVIDENCE, MeasuredPart
from training.fit.promotion import MarkedTokens

NONE_WRONG = np.zeros(10, dtype=np.bool_)
FUSION = Fusion(
    base=0.0,
    model_weight=1.0,
    signal_weights={},
    ham_cutoff=0.2,
    spam_cutoff=0.9,
    promises=dict.fromkeys(("ham_called_spam", "spam_called_ham"), promise(0.001, NONE_WRONG)),
)


@pytest.fixture
def part() -> MeasuredPart:
    """Return 40 comments of two blogs and of this project, every fourth spam."""
    examples = tuple(
        make_example(
            id=f"c{n}",
            is_spam=n % 4 == 0,
            source=("authored-t1", "blog1", "blog2", "blog1")[n // 10],
            language="en" if n < 10 else None,
        )
        for n in range(40)
    )
    p_spam = np.where([e.is_spam for e in examples], 0.95, 0.1)
    return MeasuredPart(
        name="out of fold",
        examples=examples,
        ways={ALL_EVIDENCE: p_spam, "TF-IDF": np.linspace(0, 1, 40)},
        marked=MarkedTokens(both=1, only_marker=0, only_hand=0, ham_marked=0, n_ham=1),
        boundaries=FoundBoundaries(n=0, within_one_sentence=0, exact=0, n_ham=0, ham_with_one=0),
    )


def facts_of(part: MeasuredPart) -> dict:
    return card_facts(
        version="one",
        trained_at=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=60,
        fingerprint="f",
        config={"seed": 1},
        packages=("numpy",),
        files=(),
        fusion=FUSION,
        parts=[part],
    )


def test_every_source_stands_alone_and_those_of_blogs_together(part):
    rows = facts_of(part)["evidence_table"]

    counts = {r["source"]: r["n_spam"] + r["n_ham"] for r in rows if r["way"] == "TF-IDF"}
    assert counts == {"all": 40, "blogs alone": 30, "authored": 10, "blog1": 20, "blog2": 10}
    assert "| blogs alone: 23 ham, 7 spam |" in card_page(facts_of(part))
    (row,) = (r for r in rows if (r["source"], r["way"]) == ("all", "all evidence"))
    assert row["roc_auc"] == 1.0
    assert row["ham_called_spam"]["hits"] == row["unsure"]["hits"] == 0


def test_mistakes_at_the_cutoffs_are_told_by_id(part):
    p_spam = part.ways[ALL_EVIDENCE].copy()
    p_spam[0], p_spam[1] = 0.1, 0.95

    facts = part_facts(replace(part, ways={ALL_EVIDENCE: p_spam}), FUSION)

    assert (facts["spam_called_ham"], facts["ham_called_spam"]) == (["c0"], ["c1"])
    (english,) = (row for row in facts["slices"]["language"] if row["value"] == "en")
    assert (english["spam_called_ham"], english["ham_called_spam"]) == (1, 1)


def test_the_shipped_page_is_made_from_its_card_and_is_short():
    folder = SHIPPED_DIR / read_current_name()
    card = json.loads((folder / CARD_FILE).read_text("utf-8"))

    page = (folder / CARD_PAGE).read_text("utf-8")

    assert page == card_page(card)
    # A row a language is most of it.
    assert len(page.split()) <= 1_300


def test_a_source_of_one_label_has_no_curve(part):
    examples = tuple(replace(e, is_spam=e.is_spam and e.source != "blog2") for e in part.examples)

    rows = facts_of(replace(part, examples=examples))["evidence_table"]

    assert {r["roc_auc"] for r in rows if r["source"] == "blog2"} == {None}


@pytest.mark.parametrize(("room", "changes"), [("signals", True), ("scoring/report", False)])
def test_only_what_numbers_depend_on_is_in_the_fingerprint(room, changes, tmp_path, monkeypatch):
    monkeypatch.setattr("training.card.fingerprint._ROOT", tmp_path)
    words = tmp_path / "service" / room / "words.toml"
    words.parent.mkdir(parents=True)
    words.write_text('shorteners = ["bit.ly"]')
    before = fingerprint([], {})
    words.write_text('shorteners = ["bit.ly t.co"]')
    assert (fingerprint([], {}) != before) is changes
