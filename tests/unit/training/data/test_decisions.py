"""Decisions are read as they were written, and wrong lines are named."""

import gzip

import pytest

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.verdict import Outcome
from tests.unit.training.decided import make_decided, write_rows
from training.data.decisions import Via, read_decisions

RULING = {
    "reviewer": "f00d",
    "ruling": "reject",
    "made_at": "2026-03-02T09:00:00+00:00",
    "via": "review",
    "undone": False,
}
VERDICT = {
    "outcome": "unsure",
    "p_spam": 0.4,
    "model_version": "minilm-3",
    "degraded": False,
    "judged_at": "2026-03-02T08:00:00+00:00",
}


def make_row(**changes):
    row = {
        "id": "c1",
        "text": "Buy boilers at boilers dot example",
        "label": "spam",
        "post_title": "Bleeding a radiator",
        "post_excerpt": None,
        "author_name": "Mara",
        "author_url": None,
        "lang": "en",
        "date": "2026-03-01T12:00:00+00:00",
        "source": "site:garden",
        "post_id": "p1",
        "campaign": "camp_1",
        "rulings": [RULING],
        "verdict": VERDICT,
        "audit": False,
        "weight": 1,
    }
    return row | changes


def write(tmp_path, *rows):
    return write_rows(tmp_path / "decisions.jsonl", *rows)


def problems_of(tmp_path, *rows):
    with pytest.raises(InvalidInputError) as refused:
        read_decisions(write(tmp_path, *rows))
    return [one.field for one in refused.value.problems]


def test_a_row_is_read_with_its_rulings_and_verdict(tmp_path):
    earlier = RULING | {"ruling": "approve", "undone": True, "reviewer": "beef", "is_owner": True}

    (read,) = read_decisions(write(tmp_path, make_row(rulings=[earlier, RULING], weight=50)))

    assert (read.id, read.example.is_spam, read.example.campaign) == (
        "c1",
        True,
        "site:garden/camp_1",
    )
    assert [(one.ruling, one.undone, one.is_owner) for one in read.rulings] == [
        (Ruling.APPROVE, True, True),
        (Ruling.REJECT, False, False),
    ]
    assert (read.in_force.via, read.verdict.outcome) == (Via.REVIEW, Outcome.UNSURE)
    assert (read.weight, read.is_drawn) == (50.0, True)


def test_the_order_is_that_of_the_file_and_gzip_is_read_too(tmp_path):
    rows = [make_row(id=f"c{n}") for n in (3, 1, 2)]
    packed = tmp_path / "decisions.jsonl.gz"
    packed.write_bytes(gzip.compress(write(tmp_path, *rows).read_bytes()))

    read = read_decisions(packed)

    assert [one.id for one in read] == ["c3", "c1", "c2"]


def test_a_comment_decided_before_its_verdict_came_has_none(tmp_path):
    (read,) = read_decisions(write(tmp_path, make_row(verdict=None)))

    assert read.verdict is None
    assert not read.is_drawn


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"label": None}, "label"),
        ({"label": []}, "label"),
        ({"source": 7}, "source"),
        ({"audit": "no"}, "audit"),
        ({"weight": 0.5}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"weight": True}, "weight"),
        ({"text": ""}, "text"),
        ({"rulings": []}, "rulings"),
        ({"rulings": {}}, "rulings"),
        ({"rulings": ["reject"]}, "rulings[0]"),
        ({"rulings": [RULING | {"via": "guess"}]}, "rulings[0].via"),
        ({"rulings": [RULING | {"ruling": ["reject"]}]}, "rulings[0].ruling"),
        ({"rulings": [RULING | {"made_at": "2026-03-02"}]}, "rulings[0].made_at"),
        ({"rulings": [RULING | {"made_at": "9" * 5_000}]}, "rulings[0].made_at"),
        ({"rulings": [RULING | {"reviewer": ""}]}, "rulings[0].reviewer"),
        ({"rulings": [RULING | {"undone": True}]}, "rulings"),
        ({"rulings": [RULING | {"ruling": "approve"}]}, "rulings"),
        ({"verdict": "spam"}, "verdict"),
        ({"verdict": VERDICT | {"p_spam": 1.5}}, "verdict.p_spam"),
        ({"verdict": VERDICT | {"outcome": "maybe"}}, "verdict.outcome"),
        ({"rulings": [RULING | {"made_at": 5}]}, "rulings[0].made_at"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_field(tmp_path, changes, field):
    wrong = problems_of(tmp_path, make_row(id="fine"), make_row(**changes))

    assert f"decisions.jsonl:2 {field}" in wrong


def test_all_problems_are_named_at_once_and_no_value_is_quoted(tmp_path):
    secret = "Buy boilers"
    rows = [make_row(label=secret, id=secret), make_row(id=secret, weight=secret)]

    with pytest.raises(InvalidInputError) as refused:
        read_decisions(write(tmp_path, *rows))

    fields = {one.field for one in refused.value.problems}
    assert {"decisions.jsonl:1 label", "decisions.jsonl:2 id", "decisions.jsonl:2 weight"} <= fields
    assert secret not in str([(p.field, p.problem, p.remedy) for p in refused.value.problems])


def test_lines_that_are_no_json_are_named(tmp_path):
    path = write(tmp_path, None)
    path.write_text("[" * 100_000 + "\n" + path.read_text())

    with pytest.raises(InvalidInputError) as refused:
        read_decisions(path)

    assert [one.field[-2:] for one in refused.value.problems] == [":1", ":2"]


def test_what_a_person_went_and_looked_for_was_not_drawn():
    found = make_decided(is_spam=True, outcome=Outcome.HAM, p_spam=0.01)
    audited = make_decided(is_spam=True, outcome=Outcome.HAM, p_spam=0.01, audit=True)

    assert (found.is_drawn, audited.is_drawn) == (False, True)


def test_a_wholly_wrong_file_is_not_listed_to_its_end(tmp_path):
    wrong = problems_of(tmp_path, *[make_row(id=f"c{n}", label="x") for n in range(500)])

    assert len(wrong) == 50
