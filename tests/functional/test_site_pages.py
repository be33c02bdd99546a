"""Sites' settings and keys, the lists of what to allow and block, and what could not be told."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from flask.sessions import SecureCookieSessionInterface

from service.domain.decision import Mode, Ruling
from service.domain.delivery import DeliveryForm, DeliveryState, Endpoint, EventKind
from service.domain.list_entry import Effect, EntryKind
from service.domain.site import SiteSettings
from service.domain.user import Role
from service.moderation.decisions import decide_comment
from service.moderation.sites import authenticate_akismet, authenticate_site, issue_key
from service.web.pages.callbacks import MESSAGES_SHOWN
from tests.factories import NOW, OTHER_SITE, SITE, make_comment, make_entry, put_endpoint
from tests.fakes import make_services, make_site
from tests.functional.filled import put_delivery
from tests.functional.moderators import in_force, keep, post, restrict, set_site, words
from tests.platforms import TOKEN

HOSTILE = '"><script>alert(1)</script>\u202e onerror'
PAGE = f"/sites/{SITE}"
GOOD = {
    "mode": "hold",
    "undo_seconds": "30",
    "ham_cutoff": "",
    "spam_cutoff": "",
    "learns": "on",
}


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=OTHER_SITE, name=HOSTILE)])


def settings(services):
    return services.sites.get(SITE).settings


def shown_key(page):
    found = re.search(r'id="new-key">([^<]+)<', page.text)
    return found[1] if found else None


def test_settings_are_saved_and_told_once(services, client):
    form = GOOD | {"mode": "enforce", "undo_seconds": "0"}
    form |= {"ham_cutoff": "2,5", "spam_cutoff": "98.97"}
    form |= {"reports_decide": "on", "rejects_campaigns": "on"}

    answer = post(client, f"{PAGE}/settings", **form)
    page, again = client.get(answer.location), client.get(answer.location)

    assert answer.status_code == 303
    assert settings(services) == SiteSettings(
        mode=Mode.ENFORCE,
        ham_cutoff=0.025,
        spam_cutoff=0.9897,
        holds_unsure=False,
        reports_decide=True,
        rejects_campaigns=True,
        undo_seconds=0,
    )
    assert "The settings are saved" in page.text
    assert "The settings are saved" not in again.text
    assert 'value="98.97"' in again.text
    entry = services.audit_log.recent(subject=SITE)[0]
    assert (entry.actor, entry.act) == ("Ola", "change settings")


def test_what_somebody_else_set_since_the_page_was_shown_stays(services, client):
    page = client.get(PAGE).text
    was = dict(re.findall(r'name="(was_\w+)" value="([^"]*)"', page))
    set_site(services, mode=Mode.ENFORCE, ham_cutoff=0.2)

    post(client, f"{PAGE}/settings", **(GOOD | was | {"holds_unsure": "on", "undo_seconds": "7"}))
    post(client, f"{PAGE}/settings", **(GOOD | was | {"holds_unsure": "on", "spam_cutoff": "10"}))

    assert len(was) == 10
    assert settings(services) == SiteSettings(mode=Mode.ENFORCE, ham_cutoff=0.2, undo_seconds=7)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"mode": "maybe"}, {"mode"}),
        ({"undo_seconds": "٣"}, {"undo_seconds"}),
        ({"undo_seconds": "3601"}, {"undo_seconds"}),
        ({"ham_cutoff": "101", "spam_cutoff": "nan"}, {"ham_cutoff", "spam_cutoff"}),
        ({"ham_cutoff": "60", "spam_cutoff": "50"}, {"ham_cutoff"}),
        (
            {"mode": "", "undo_seconds": "", "spam_cutoff": "1e1"},
            {"mode", "undo_seconds", "spam_cutoff"},
        ),
        ({"ham_cutoff": HOSTILE}, {"ham_cutoff"}),
    ],
)
def test_all_that_is_wrong_is_told_at_once_beside_its_field_and_nothing_is_saved(
    services, client, fields, wrong
):
    before = settings(services)

    answer = post(client, f"{PAGE}/settings", **(GOOD | fields))

    assert answer.status_code == 400
    assert set(re.findall(r'class="problem" id="([a-z_]+)-problem"', answer.text)) == wrong
    assert settings(services) == before
    assert "<script>alert" not in answer.text


def test_a_preview_saves_nothing_and_keeps_what_was_typed(services, client):
    for p_spam, ruling in ((0.2, Ruling.REJECT), (0.5, Ruling.APPROVE), (0.8, Ruling.APPROVE)):
        decide_comment(keep(services, p_spam=p_spam).id, ruling, services, decided_by="Mara")
    form = GOOD | {"ham_cutoff": "30", "spam_cutoff": "70"}

    page = post(client, f"{PAGE}/settings", **form, act="preview")

    assert page.status_code == 200
    says = words(page)
    assert "would have held 1 comment for a person, 1 of them approved by moderators." in says
    assert "1 comment that moderators approved would be called spam." in says
    assert "1 comment that moderators rejected would be called ham." in says
    assert "Called ham 0 1 Left to a person 3 1 Called spam 0 1" in says
    assert "promises that at most 0.1 % of ham is called spam" in says.replace("\u202f", " ")
    assert 'value="70"' in page.text
    assert settings(services).spam_cutoff is None


@pytest.mark.parametrize(
    ("path", "form", "name"),
    [
        (f"{PAGE}/keys", {"kind": "api"}, "Radiator blog"),
        (f"{PAGE}/keys", {"kind": "akismet"}, "Radiator blog"),
        ("/sites", {"name": "  Kettle blog "}, "Kettle blog"),
    ],
)
def test_a_new_key_opens_its_site_is_shown_once_and_lies_in_no_cookie(
    services, client, path, form, name
):
    page = post(client, path, **form)
    key = shown_key(page)

    if form.get("kind") == "akismet":
        site, _ = authenticate_akismet(key, services)
    else:
        site = authenticate_site(key, services)
    assert (page.status_code, site.name) == (201, name)
    # Not below the settings, where nobody sees it.
    assert page.text.index(key) < page.text.index('id="settings"')
    assert key not in client.get(f"/sites/{site.id}").text
    assert page.headers["Cache-Control"] == "no-store"
    # A session of Flask's is signed and not encrypted: what lies in it can be read.
    cookies = [one for one in page.headers.getlist("Set-Cookie") if "slopsieve=" in one]
    values = [one.partition("=")[2].partition(";")[0] for one in cookies]
    read = SecureCookieSessionInterface().get_signing_serializer(client.application).loads
    for value in (*values, client.get_cookie("slopsieve").value):
        assert key not in repr(read(value))


def test_a_key_is_not_revoked_on_another_sites_page(services, client):
    issued = issue_key(OTHER_SITE, services, actor="test")

    answer = post(client, f"{PAGE}/keys/{issued.key.id}/revoke")

    assert answer.status_code == 404
    assert services.sites.list_keys(OTHER_SITE)[0].is_valid(services.clock())


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


def test_what_was_typed_of_a_person_is_neither_kept_norshown_messages(services, client):
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


def test_what_was_listed_again_meanwhile_is_not_brought_back(services, client):
    fill(client, kind="phrase", value="cheap pills")
    [entry] = in_force(services)
    post(client, f"/lists/{entry.id}/remove")
    fill(client, kind="phrase", value="cheap pills", show="allow")

    answer = post(client, f"/lists/{entry.id}/restore")

    assert answer.status_code == 422
    assert "This is on the other list: remove it there first." in words(answer)
    assert [one.effect for one in in_force(services)] == [Effect.ALLOW]


def test_everything_wrong_is_said_at_once_and_nothing_typed_is_lost(services, client):
    answer = fill(client, kind="network", value="10.0.0.0/7", reason=" ", expires="7")

    assert answer.status_code == 422
    assert "Nothing was added. Correct 2 fields." in words(answer)
    assert "This network is too wide: give at most an IPv4 /16 or an IPv6 /40." in words(answer)
    assert "Give a short reason." in words(answer)
    too_long = words(fill(client, kind="phrase", value="a" * 201))
    assert "This phrase is too long: give at most 200 characters." in too_long
    assert 'value="10.0.0.0/7"' in answer.text
    assert '<option value="7" selected>' in answer.text
    assert in_force(services) == []


def test_who_sees_one_site_lists_for_it_alone(services, client):
    there = make_entry(site_id=OTHER_SITE, label="pills.shop", reason="Of the other site")
    everywhere = make_entry(site_id=None, reason="Of all")
    services.list_entries.add([there, everywhere])
    services.list_entries.count_hits({everywhere.id: 7_531}, at=NOW)
    restrict(services, role=Role.MODERATOR, site_ids=(SITE,))

    page = client.get("/lists")

    assert "Of the other site" not in page.text
    assert "onerror" not in page.text
    assert "7,531" not in page.text
    assert "Of all" in page.text
    assert "Remove<" not in page.text
    assert post(client, f"/lists/{there.id}/remove").status_code == 404
    assert post(client, f"/lists/{everywhere.id}/remove").status_code == 403
    assert fill(client, site="site-2").status_code == 404
    assert "Choose one of your sites." in words(fill(client, site=""))
    assert fill(client, site=SITE).status_code == 303
    assert len(in_force(services)) == 3


URL = "https://blog.example/hook?token=hush"


def shown_messages(page):
    return re.findall(r'<p class="fine">Message (msg\S+)</p>', page.text)


def test_given_up_messages_come_first_and_say_of_what_where_to_and_what_went_wrong(
    services, client
):
    put_endpoint(services.endpoints, Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))
    waiting = put_delivery(services, DeliveryState.WAITING, event=EventKind.DECISION)
    dead = put_delivery(services, tries=2)
    put_delivery(services, DeliveryState.DELIVERED)

    page = client.get("/callbacks")
    said = words(page)

    assert shown_messages(page) == [dead.id, waiting.id]
    # Of an address the host alone is shown: the rest may hold a secret.
    assert "hush" not in page.text
    assert "Verdict to Radiator blog at blog.example" in said
    assert "The site answered with an error (500)." in said
    assert "2 attempts · written yesterday · given up 1 h ago" in said
    assert "next try in 31 min" in said


def test_all_are_tried_again_the_ones_not_shown_too(services, client):
    for _ in range(MESSAGES_SHOWN + 2):
        put_delivery(services)
    before = client.get("/callbacks")

    answer = post(client, "/callbacks/replay")
    page = client.get(answer.location)

    assert len(shown_messages(before)) == MESSAGES_SHOWN
    assert f"The newest {MESSAGES_SHOWN} are shown." in before.text
    assert f"{MESSAGES_SHOWN + 2} messages are tried again." in page.text
    assert "Given up" not in page.text


def test_a_platform_that_refused_its_token_says_so_and_is_tried_again(services, client):
    endpoint = Endpoint(
        site_id=SITE,
        url="https://api.github.com/graphql",
        secrets=(TOKEN,),
        form=DeliveryForm.GITHUB,
    )
    put_endpoint(services.endpoints, endpoint)
    before = words(client.get("/callbacks"))
    put_endpoint(services.endpoints, replace(endpoint, refused_at=NOW - timedelta(hours=1)))

    page = client.get("/callbacks")
    answer = post(client, f"/callbacks/platforms/{SITE}/resume")

    assert "Decisions of Radiator blog are applied at api.github.com GitHub" in before
    assert "refused" not in before
    assert "The platform refused the token 1 h ago" in words(page)
    assert TOKEN not in page.text
    assert answer.status_code == 303
    assert services.endpoints.get(SITE).refused_at is None
    [entry] = services.audit_log.recent(subject=SITE)
    assert (entry.actor, entry.act) == ("Ola", "resume applier")
