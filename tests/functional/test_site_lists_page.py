"""Moderators see what is allowed and blocked, add to it, and take it back."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.list_entry import Effect, EntryFilter, EntryKind
from service.domain.user import Role
from service.moderation.admin.site_lists import NewEntry, add_entry
from service.web.pages.sites.site_lists_page import PAGE_SIZE
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, signed_in, token_of

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }} %s \u202e'


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id="site-2", name="Kettle <b>blog</b>")])


@pytest.fixture
def client(services):
    return signed_in(services)


def limit(services, *site_ids, role=Role.MODERATOR):
    """Let the moderator see these sites alone."""
    user = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(user, role=role, site_ids=site_ids or None))


def listed(services, **changes):
    values = {
        "effect": Effect.BLOCK,
        "kind": EntryKind.DOMAIN,
        "value": "pills-direct.shop",
        "reason": "Sells pills",
        "site_id": SITE,
    }
    return add_entry(NewEntry(**(values | changes)), services, by="Kim")


def words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def fill(client, **fields):
    form = {
        "csrf_token": token_of(client.get("/lists")),
        "show": "block",
        "do": "add",
        "kind": "domain",
        "value": "pills-direct.shop",
        "reason": "Sells pills",
        "site": SITE,
        "expires": "",
    }
    return client.post("/lists/add", data=form | fields)


def press(client, path, **fields):
    form = {"csrf_token": token_of(client.get("/lists")), **fields}
    return client.post(path, data=form)


def in_force(services):
    return services.reputation.list_entries.in_force(services.common.clock())


def test_the_bar_leads_to_the_lists_and_an_empty_one_says_so(client):
    page = client.get("/lists")

    assert page.status_code == 200
    assert '<a href="/lists" aria-current="page">Lists</a>' in page.text
    assert "Nothing is blocked beyond what the evidence says." in words(page)


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
    assert "mara" not in str(entry) + str(services.common.audit_log.recent())


def test_everything_wrong_is_said_at_once_and_nothing_typed_is_lost(services, client):
    answer = fill(client, kind="network", value="10.0.0.0/7", reason=" ", expires="7")

    assert answer.status_code == 422
    assert "Nothing was added. Correct 2 fields." in words(answer)
    assert "This network is too wide: give at most an IPv4 /16 or an IPv6 /40." in words(answer)
    assert "Give a short reason." in words(answer)
    assert 'value="10.0.0.0/7"' in answer.text
    assert '<option value="7" selected>' in answer.text
    assert in_force(services) == []


def test_a_form_without_anything_names_all_that_is_missing(client):
    answer = fill(client, kind="nonsense", value="", reason="")

    for said in ("Choose what to list.", "Give what to list.", "Give a short reason."):
        assert said in words(answer)


def test_a_preview_keeps_nothing_and_tells_whom_it_would_hit(services, client):
    keep(services, make_comment("Cheap pills, they said."))
    keep(services, make_comment("Nothing of that kind."))

    page = fill(client, do="preview", kind="phrase", value="cheap pills")

    assert page.status_code == 200
    assert "It would have matched 1 of the last 2 comments." in words(page)
    assert "0 of them were approved by moderators. 0 more were called ham." in words(page)
    assert in_force(services) == []


def test_a_removal_is_undone_by_the_button_beside_it(services, client):
    entry = listed(services)

    removed = press(client, f"/lists/{entry.id}/remove", show="block", q="pills")
    page = client.get(removed.location)

    assert removed.location == "/lists?q=pills"
    assert "Removed from the list. Linked domain pills-direct.shop Undo" in words(page)
    assert in_force(services) == []
    press(client, f"/lists/{entry.id}/restore")
    assert in_force(services) == [entry]


def test_what_ended_is_listed_with_who_ended_it_and_can_be_brought_back(services, client):
    entry = listed(services)
    listed(services, value="casino-now.shop", expires_in=timedelta(hours=1))
    services.common.clock.advance(hours=1)
    press(client, f"/lists/{entry.id}/remove")

    page = client.get("/lists?show=ended")

    assert re.search(r"blocked Linked domain pills-direct.shop .* Removed Ola", words(page))
    assert "Remove<" not in page.text
    assert page.text.count("Bring back<") == 1
    press(client, f"/lists/{entry.id}/restore", show="ended")
    assert in_force(services) == [entry]


def test_lists_are_narrowed_and_paged(services, client):
    for number in range(PAGE_SIZE + 1):
        listed(services, value=f"pills-{number:02d}.shop")
        services.common.clock.advance(seconds=1)
    listed(services, kind=EntryKind.PHRASE, value="Buy 100% now", site_id="site-2")

    first = client.get("/lists?kind=domain")
    further = re.search(r'href="(/lists\?[^"]*cursor=[^"]*)"', first.text)[1]
    second = client.get(further.replace("&amp;", "&"))

    assert first.text.count('class="do"') == PAGE_SIZE
    assert second.text.count('class="do"') == 1
    assert "pills-00.shop" in second.text
    assert client.get("/lists?q=100%25").text.count('class="do"') == 1
    assert client.get("/lists?site=site-2").text.count('class="do"') == 1
    assert client.get("/lists?cursor=nonsense&kind=x&site=<b>&show=y").status_code == 200


def test_hostile_values_are_shown_as_they_are_and_run_nowhere(services, client):
    listed(services, kind=EntryKind.PHRASE, value=HOSTILE, reason=HOSTILE)

    page = client.get("/lists")
    refused = fill(client, kind="phrase", value=HOSTILE, reason="")

    for text in (page.text, refused.text, client.get(f"/lists?q={HOSTILE}").text):
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "Kettle <b>" not in text
        assert "49" not in re.sub(r'"[^"]*"', "", text)
    assert "⟦RLO⟧" in page.text


def test_who_sees_one_site_lists_for_it_alone(services, client):
    there = listed(services, site_id="site-2", reason="Of the other site")
    everywhere = listed(services, site_id=None, value="casino-now.shop", reason="Of all")
    services.reputation.list_entries.count_hits({everywhere.id: 7_531}, at=NOW)
    limit(services, SITE)

    page = client.get("/lists")

    assert "Of the other site" not in page.text
    assert "Kettle" not in page.text
    assert "7,531" not in page.text
    assert "Of all" in page.text
    assert "Remove<" not in page.text
    assert press(client, f"/lists/{there.id}/remove").status_code == 404
    assert press(client, f"/lists/{everywhere.id}/remove").status_code == 403
    assert fill(client, site="site-2").status_code == 404
    assert "Choose one of your sites." in words(fill(client, site=""))
    assert fill(client, site=SITE).status_code == 303
    assert len(in_force(services)) == 3


def test_a_reader_neither_sees_nor_changes_lists(services, client):
    entry = listed(services)
    token = token_of(client.get("/lists"))
    limit(services, role=Role.READER)

    assert client.get("/lists").status_code == 403
    for path in ("/lists/add", f"/lists/{entry.id}/remove", f"/lists/{entry.id}/restore"):
        assert client.post(path, data={"csrf_token": token}).status_code == 403
    assert in_force(services) == [entry]


@pytest.mark.parametrize("entry_id", ["unknown", "%00", "a" * 80])
def test_an_unknown_entry_is_not_found(client, entry_id):
    assert press(client, f"/lists/{entry_id}/remove").status_code == 404


def test_a_form_without_its_token_changes_nothing(services, client):
    assert client.post("/lists/add", data={"value": "x"}).status_code == 403
    assert services.reputation.list_entries.count(EntryFilter(in_force=True, at=NOW)) == 0
