"""Every authored comment fits its schema, and the documents beside it tell the truth."""

from __future__ import annotations

import ipaddress
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import jsonschema_rs
import pytest

DATA = Path(__file__).parents[2] / "data"
FILES = sorted(DATA.glob("authored-*.jsonl"))
ROWS = [json.loads(line) for path in FILES for line in path.read_text("utf-8").splitlines()]
SCHEMA = json.loads((DATA / "schema.json").read_text("utf-8"))

DOCUMENTATION_NETWORKS = [
    ipaddress.ip_network(network)
    for network in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
]
DOCUMENTATION_MAIL = re.compile(r"@(?:[\w-]+\.)*(?:example|example\.(?:com|net|org))")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_comment_fits_the_schema(path):
    validator = jsonschema_rs.validator_for(SCHEMA)

    wrong = [
        (json.loads(line)["id"], error.message)
        for line in path.read_text("utf-8").splitlines()
        for error in validator.iter_errors(json.loads(line))
    ]

    assert wrong == []


def test_ids_are_unique_and_begin_with_their_file():
    ids = Counter(row["id"] for row in ROWS)
    misplaced = [
        json.loads(line)["id"]
        for path in FILES
        for line in path.read_text("utf-8").splitlines()
        if not json.loads(line)["id"].startswith(path.stem.removeprefix("authored-") + "-")
    ]

    assert [one for one, count in ids.items() if count > 1] == []
    assert misplaced == []


def test_no_text_occurs_twice():
    texts = Counter(row["text"] for row in ROWS)

    assert [text for text, count in texts.items() if count > 1] == []


def _is_marked_well(row):
    """Spans lie inside the text, in order, without outer blanks."""
    edges = [0, *(offset for span in row["promo_spans"] for offset in span), len(row["text"])]
    pieces = [row["text"][start:end] for start, end in row["promo_spans"]]
    return edges == sorted(edges) and all(pieces) and pieces == [piece.strip() for piece in pieces]


def _is_parted_where_promotion_ends_or_begins(row):
    edges = {offset for span in row["promo_spans"] for offset in span}
    boundary = row["boundary"]
    return boundary is None or (0 < boundary < len(row["text"]) and boundary in edges)


def _has_neither_promotion_nor_campaign_as_ham(row):
    is_plain = not row["promo_spans"] and row["boundary"] is None and not row["campaign"]
    return row["label"] != "ham" or is_plain


def _has_an_address_for_documentation(row):
    address = ipaddress.ip_address(row["user_ip"])
    return any(address in n for n in DOCUMENTATION_NETWORKS if n.version == address.version)


def _has_a_mail_address_for_documentation(row):
    return re.search(rf"{DOCUMENTATION_MAIL.pattern}$", row["author_email"])


@pytest.mark.parametrize(
    "holds",
    [
        _is_marked_well,
        _is_parted_where_promotion_ends_or_begins,
        _has_neither_promotion_nor_campaign_as_ham,
        _has_an_address_for_documentation,
        _has_a_mail_address_for_documentation,
    ],
)
def test_every_row(holds):
    assert [row["id"] for row in ROWS if not holds(row)] == []


def test_every_post_has_one_title_and_draws_both_labels():
    titles, labels = defaultdict(set), defaultdict(set)
    for row in ROWS:
        titles[row["post_id"]].add((row["post_title"], row["post_excerpt"]))
        labels[row["post_id"]].add(row["label"])

    assert [post for post, found in titles.items() if len(found) > 1] == []
    assert [post for post, found in labels.items() if found != {"spam", "ham"}] == []
