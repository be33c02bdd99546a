"""Moderators decide many comments at once, see what was done so, and take it back."""

from __future__ import annotations

import pytest

from tests.functional.moderators import hidden_fields, keep, post


def bulk(client, ids, ruling="reject", **fields):
    return post(client, "/review/bulk", id=ids, ruling=ruling, **fields)


def test_chosen_comments_are_decided_and_all_taken_back_from_the_page_of_such_acts(
    services, client
):
    ids = [keep(services).id for _ in range(3)]

    decided = bulk(client, ids, note=" A campaign. ", next="/review/strokes")
    page = client.get(decided.location)
    [done] = services.bulk_decisions.recent(site_ids=None, limit=9)
    path = f"/review/strokes/{done.id}/undo"
    undone = client.post(path, data=hidden_fields(page, path))
    after = client.get(undone.location)

    assert decided.status_code == undone.status_code == 303
    assert "3 comments rejected." in page.text
    assert "3 decisions undone." in after.text
    assert path not in after.text
    cases = services.cases.find(ids)
    assert [case.decision for case in cases] == [None] * 3
    assert {case.decisions[0].note for case in cases} == {"A campaign."}
    assert cases[0].decisions[0].decided_by == "Ola"


@pytest.mark.parametrize(
    ("ids", "fields", "says"),
    [
        ([], {}, "Choose at least one comment."),
        (["c1"], {"ruling": "maybe"}, "Choose to approve or to reject."),
        (["c1"], {"note": "x" * 501}, "A note has at most 500 characters."),
        (["../../etc"], {"ruling": ""}, "Choose at least one comment. Choose to approve"),
    ],
)
def test_a_form_that_decides_nothing_says_all_that_is_wrong(services, client, ids, fields, says):
    answer = bulk(client, ids, **fields)

    assert answer.status_code == 400
    assert says in answer.text
    assert services.bulk_decisions.recent(site_ids=None, limit=9) == []
