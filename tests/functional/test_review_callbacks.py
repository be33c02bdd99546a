"""Moderators see what sites could not be told, why, and have it tried again."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.domain.site import Site
from service.domain.user import Role
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import find_user
from service.web.pages.sites.callbacks_page import ATTEMPTS_SHOWN, MESSAGES_SHOWN
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import (
    keep,
    make_app,
    scripts_of,
    sign_in,
    signed_in,
    token_of,
)

URL = "https://blog.example/hook?token=hush"
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def client(services):
    return signed_in(services)


def _put(
    services, state=DeliveryState.DEAD, *, url=URL, tries=1, status=500, comment=None, **changes
):
    comment = keep(services, comment)
    values = {
        "id": services.common.new_id("msg"),
        "seq": 0,
        "site_id": SITE,
        "comment_id": comment.id,
        "event": EventKind.VERDICT,
        "form": DeliveryForm.STANDARD_WEBHOOK,
        "url": url,
        "payload": '{"type":"comment.judged"}',
        "created_at": NOW - timedelta(days=1),
    }
    delivery = Delivery(**(values | changes))
    services.telling.deliveries.add([delivery])
    for number in range(1, tries + 1):
        last = number == tries
        services.telling.deliveries.record(
            DeliveryAttempt(
                delivery_id=delivery.id,
                at=NOW - timedelta(hours=1),
                milliseconds=number,
                status=status,
                problem="the site answered with an error",
            ),
            state=state if last else DeliveryState.WAITING,
            next_try_at=NOW + timedelta(minutes=31) if state is DeliveryState.WAITING else None,
        )
    return delivery


def _shown(page):
    return re.findall(r'<p class="fine">Message (msg\S+)</p>', page.text)


def _words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def _replay(client, path, **changes):
    form = {"csrf_token": token_of(client.get("/callbacks")), **changes}
    return client.post(path, data=form)


def test_given_up_messages_come_first_then_waiting_ones_newest_first(services, client):
    waiting = [_put(services, DeliveryState.WAITING) for _ in range(2)]
    dead = [_put(services) for _ in range(2)]
    _put(services, DeliveryState.DELIVERED)

    page = client.get("/callbacks")

    assert page.status_code == 200
    assert _shown(page) == [one.id for one in (*dead[::-1], *waiting[::-1])]


def test_a_message_says_of_what_where_to_and_what_went_wrong(services, client):
    services.telling.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))
    _put(services, tries=2)
    _put(services, DeliveryState.WAITING, event=EventKind.DECISION)

    words = _words(client.get("/callbacks"))

    assert "Verdict to Radiator blog at blog.example" in words
    assert "The site answered with an error (500)." in words
    assert "2 attempts · written yesterday · given up 1 h ago" in words
    assert "Decision to Radiator blog" in words
    assert "next try in 31 min" in words


def test_of_an_address_only_the_host_is_shown(services, client):
    services.telling.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))
    _put(services)

    page = client.get("/callbacks")

    assert "blog.example" in page.text
    assert "hush" not in page.text
    assert "/hook" not in page.text
    assert 'href="https' not in page.text


def test_a_message_shows_the_host_it_goes_to_today(services, client):
    _put(services, url="https://old.example/hook")
    services.telling.endpoints.put(
        Endpoint(site_id=SITE, url="https://new.example/hook", secrets=("whsec_x",))
    )

    page = client.get("/callbacks")

    assert "new.example" in page.text
    assert "old.example" not in page.text


def test_a_message_to_a_site_without_a_callback_says_so(services, client):
    _put(services)

    assert "The site has no callback now" in _words(client.get("/callbacks"))


def test_the_log_holds_the_last_attempts_oldest_first(services, client):
    _put(services, tries=ATTEMPTS_SHOWN + 3)

    page = client.get("/callbacks")

    times = re.findall(r'<span class="ms">(\d+) ms</span>', page.text)
    assert times == [str(number) for number in range(4, ATTEMPTS_SHOWN + 4)]
    assert f"The last {ATTEMPTS_SHOWN} of them." in page.text


def test_one_message_is_tried_again(services, client):
    delivery, other = _put(services), _put(services)

    answer = _replay(client, f"/callbacks/{delivery.id}/replay")
    page = client.get(answer.location)

    assert answer.status_code == 303
    assert "One message is tried again." in page.text
    assert services.telling.deliveries.get(delivery.id).state is DeliveryState.WAITING
    assert services.telling.deliveries.get(other.id).state is DeliveryState.DEAD
    [entry] = services.common.audit_log.recent(subject=delivery.id)
    assert (entry.actor, entry.act) == ("Ola", "replay")


def test_all_are_tried_again_the_ones_not_shown_too(services, client):
    for _ in range(MESSAGES_SHOWN + 2):
        _put(services)
    before = client.get("/callbacks")

    answer = _replay(client, "/callbacks/replay")
    page = client.get(answer.location)

    assert len(_shown(before)) == MESSAGES_SHOWN
    assert f"The newest {MESSAGES_SHOWN} are shown." in before.text
    assert f"{MESSAGES_SHOWN + 2} messages are tried again." in page.text
    assert "Given up" not in page.text


def test_what_a_colleague_replayed_already_changes_nothing(services, client):
    delivery = _put(services, DeliveryState.WAITING)

    page = client.get(_replay(client, f"/callbacks/{delivery.id}/replay").location)

    assert "nothing was changed" in page.text
    assert services.telling.deliveries.get(delivery.id).attempts == 1
    assert services.common.audit_log.recent(subject=delivery.id) == []


def test_the_news_is_told_once(services, client):
    _put(services)
    _replay(client, "/callbacks/replay")

    first, second = client.get("/callbacks"), client.get("/callbacks")

    assert "tried again." in first.text
    assert "tried again." not in second.text


@pytest.mark.parametrize("token", ["", "forged"])
@pytest.mark.parametrize("path", ["/callbacks/replay", "/callbacks/{id}/replay"])
def test_a_form_without_its_token_is_refused(services, client, path, token):
    delivery = _put(services)

    page = client.post(path.format(id=delivery.id), data={"csrf_token": token})

    assert page.status_code == 403
    assert services.telling.deliveries.get(delivery.id).state is DeliveryState.DEAD


@pytest.mark.parametrize("delivery_id", ["unknown", "%00", "a%0ab", "x" * 3_000, "%ff", "{{7*7}}"])
def test_an_unknown_message_is_answered_by_a_page(client, delivery_id):
    page = _replay(client, f"/callbacks/{delivery_id}/replay")

    assert page.status_code == 404
    assert "Page not found" in page.text


def test_looking_at_a_replay_address_replays_nothing(services, client):
    delivery = _put(services)

    pages = [client.get("/callbacks/replay"), client.get(f"/callbacks/{delivery.id}/replay")]

    assert [page.status_code for page in pages] == [405, 405]
    assert services.telling.deliveries.get(delivery.id).state is DeliveryState.DEAD


def test_strangers_are_sent_to_sign_in_and_come_back(services):
    stranger = make_app(services).test_client()

    answer = stranger.get("/callbacks")

    assert answer.status_code == 303
    assert answer.location == "/sign-in?next=/callbacks"


def test_signing_in_leads_back_to_the_callbacks(services):
    signed_in(services)
    client = make_app(services).test_client()

    assert sign_in(client, next="/callbacks").location == "/callbacks"


def test_every_page_counts_in_its_header_what_was_given_up(services, client):
    none = client.get("/review")
    for _ in range(3):
        _put(services)

    some = client.get("/review")

    assert 'href="/callbacks"' in none.text
    assert "given up" not in none.text
    counted = (
        '<span class="count">3<span class="unseen-label"> callbacks given up or stopped</span>'
    )
    assert counted in some.text


def test_a_hundred_are_counted_as_many(services, client):
    for _ in range(100):
        _put(services, tries=1)

    assert '<span class="count">99+' in client.get("/review").text


def test_without_messages_the_page_says_whether_any_site_asks(services, client):
    nobody = client.get("/callbacks")
    services.telling.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))

    somebody = client.get("/callbacks")

    assert "No site has a callback" in nobody.text
    assert "All messages were delivered" in somebody.text
    assert "Try all again" not in nobody.text


@pytest.mark.parametrize(
    "url",
    [
        f"https://{HOSTILE}/",
        f"https://blog.example/{HOSTILE}",
        "https://[::1",
        "javascript:alert(1)",
        "https://pay\u202epal\u200b.example/",
        "",
    ],
)
def test_hostile_addresses_and_names_are_dead_text(url):
    site = make_site(name=f"Blog {HOSTILE} {{{{7*7}}}}")
    services = make_services(sites=[site])
    client = signed_in(services)
    _put(services, url=url)

    page = client.get("/callbacks")

    assert page.status_code == 200
    assert scripts_of(page.text) == []
    assert "<img" not in page.text
    assert "javascript:" not in page.text
    assert "{{7*7}}" in page.text
    assert not set(page.text) & set("\u202e\u200b")


def test_an_akismet_callback_is_shown_as_one(services, client):
    other = Site(id="site-2", name="Kettle blog", created_at=NOW)
    services.common.sites.add(other)
    _put(services, form=DeliveryForm.AKISMET, url="https://wp.example/?rest=1")

    words = _words(client.get("/callbacks"))

    assert "at wp.example Akismet" in words
    assert "no callback now" not in words


def test_the_page_is_as_strict_as_the_others(services, client):
    page, review = client.get("/callbacks"), client.get("/review")

    for name in ("Content-Security-Policy", "Cache-Control", "X-Frame-Options"):
        assert page.headers[name] == review.headers[name]
    assert scripts_of(page.text) == []
    assert " style=" not in page.text


@pytest.fixture
def limited(services, client):
    """A client of a moderator who sees the second of two sites alone."""
    services.common.sites.add(make_site(id="site-2", name="Kettle blog"))
    client = signed_in(services, "Mara")
    mara = find_user("Mara", services.accounts)
    set_access(
        mara.id,
        services.accounts,
        services.common,
        role=Role.MODERATOR,
        site_ids=["site-2"],
        actor="test",
    )
    return client


def test_who_sees_some_sites_sees_and_replays_their_messages_alone(services, limited):
    theirs = _put(services, comment=make_comment(site_id="site-2"), site_id="site-2")
    other = _put(services)

    page = limited.get("/callbacks")
    refused = _replay(limited, f"/callbacks/{other.id}/replay")
    _replay(limited, "/callbacks/replay")

    assert _shown(page) == [theirs.id]
    assert "Radiator blog" not in page.text
    assert "1<span" in page.text.replace(" ", "")
    assert refused.status_code == 404
    assert services.telling.deliveries.get(theirs.id).state is DeliveryState.WAITING
    assert services.telling.deliveries.get(other.id).state is DeliveryState.DEAD


def test_of_an_endpoint_of_another_site_nothing_is_said(services, limited):
    services.telling.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))

    assert "No site has a callback" in limited.get("/callbacks").text


TOKEN = "scoped-token-0123456789"


def _apply(services, **changes):
    endpoint = Endpoint(
        site_id=SITE,
        url="https://api.github.com/graphql",
        secrets=(TOKEN,),
        form=DeliveryForm.GITHUB,
    )
    services.telling.endpoints.put(replace(endpoint, **changes))


def test_a_platform_that_refused_its_token_says_so_and_what_to_do(services, client):
    _apply(services)
    before = _words(client.get("/callbacks"))
    _apply(services, refused_at=NOW - timedelta(hours=1))

    page = client.get("/callbacks")

    words = _words(page)
    assert "Decisions of Radiator blog are applied at api.github.com GitHub" in before
    assert "refused" not in before
    assert "The platform refused the token 1 h ago" in words
    assert "slopsieve callbacks apply" in words
    assert TOKEN not in page.text


def test_every_page_counts_a_platform_that_refused_its_token_beside_what_was_given_up(
    services, client
):
    _apply(services, refused_at=NOW)
    stopped = client.get("/review")
    _put(services)
    both = client.get("/review")
    page = client.get("/callbacks")

    counted = 'class="count">{}<span class="unseen-label"> callbacks given up or stopped</span>'
    assert counted.format(1) in stopped.text
    assert counted.format(2) in both.text
    assert "<title>Callbacks (1 given up)" in page.text
    assert 'Given up <span class="count">1</span>' in page.text


def test_a_build_hook_that_refused_says_so_and_what_to_do(services, client):
    url = "https://api.netlify.com/build_hooks/hush"
    _apply(services, url=url, secrets=(url,), form=DeliveryForm.BUILD_HOOK)
    before = _words(client.get("/callbacks"))
    _apply(services, url=url, form=DeliveryForm.BUILD_HOOK, refused_at=NOW - timedelta(hours=1))

    page = client.get("/callbacks")

    assert "Radiator blog is rebuilt by calls to api.netlify.com Build hook" in before
    assert "The build hook refused a call 1 h ago" in _words(page)
    assert "slopsieve callbacks build" in page.text
    assert "hush" not in page.text
    assert _replay(client, f"/callbacks/platforms/{SITE}/resume").status_code == 303
    assert services.telling.endpoints.get(SITE).refused_at is None


def test_whoever_manages_the_site_has_a_refused_token_tried_again(services, client):
    _apply(services, refused_at=NOW - timedelta(hours=1))

    answer = _replay(client, f"/callbacks/platforms/{SITE}/resume")

    assert answer.status_code == 303
    assert services.telling.endpoints.get(SITE).refused_at is None
    [entry] = services.common.audit_log.recent(subject=SITE)
    assert (entry.actor, entry.act) == ("Ola", "resume applier")


def test_a_moderator_sees_that_a_token_was_refused_and_may_not_resume(services, client):
    _apply(services, refused_at=NOW)
    moderator = signed_in(services, "Mara")
    mara = find_user("Mara", services.accounts)
    set_access(
        mara.id,
        services.accounts,
        services.common,
        role=Role.MODERATOR,
        site_ids=None,
        actor="test",
    )

    page = moderator.get("/callbacks")

    assert "The platform refused the token" in page.text
    assert "/resume" not in page.text
    assert _replay(moderator, f"/callbacks/platforms/{SITE}/resume").status_code == 403
    assert services.telling.endpoints.get(SITE).refused_at is not None


def test_who_does_not_see_a_site_does_not_see_its_platform(services, limited):
    _apply(services, refused_at=NOW)

    page = limited.get("/callbacks")
    assert "GitHub" not in page.text
    assert "given up or stopped" not in page.text
    assert _replay(limited, f"/callbacks/platforms/{SITE}/resume").status_code in (403, 404)


@pytest.mark.parametrize("site_id", ["unknown", "%00", "{{7*7}}"])
def test_an_unknown_platform_is_answered_by_a_page(client, site_id):
    assert _replay(client, f"/callbacks/platforms/{site_id}/resume").status_code == 404


def test_a_platform_that_rests_says_until_when(services, client):
    _apply(services, rests_until=NOW + timedelta(minutes=31))

    assert "Rate limit of the platform: next try in 31 min" in _words(client.get("/callbacks"))
