"""https://github.com/DNNCommunity/Dnn.CommunityForums/issues/109: what is said of an edit is true.

With the edits of https://github.com/coralproject/talk/issues/4122.
"""

from __future__ import annotations

import pytest

from service.domain.comment import Edit
from service.domain.history import History, Record, TrackRecord
from service.signals.detectors.history import added_by_edit, copy_burst
from tests.factories import make_comment


def seen(copies: int) -> History:
    return History(content=TrackRecord(everywhere=Record(seen_hour=copies, seen_day=copies)))


@pytest.mark.parametrize("edit", [Edit.ADDED_LINK, Edit.ADDED_OFFER])
def test_an_edit_is_never_said_to_follow_an_approval_that_a_verdict_of_ham_stands_for(edit):
    reason = added_by_edit(make_comment("See https://a.shop", edit=edit), History()).reason

    assert "approved" not in reason


@pytest.mark.parametrize("version", range(2, 10))
def test_the_versions_of_one_comment_are_no_copies_of_it(version):
    comment = make_comment("Mine too.", site_comment_id=f"e@{version}", edit=Edit.APPROVED)

    assert copy_burst(comment, seen(version - 1)) is None
    assert copy_burst(comment, seen(version + 9)).reason.startswith("came with 10 near-copies")


def test_a_number_in_a_sites_own_id_is_no_version():
    comment = make_comment("Mine too.", site_comment_id="e@500")

    assert copy_burst(comment, seen(20)) is not None
