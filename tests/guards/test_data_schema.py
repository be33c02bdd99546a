"""Every authored comment fits its schema."""

import json
from collections import Counter
from pathlib import Path

import jsonschema_rs

DATA = Path(__file__).parents[2] / "data"
FILES = sorted(DATA.glob("authored-*.jsonl"))
SCHEMA = json.loads((DATA / "schema.json").read_text("utf-8"))


def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


ROWS = [row for path in FILES for row in read(path)]


def test_every_comment_fits_the_schema():
    validator = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)

    wrong = [(row["id"], error.message) for row in ROWS for error in validator.iter_errors(row)]

    assert wrong == []


def test_ids_are_unique_and_begin_with_their_file():
    ids = Counter(row["id"] for row in ROWS)
    misplaced = [
        row["id"]
        for path in FILES
        for row in read(path)
        if not row["id"].startswith(path.stem.removeprefix("authored-") + "-")
    ]

    assert [one for one, count in ids.items() if count > 1] == []
    assert misplaced == []


def test_spans_are_in_order_without_outer_blanks_and_a_boundary_is_an_edge_of_one():
    wrong = []
    for row in ROWS:
        edges = [offset for span in row["promo_spans"] for offset in span]
        pieces = [row["text"][start:end] for start, end in row["promo_spans"]]
        in_order = edges == sorted(edges) and all(edge <= len(row["text"]) for edge in edges)
        if not in_order or not all(piece and piece == piece.strip() for piece in pieces):
            wrong.append(row["id"])
        if row["boundary"] not in {None, *edges} - {0, len(row["text"])}:
            wrong.append(row["id"])

    assert wrong == []
