"""Plain advertisements in 28 languages: casinos, pills, ranks, replicas, loans; each with a link.

Whatever the version has learnt of a language, none is published.
"""

import json
from pathlib import Path

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.dataset_row import comment_from_row
from service.domain.sender import History
from service.domain.verdict import Outcome
from service.moderation.judging import judge_comments
from service.stores.files.model_versions import to_judging_model
from tests.factories import NOW

ROWS = [
    {"id": f"advertisement-{number}", **json.loads(line)}
    for number, line in enumerate(
        Path(__file__).with_name("advertisements.jsonl").read_text("utf-8").splitlines()
    )
]


def test_no_plain_advertisement_is_published_in_any_language():
    model = to_judging_model(load_version(SHIPPED_DIR / read_current_name()))
    comments = [comment_from_row(row) for row in ROWS]

    verdicts = judge_comments(comments, model, histories=[History()] * len(ROWS), now=NOW)

    assert len({row["lang"] for row in ROWS}) == 28
    published = [v.outcome is Outcome.HAM for v in verdicts]
    assert [row["text"] for row, is_out in zip(ROWS, published, strict=True) if is_out] == []
