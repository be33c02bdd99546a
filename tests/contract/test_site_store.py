"""Holds every store of sites, endpoints, inbound hooks and hidden comments to its contract."""

import re
import time
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy import func, select

from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.delivery import (
    Applied,
    DeliveryForm,
    Endpoint,
    EventKind,
    InboundHook,
    Platform,
)
from service.domain.errors import ConflictError, NotFoundError
from service.domain.rules import SiteRules
from service.domain.site import Site, SiteKey, SiteSettings
from service.ports.audit import AuditEntry
from service.stores.sql.tables import inbound_seen, sites
from tests.contract.conftest import SITES, at_once
from tests.factories import NOW, SITE, put_endpoint


def make_key(key_id: str = "key-1", **changes) -> SiteKey:
    values = {
        "id": key_id,
        "site_id": SITE,
        "hint": "ss_abc",
        "secret_sha256": f"{key_id:0>64}",
        "created_at": NOW,
    }
    return SiteKey(**(values | changes))


def test_every_setting_of_a_site_comes_back_as_it_was(stores):
    settings = SiteSettings(
        explains_spam=True,
        mode=Mode.OBSERVE,
        ham_cutoff=0.25,
        spam_cutoff=0.75,
        holds_unsure=False,
        reports_decide=True,
        rejects_campaigns=True,
        blog="https://heizung.example/blog",
        undo_seconds=7,
        learns=False,
        learns_since=NOW,
        public_feed=True,
        rules=SiteRules(max_links=2, closed_posts=("https://blog.example/p/1",)),
    )
    untouched = [
        field.name
        for field in fields(SiteSettings)
        if getattr(settings, field.name) == getattr(SiteSettings(), field.name)
    ]

    answered = stores.sites.change_settings(SITE, lambda _: settings)

    assert untouched == []
    assert answered == (SITES[0], replace(SITES[0], settings=settings))
    assert stores.sites.get(SITE).settings == settings


@pytest.mark.parametrize("unknown", [{}, {"a setting of next year": 1}])
def test_settings_of_another_version_are_read_with_the_defaults_of_this_one(stores, unknown):
    written = {"mode": "enforce", "ham_cutoff": 0.1, "spam_cutoff": None, "languages": ["de"]}
    with stores.engine.begin() as connection:
        connection.execute(sa.update(sites).values(settings=written | unknown))

    settings = stores.sites.get(SITE).settings

    assert settings == SiteSettings(mode=Mode.ENFORCE, ham_cutoff=0.1)


def test_sites_are_listed_by_name_and_a_taken_name_is_refused(stores):
    early = Site(id=SiteId("s9"), name="A first one ♨", created_at=NOW)

    stores.sites.add(early)
    with pytest.raises(ConflictError):
        stores.sites.add(replace(SITES[0], id=SiteId("s8")))

    assert stores.sites.all() == [early, *SITES]


def test_of_settings_that_many_change_at_once_no_change_is_lost(stores):
    changes = {"mode": Mode.ENFORCE, "undo_seconds": 7, "blog": "https://b.example/"}

    def change(name, value):
        stores.sites.change_settings(SITE, lambda present: replace(present, **{name: value}))

    at_once(*(partial(change, *one) for one in changes.items()))

    assert stores.sites.get(SITE).settings == SiteSettings(**changes)


def test_a_change_of_settings_is_kept_with_its_entry_in_the_log_or_not_at_all(stores):
    def act(before, after):
        detail = f"{before.undo_seconds} to {after.undo_seconds}"
        return AuditEntry(at=NOW, actor="ada", act="change settings", subject=SITE, detail=detail)

    def refuse(*_):
        raise ConflictError("not so")

    stores.sites.change_settings(SITE, lambda _: SiteSettings(undo_seconds=7), act=act)
    with pytest.raises(ConflictError):
        stores.sites.change_settings(SITE, refuse, act=act)
    with pytest.raises(ConflictError):
        stores.sites.change_settings(SITE, lambda _: SiteSettings(), act=refuse)

    assert stores.sites.get(SITE).settings.undo_seconds == 7
    assert [entry.detail for entry in stores.audit_log.recent()] == ["30 to 7"]


def test_an_unknown_site_is_not_found(stores):
    nobody = SiteId("nobody")

    with pytest.raises(NotFoundError):
        stores.sites.get(nobody)
    with pytest.raises(NotFoundError):
        stores.sites.change_settings(nobody, lambda _: SiteSettings())
    with pytest.raises(NotFoundError):
        stores.sites.add_key(make_key(site_id=nobody))
    with pytest.raises(NotFoundError):
        stores.applied.put(replace(HIDDEN, site_id=nobody))


def test_a_key_is_found_by_its_hash_and_revoked_whenever_it_expires(stores):
    key = make_key(expires_at=NOW + timedelta(hours=1))
    stores.sites.add_key(key)
    found = stores.sites.find_key(key.secret_sha256)

    revoked = stores.sites.end_key(key.id, revoked_at=NOW)

    assert found == (key, stores.sites.get(key.site_id))
    assert revoked == replace(key, revoked_at=NOW)
    assert stores.sites.find_key(key.secret_sha256) == (revoked, stores.sites.get(key.site_id))
    assert stores.sites.find_key("0" * 64) is None
    with pytest.raises(NotFoundError):
        stores.sites.end_key("no", revoked_at=NOW)


def test_of_keys_that_end_each_other_at_once_one_stays(stores):
    ids = ["key-1", "key-2"]
    for key_id in ids:
        stores.sites.add_key(make_key(key_id))

    def check(keys: list[SiteKey]) -> None:
        time.sleep(0.05)
        if sum(key.is_valid(NOW) for key in keys) < 2:
            raise ConflictError("the last one")

    def end(key_id: str) -> bool:
        try:
            return bool(stores.sites.end_key(key_id, revoked_at=NOW, check=check))
        except ConflictError:
            return False

    assert sorted(at_once(*(partial(end, key_id) for key_id in ids))) == [False, True]
    assert sum(key.is_valid(NOW) for key in stores.sites.list_keys(SITE)) == 1


ENDPOINT = Endpoint(
    site_id=SITE,
    url="https://blog.example/hooks?name=käse",
    secrets=("whsec_bmV3", "whsec_b2xk"),
)


def test_an_endpoint_comes_back_as_it_was_put_last_until_it_is_removed(stores):
    first = replace(ENDPOINT, events=(EventKind.DECISION, EventKind.VERDICT))
    other = replace(ENDPOINT, url="https://blog.example/new", secrets=("whsec_bmV3",), events=())

    for endpoint in (first, other):
        put_endpoint(stores.endpoints, endpoint)

        assert stores.endpoints.get(SITE) == endpoint
    for _ in range(2):
        stores.endpoints.remove(SITE)
    assert stores.endpoints.get(SITE) is None


def test_an_endpoint_is_changed_in_view_of_the_present_one_or_not_at_all(stores):
    put_endpoint(stores.endpoints, ENDPOINT)
    act = AuditEntry(at=NOW, actor="ada", act="change callback", subject=SITE)

    def refuse(present):
        raise ConflictError(present.url)

    with pytest.raises(ConflictError, match=re.escape(ENDPOINT.url)):
        stores.endpoints.change(SITE, refuse, act=act)
    changed = stores.endpoints.change(SITE, lambda present: replace(present, events=()))

    assert changed == stores.endpoints.get(SITE) == replace(ENDPOINT, events=())
    assert stores.audit_log.recent() == []
    with pytest.raises(NotFoundError):
        stores.endpoints.change(SiteId("no"), lambda _: ENDPOINT)


UNTIL = NOW + timedelta(seconds=60)


@pytest.fixture
def platform(stores) -> Endpoint:
    """Give the site's endpoint at a platform."""
    endpoint = replace(ENDPOINT, form=DeliveryForm.GITHUB, secrets=("token",))
    put_endpoint(stores.endpoints, endpoint)
    return endpoint


def test_a_pause_brings_back_no_rest_that_was_kept_before_a_longer_one(stores, platform):
    put_endpoint(stores.endpoints, replace(platform, rests_until=NOW))
    read = stores.endpoints.get(SITE)
    later = NOW + timedelta(minutes=2)

    stores.endpoints.pause(read, rests_until=later)
    stores.endpoints.pause(read, refused_at=NOW)
    stores.endpoints.pause(read, rests_until=NOW + timedelta(minutes=1))

    assert stores.endpoints.get(SITE) == replace(platform, refused_at=NOW, rests_until=later)


def test_a_new_endpoint_ends_a_pause_that_a_late_answer_does_not_bring_back(stores, platform):
    new = replace(platform, secrets=("another",))
    stores.endpoints.pause(platform, refused_at=NOW)

    put_endpoint(stores.endpoints, new)
    stores.endpoints.pause(platform, refused_at=NOW)

    assert stores.endpoints.get(SITE) == new


def test_one_of_several_callers_begins_and_nobody_else_before_its_rest_has_passed(stores, platform):
    began = [stores.endpoints.begin_call(platform, at=NOW, until=UNTIL) for _ in range(2)]
    stores.endpoints.pause(platform, called_at=NOW)
    kept = stores.endpoints.get(SITE)
    later = stores.endpoints.begin_call(platform, at=UNTIL, until=UNTIL + timedelta(seconds=60))

    assert (began, later) == ([True, False], True)
    assert kept == replace(platform, called_at=NOW, rests_until=UNTIL)


def test_no_call_begins_at_what_refused_or_was_replaced_or_removed(stores, platform):
    began = []
    put_endpoint(stores.endpoints, replace(platform, secrets=("another",)))
    began.append(stores.endpoints.begin_call(platform, at=NOW, until=UNTIL))
    put_endpoint(stores.endpoints, platform)
    stores.endpoints.pause(platform, refused_at=NOW)
    began.append(stores.endpoints.begin_call(platform, at=NOW, until=UNTIL))
    stores.endpoints.remove(SITE)
    began.append(stores.endpoints.begin_call(platform, at=NOW, until=UNTIL))

    assert began == [False] * 3


WINDOW = timedelta(minutes=10)


HOOK = InboundHook(
    id="hook-1",
    site_id=SITE,
    platform=Platform.CORAL,
    secret="a secret that only the platform knows",
    created_at=NOW,
)


def remember(stores, delivery_id: str, *, hook_id: str = "hook-1", minutes: float = 0) -> bool:
    at = NOW + timedelta(minutes=minutes)
    return stores.inbound.remember(hook_id, delivery_id, at=at, forget=at - WINDOW)


@pytest.fixture
def inbound(stores):
    """Give a store of hooks that knows two."""
    for hook_id in ("hook-1", "hook-2"):
        stores.inbound.add(replace(HOOK, id=hook_id))
    return stores.inbound


@pytest.mark.parametrize("platform", Platform)
def test_a_hook_comes_back_as_it_was(stores, platform):
    hook = replace(HOOK, platform=platform, secret="süß\x00\ud800")

    stores.inbound.add(hook)

    assert stores.inbound.get(hook.id) == hook
    assert "süß" not in repr(hook)


def test_hooks_are_listed_oldest_first_of_one_site_or_of_all(stores):
    newer = replace(HOOK, id="a", created_at=NOW + timedelta(days=1))
    older = replace(HOOK, id="b")
    elsewhere = replace(HOOK, id="c", site_id=SiteId("site-2"), created_at=NOW - timedelta(days=1))
    for hook in (newer, older, elsewhere):
        stores.inbound.add(hook)

    assert stores.inbound.all() == [elsewhere, older, newer]
    assert stores.inbound.all(SITE) == [older, newer]
    assert stores.inbound.all(SiteId("no")) == []


def test_a_hook_of_an_unknown_site_or_a_taken_id_is_refused(stores):
    stores.inbound.add(HOOK)

    with pytest.raises(NotFoundError):
        stores.inbound.add(replace(HOOK, id="hook-2", site_id=SiteId("no")))
    with pytest.raises(ConflictError):
        stores.inbound.add(replace(HOOK, secret="another secret"))

    assert stores.inbound.all() == [HOOK]


def test_a_revoked_hook_stays_and_says_since_when(stores):
    stores.inbound.add(HOOK)
    later = NOW + timedelta(days=1)

    answers = [stores.inbound.revoke("hook-1", at=at) for at in (NOW, later)]

    assert answers == [replace(HOOK, revoked_at=NOW)] * 2
    assert stores.inbound.get("hook-1") == answers[0]


@pytest.mark.usefixtures("inbound")
def test_a_delivery_is_new_once_for_its_hook_until_its_time_is_over(stores):
    answers = [remember(stores, "d1", minutes=minutes) for minutes in (0, 9, 10, 10.01, 20)]

    # A repeat does not lengthen how long it is remembered.
    assert answers == [True, False, False, True, False]
    assert remember(stores, "d2")
    assert remember(stores, "d1", hook_id="hook-2")


def test_what_was_remembered_has_been_seen_and_asking_remembers_nothing(stores, inbound):
    before = inbound.has_seen("hook-1", "d1", since=NOW)

    is_new = remember(stores, "d1")

    assert (before, is_new) == (False, True)
    assert inbound.has_seen("hook-1", "d1", since=NOW)
    assert not inbound.has_seen("hook-1", "d1", since=NOW + timedelta(minutes=1))
    assert not inbound.has_seen("hook-1", "d2", since=NOW)
    assert not inbound.has_seen("hook-2", "d1", since=NOW)


@pytest.mark.usefixtures("inbound")
def test_ids_of_any_length_and_code_points_are_told_apart(stores):
    ids = ["", " ", "x" * 100_000, "x" * 100_001, "\x00", "\ud800", "é", "e\u0301"]

    answers = [[remember(stores, one) for one in ids] for _ in range(2)]

    assert answers == [[True] * len(ids), [False] * len(ids)]


@pytest.mark.usefixtures("inbound")
def test_what_is_forgotten_takes_no_room(stores):
    for hook_id in ("hook-1", "hook-2"):
        for number in range(20):
            remember(stores, f"d{number}", hook_id=hook_id)

    remember(stores, "later", minutes=60)

    with stores.engine.connect() as connection:
        query = select(inbound_seen.c.hook_id, func.count()).group_by(inbound_seen.c.hook_id)
        left = {row[0]: row[1] for row in connection.execute(query)}
    assert left == {"hook-1": 1, "hook-2": 20}


@pytest.mark.usefixtures("inbound")
@pytest.mark.parametrize("forgotten", [False, True])
def test_of_several_who_bring_a_delivery_at_once_one_hears_that_it_is_new(stores, forgotten):
    for number in range(20):
        name, minutes = ("the same", number * 11) if forgotten else (f"d{number}", number * 3)

        answers = at_once(*[partial(remember, stores, name, minutes=minutes)] * 4)

        assert sum(answers) == 1


KEY = "github:IC_kwDO7"
HIDDEN = Applied(site_id=SITE, site_comment_id=KEY)


def test_what_is_hidden_is_known_as_it_was_kept_last_until_it_is_forgotten(stores):
    certain = replace(HIDDEN, certain=True)
    for one in (HIDDEN, certain):
        stores.applied.put(one)
    known = stores.applied.get(SITE, KEY)
    others = [stores.applied.get(SITE, f"{KEY}8"), stores.applied.get(SiteId("site-2"), KEY)]

    for _ in range(2):
        stores.applied.remove(SITE, KEY)

    assert known == certain
    assert others == [None, None]
    assert stores.applied.get(SITE, KEY) is None
