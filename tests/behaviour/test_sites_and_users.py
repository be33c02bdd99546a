"""How sites and moderators get in, and figures of sites."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.errors import ConflictError, InvalidInputError, NotAuthenticatedError
from service.domain.figures import FigureCounts, Scope
from service.moderation.accounts import add_user, change_password
from service.moderation.figures import FiguresCache
from service.moderation.sites import (
    add_site,
    authenticate_site,
    change_site_settings,
    issue_key,
    register_blog,
    rotate_keys,
)
from tests.factories import NOW, SITE
from tests.fakes import make_services
from tests.functional.moderators import keep, review_queue


def test_a_rotated_key_works_until_the_overlap_has_passed(services, clock):
    site, [old] = add_site("Garden", services, actor="test")
    new = rotate_keys(site.id, services, actor="test", overlap=timedelta(days=7))

    clock.advance(days=6)
    both = [authenticate_site(key.secret, services).id for key in (old, new)]
    clock.advance(days=1)

    assert both == [site.id, site.id]
    assert authenticate_site(new.secret, services).id == site.id
    with pytest.raises(NotAuthenticatedError):
        authenticate_site(old.secret, services)


def test_a_site_gets_no_more_keys_than_anybody_can_keep_track_of(services):
    site, _ = add_site("Garden", services, actor="test")
    for _ in range(49):
        issue_key(site.id, services, actor="test")

    with pytest.raises(ConflictError, match="revoke"):
        issue_key(site.id, services, actor="test")


@pytest.mark.parametrize("name", ["وبلاگ کتاب\u200cها", "Wohnen 🏳️\u200d🌈", "ක්\u200dරීඩා"])
def test_a_name_has_the_joiners_that_it_is_spelt_with(services, name):
    site, _ = add_site(name, services, actor="test")
    user, _ = add_user(name, services, actor="test")

    assert (site.name, user.name) == (name, name)


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\nb", "a\u200db", "ada\u200c", "a\u00ad"])
def test_an_unusable_site_name_is_refused_with_a_remedy(services, name):
    with pytest.raises(InvalidInputError) as caught:
        add_site(name, services, actor="test")

    assert caught.value.problems[0].field == "name"
    assert caught.value.problems[0].remedy


def test_everything_wrong_with_a_new_password_is_named_at_once(services):
    user, _ = add_user("mara", services, actor="test")

    with pytest.raises(InvalidInputError) as caught:
        change_password(user, services, old="wrong", new="short")

    assert [problem.field for problem in caught.value.problems] == ["old", "new"]


def test_a_new_mode_reorders_what_waits():
    services = make_services(judges=False)
    kept = [keep(services, p_spam=p_spam) for p_spam in (0.2, 0.8)]

    change_site_settings(SITE, lambda now: replace(now, mode=Mode.OBSERVE), services, actor="test")

    assert review_queue(services) == kept[::-1]


def test_a_client_that_names_its_blog_puts_back_nothing_that_an_owner_has_just_set(services):
    remembered = services.sites.get(SITE)
    change_site_settings(SITE, lambda now: replace(now, mode=Mode.ENFORCE), services, actor="owner")

    site = register_blog(remembered, "https://blog.example/", services, actor="client")
    again = register_blog(remembered, "https://other.example/", services, actor="client")

    assert (site.settings.mode, site.settings.blog) == (Mode.ENFORCE, "https://blog.example/")
    assert again == site
    entries = [(one.actor, one.detail) for one in services.audit_log.recent(subject=SITE)]
    assert entries == [
        ("client", "blog: none to https://blog.example/"),
        ("owner", "mode: hold to enforce"),
    ]


@pytest.fixture
def asked(services):
    """Return the scopes of all figures that are counted."""
    scopes = []
    services.figures.count = lambda scope: scopes.append(scope) or FigureCounts()
    return scopes


def test_days_are_whole_utc_days_with_today_among_them(services, asked):
    figures = FiguresCache(services).read(None, days=7)

    assert asked == [Scope(site_ids=None, since=NOW.replace(hour=0) - timedelta(days=6), until=NOW)]
    assert [one.day for one in figures.days] == [
        NOW.date() - timedelta(days=ago) for ago in range(6, -1, -1)
    ]


def test_the_same_figures_are_counted_once_a_minute(services, asked):
    cache = FiguresCache(services)
    b_and_a, a_and_b = (SiteId("b"), SiteId("a")), (SiteId("a"), SiteId("b"))

    cache.read(b_and_a, days=7)
    services.clock.advance(seconds=59)
    cache.read(a_and_b, days=7)
    asked_at_once = len(asked)
    services.clock.advance(seconds=2)
    cache.read(a_and_b, days=7)

    assert (asked_at_once, len(asked)) == (1, 2)
