"""The settings of two-word clients and of reports, over HTTP."""

from __future__ import annotations

import pytest


def test_both_settings_are_shown_and_changed_one_by_one(api):
    before = api.get("/v1/site").get_json()["settings"]
    one = api.patch("/v1/site/settings", json={"holds_unsure": False}).get_json()["settings"]
    both = api.patch("/v1/site/settings", json={"reports_decide": True}).get_json()["settings"]
    other = api.patch("/v1/site/settings", json={"mode": "enforce"}).get_json()["settings"]

    names = ("holds_unsure", "reports_decide")
    assert [before[n] for n in names] == [True, False]
    assert [one[n] for n in names] == [False, False]
    assert [both[n] for n in names] == [other[n] for n in names] == [False, True]


@pytest.mark.parametrize("name", ["holds_unsure", "reports_decide"])
@pytest.mark.parametrize("value", ["yes", 1, [], "true"])
def test_anything_but_a_boolean_is_refused_by_name(api, name, value):
    answer = api.patch("/v1/site/settings", json={name: value})

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == [name]
