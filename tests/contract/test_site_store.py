"""Holds every site store to its contract."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.errors import ConflictError, NotFoundError
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.verdict import SiteRules
from service.ports.audit import AuditEntry
from service.stores.sql.tables import sites
from tests.contract.conftest import SITES
from tests.factories import NOW, SITE


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
        languages=("de",),
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

    assert settings == SiteSettings(mode=Mode.ENFORCE, ham_cutoff=0.1, languages=("de",))


def test_sites_are_listed_by_name(stores):
    early = Site(id=SiteId("s9"), name="A first one ♨", created_at=NOW)

    stores.sites.add(early)

    assert stores.sites.all() == [early, *SITES]


def test_a_taken_name_is_refused(stores):
    with pytest.raises(ConflictError):
        stores.sites.add(replace(SITES[0], id=SiteId("s9")))

    assert stores.sites.all() == list(SITES)


def test_of_settings_that_many_change_at_once_no_change_is_lost(stores):
    changes = [{"mode": Mode.ENFORCE}, {"undo_seconds": 7}, {"blog": "https://b.example/"}]

    with ThreadPoolExecutor(len(changes)) as pool:
        list(
            pool.map(
                lambda asked: stores.sites.change_settings(
                    SITE, lambda present: replace(present, **asked)
                ),
                changes,
            )
        )

    expected = SiteSettings(mode=Mode.ENFORCE, undo_seconds=7, blog="https://b.example/")
    assert stores.sites.get(SITE).settings == expected


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


def test_a_key_is_found_by_its_hash(stores):
    key = make_key(expires_at=NOW + timedelta(days=1))
    stores.sites.add_key(key)

    assert stores.sites.find_key(key.secret_sha256) == (key, stores.sites.get(key.site_id))
    assert stores.sites.find_key("0" * 64) is None


def test_keys_are_listed_oldest_first_with_the_revoked_ones(stores):
    newer = make_key("key-1", created_at=NOW + timedelta(days=1))
    older = make_key("key-2", revoked_at=NOW)
    elsewhere = make_key("key-3", site_id=SITES[1].id)
    for key in (newer, older, elsewhere):
        stores.sites.add_key(key)

    assert stores.sites.list_keys(SITE) == [older, newer]


def test_a_keys_ends_are_set_one_by_one(stores):
    key = make_key()
    stores.sites.add_key(key)
    soon, now = NOW + timedelta(hours=1), NOW

    expiring = stores.sites.end_key(key.id, expires_at=soon)
    revoked = stores.sites.end_key(key.id, revoked_at=now)
    untouched = stores.sites.end_key(key.id)

    assert expiring == replace(key, expires_at=soon)
    assert revoked == untouched == replace(key, expires_at=soon, revoked_at=now)
    assert stores.sites.find_key(key.secret_sha256) == (revoked, stores.sites.get(key.site_id))


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

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(end, ids)) == [False, True]
    assert sum(key.is_valid(NOW) for key in stores.sites.list_keys(SITE)) == 1
