"""What settings pages ask about a key."""

from __future__ import annotations

import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNSURE


@pytest.fixture
def busy(akismet, clock):
    """A client whose site had comments and reports, the earlier ones 31 days ago."""
    akismet.call("verify-key", blog=BLOG)
    akismet.check(SPAM)
    akismet.check(HAM)
    clock.advance(days=31)
    for text in (SPAM, HAM, UNSURE):
        akismet.check(text, comment_author="Ann")
    akismet.call("submit-spam", comment_content=HAM, comment_author="Ann")
    akismet.call("submit-ham", comment_content=SPAM, comment_author="Ann")
    clock.advance(seconds=1)
    return akismet


@pytest.mark.parametrize("reach", ["60-days", "6-months", "all", ""])
def test_figures_come_in_all(busy, reach):
    stats = busy.call("get-stats", key=busy.key, blog=BLOG, **{"from": reach}).get_json()

    assert stats == {
        "spam": 3,
        "ham": 2,
        "missed_spam": 1,
        "false_positives": 1,
        "accuracy": "50.00",
        "time_saved": 30,
        "breakdown": {},
    }


def test_a_key_without_comments_has_figures_all_the_same(akismet):
    stats = akismet.call("get-stats", blog=BLOG).get_json()

    assert (stats["spam"], stats["accuracy"]) == (0, "100.00")
    assert isinstance(stats["breakdown"], dict)
