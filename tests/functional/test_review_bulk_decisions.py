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
    ("ids", "fields", "status", "says"),
    [
        ([], {}, 400, "Choose at least one comment."),
        (["../../etc"], {}, 400, "Choose at least one comment."),
        (["c1"], {"ruling": "maybe"}, 400, "Go back and try again."),
        (["c1"], {"note": "x" * 501}, 422, "Go back and try again."),
    ],
)
def test_a_form_that_decides_nothing_is_refused(services, client, ids, fields, status, says):
    answer = bulk(client, ids, **fields)

    assert answer.status_code == status
    assert says in answer.text
    assert services.bulk_decisions.recent(site_ids=None, limit=9) == []
