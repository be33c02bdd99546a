"""A site is told which allow or block entry decided about its comment."""

from __future__ import annotations

from service.domain.list_entry import Effect, EntryKind
from service.moderation.admin.site_lists import NewEntry, add_entry
from tests.factories import SITE


def _list(services, **changes):
    values = {
        "effect": Effect.BLOCK,
        "kind": EntryKind.DOMAIN,
        "value": "pills-direct.shop",
        "reason": "Sells pills",
        "site_id": SITE,
    }
    return add_entry(NewEntry(**(values | changes)), services, by="Kim")


def _judged(api, **comment):
    answer = api.post("/v1/comments?wait=1", json={"text": "A remark", **comment})
    assert answer.status_code == 202
    return answer.get_json()["verdict"]


def test_the_verdict_names_the_entry_and_says_so_in_its_explanation(services, api):
    entry = _list(services)

    verdict = _judged(api, text="See https://pills-direct.shop/now")

    assert verdict["outcome"] == "spam"
    assert verdict["instruction"] == {
        "entry_id": entry.id,
        "effect": "block",
        "kind": "domain",
        "label": "pills-direct.shop",
        "reason": "Sells pills",
    }
    assert verdict["explanation"][0] == (
        "Called spam by a block entry of the moderators: a link to the domain pills-direct.shop "
        "(reason: Sells pills)."
    )


def test_of_a_person_no_trace_is_told_but_the_kind(services, api):
    entry = _list(services, kind=EntryKind.EMAIL, value="mara@example.org", effect=Effect.ALLOW)

    verdict = _judged(api, author={"email": "mara@example.org"})

    assert verdict["outcome"] == "ham"
    assert verdict["instruction"]["label"] is None
    assert entry.label not in str(verdict)
