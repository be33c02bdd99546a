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


def test_promotional_spans_lie_inside_the_text_in_order_without_outer_blanks():
    wrong = []
    for row in ROWS:
        end_before = 0
        for start, end in row["promo_spans"]:
            segment = row["text"][start:end]
            if not end_before <= start < end <= len(row["text"]) or segment != segment.strip():
                wrong.append(row["id"])
            end_before = end

    assert wrong == []


def test_a_boundary_lies_inside_the_text_at_an_end_of_marked_promotion():
    wrong = [
        row["id"]
        for row in ROWS
        if row["boundary"] is not None
        and (
            not 0 < row["boundary"] < len(row["text"])
            or row["boundary"] not in {offset for span in row["promo_spans"] for offset in span}
        )
    ]

    assert wrong == []


def test_ham_has_neither_promotion_nor_boundary_nor_campaign():
    wrong = [
        row["id"]
        for row in ROWS
        if row["label"] == "ham"
        and (row["promo_spans"] or row["boundary"] is not None or row["campaign"])
    ]

    assert wrong == []


def test_addresses_are_reserved_for_documentation():
    wrong = []
    for row in ROWS:
        address = ipaddress.ip_address(row["user_ip"])
        if not any(address in n for n in DOCUMENTATION_NETWORKS if n.version == address.version):
            wrong.append(row["id"])

    assert wrong == []


def test_mail_addresses_are_reserved_for_documentation():
    wrong = [
        row["id"]
        for row in ROWS
        if not re.search(rf"{DOCUMENTATION_MAIL.pattern}$", row["author_email"])
    ]

    assert wrong == []


def test_every_post_has_one_title_and_draws_both_labels():
    titles, labels = defaultdict(set), defaultdict(set)
    for row in ROWS:
        titles[row["post_id"]].add((row["post_title"], row["post_excerpt"]))
        labels[row["post_id"]].add(row["label"])

    assert [post for post, found in titles.items() if len(found) > 1] == []
    assert [post for post, found in labels.items() if found != {"spam", "ham"}] == []
