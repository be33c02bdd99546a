"""Moderators see what is allowed and blocked, add to it, and take it back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.list_entry import Effect, EntryKind
from service.domain.user import Role
from service.moderation.lists import NewEntry, add_entry
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, post, restrict, words


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id="site-2", name="Kettle <b>blog</b>")])


def limit(services, *site_ids, role=Role.MODERATOR):
    """Let the moderator see these sites alone."""
    restrict(services, role=role, site_ids=site_ids or None)


def listed(services, **changes):
    values = {
        "effect": Effect.BLOCK,
        "kind": EntryKind.DOMAIN,
        "value": "pills-direct.shop",
        "reason": "Sells pills",
        "site_id": SITE,
    }
    return add_entry(NewEntry(**(values | changes)), services, by="Kim")


def fill(client, **fields):
    form = {
        "show": "block",
        "do": "add",
        "kind": "domain",
        "value": "pills-direct.shop",
        "reason": "Sells pills",
        "site": SITE,
        "expires": "",
    }
    return post(client, "/lists/add", **(form | fields))


def in_force(services):
    return services.list_entries.in_force(services.clock())


@pytest.mark.parametrize(
    ("expires", "days"), [("1", 1), ("7", 7), ("30", 30), ("", None), ("999", None)]
)
def test_what_is_filled_in_is_listed_with_its_end(services, client, expires, days):
    answer = fill(client, expires=expires, kind="phrase", value="Cheap pills", show="allow")

    [entry] = in_force(services)
    page = client.get(answer.location)
    assert (answer.status_code, answer.location) == (303, "/lists?show=allow")
    assert (entry.effect, entry.kind, entry.added_by) == (Effect.ALLOW, EntryKind.PHRASE, "Ola")
    assert entry.expires_at == (NOW + timedelta(days=days) if days else None)
    assert "Added to the list. Phrase Cheap pills Undo" in words(page)
    assert "Sells pills" in page.text


def test_what_was_typed_of_a_person_is_neither_kept_nor_shown(services, client):
    answer = fill(client, kind="email", value="mara@example.org")

    page = client.get(answer.location)
    [entry] = in_force(services)
    assert "mara" not in page.text
    assert f"E-mail address {entry.label}" in words(page)
    assert "mara" not in str(entry) + str(services.audit_log.recent())


def test_an_entry_is_tried_removed_and_brought_back(services, client):
    keep(services, make_comment("Cheap pills for all."))
    tried = fill(client, kind="phrase", value="cheap pills", do="preview")
    page = client.get(fill(client, kind="phrase", value="cheap pills").location)
    [entry] = in_force(services)

    removed = client.get(post(client, f"/lists/{entry.id}/remove").location)
    gone = in_force(services)
    back = client.get(post(client, f"/lists/{entry.id}/restore").location)

    assert "matched 1 of the last comment." in words(tried)
    assert f'action="/lists/{entry.id}/remove"' in page.text
    assert f'action="/lists/{entry.id}/restore"' in removed.text
    assert gone == []
    assert "Back on the list." in words(back)
    assert in_force(services) == [entry]


def test_everything_wrong_is_said_at_once_and_nothing_typed_is_lost(services, client):
    answer = fill(client, kind="network", value="10.0.0.0/7", reason=" ", expires="7")

    assert answer.status_code == 422
    assert "Nothing was added. Correct 2 fields." in words(answer)
    assert "This network is too wide: give at most an IPv4 /16 or an IPv6 /40." in words(answer)
    assert "Give a short reason." in words(answer)
    assert 'value="10.0.0.0/7"' in answer.text
    assert '<option value="7" selected>' in answer.text
    assert in_force(services) == []


def test_who_sees_one_site_lists_for_it_alone(services, client):
    there = listed(services, site_id="site-2", reason="Of the other site")
    everywhere = listed(services, site_id=None, value="casino-now.shop", reason="Of all")
    services.list_entries.count_hits({everywhere.id: 7_531}, at=NOW)
    limit(services, SITE)

    page = client.get("/lists")

    assert "Of the other site" not in page.text
    assert "Kettle" not in page.text
    assert "7,531" not in page.text
    assert "Of all" in page.text
    assert "Remove<" not in page.text
    assert post(client, f"/lists/{there.id}/remove").status_code == 404
    assert post(client, f"/lists/{everywhere.id}/remove").status_code == 403
    assert fill(client, site="site-2").status_code == 404
    assert "Choose one of your sites." in words(fill(client, site=""))
    assert fill(client, site=SITE).status_code == 303
    assert len(in_force(services)) == 3
