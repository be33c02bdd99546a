"""Moderators see what sites could not be told, why, and have it tried again."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.delivery import (
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.domain.user import Role
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import find_user
from service.web.pages.sites.callbacks_page import MESSAGES_SHOWN
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_site
from tests.functional.filled import put_delivery
from tests.functional.moderators import (
    signed_in,
    token_of,
    words,
)

URL = "https://blog.example/hook?token=hush"


def _shown(page):
    return re.findall(r'<p class="fine">Message (msg\S+)</p>', page.text)


def _replay(client, path, **changes):
    form = {"csrf_token": token_of(client.get("/callbacks")), **changes}
    return client.post(path, data=form)


def test_given_up_messages_come_first_then_waiting_ones_newest_first(services, client):
    waiting = [put_delivery(services, DeliveryState.WAITING) for _ in range(2)]
    dead = [put_delivery(services) for _ in range(2)]
    put_delivery(services, DeliveryState.DELIVERED)

    page = client.get("/callbacks")

    assert page.status_code == 200
    assert _shown(page) == [one.id for one in (*dead[::-1], *waiting[::-1])]


def test_a_message_says_of_what_where_to_and_what_went_wrong(services, client):
    services.telling.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))
    put_delivery(services, tries=2)
    put_delivery(services, DeliveryState.WAITING, event=EventKind.DECISION)

    page = client.get("/callbacks")
    said = words(page)

    # Of an address the host alone is shown: the rest may hold a secret.
    assert "hush" not in page.text
    assert "Verdict to Radiator blog at blog.example" in said
    assert "The site answered with an error (500)." in said
    assert "2 attempts · written yesterday · given up 1 h ago" in said
    assert "Decision to Radiator blog" in said
    assert "next try in 31 min" in said


def test_one_message_is_tried_again(services, client):
    delivery, other = put_delivery(services), put_delivery(services)

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
        put_delivery(services)
    before = client.get("/callbacks")

    answer = _replay(client, "/callbacks/replay")
    page = client.get(answer.location)

    assert len(_shown(before)) == MESSAGES_SHOWN
    assert f"The newest {MESSAGES_SHOWN} are shown." in before.text
    assert f"{MESSAGES_SHOWN + 2} messages are tried again." in page.text
    assert "Given up" not in page.text


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
    theirs = put_delivery(services, comment=make_comment(site_id="site-2"), site_id="site-2")
    other = put_delivery(services)

    page = limited.get("/callbacks")
    refused = _replay(limited, f"/callbacks/{other.id}/replay")
    _replay(limited, "/callbacks/replay")

    assert _shown(page) == [theirs.id]
    assert "Radiator blog" not in page.text
    assert "1<span" in page.text.replace(" ", "")
    assert refused.status_code == 404
    assert services.telling.deliveries.get(theirs.id).state is DeliveryState.WAITING
    assert services.telling.deliveries.get(other.id).state is DeliveryState.DEAD


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
    before = words(client.get("/callbacks"))
    _apply(services, refused_at=NOW - timedelta(hours=1))

    page = client.get("/callbacks")

    said = words(page)
    assert "Decisions of Radiator blog are applied at api.github.com GitHub" in before
    assert "refused" not in before
    assert "The platform refused the token 1 h ago" in said
    assert "slopsieve callbacks apply" in said
    assert TOKEN not in page.text


def test_whoever_manages_the_site_has_a_refused_token_tried_again(services, client):
    _apply(services, refused_at=NOW - timedelta(hours=1))

    answer = _replay(client, f"/callbacks/platforms/{SITE}/resume")

    assert answer.status_code == 303
    assert services.telling.endpoints.get(SITE).refused_at is None
    [entry] = services.common.audit_log.recent(subject=SITE)
    assert (entry.actor, entry.act) == ("Ola", "resume applier")
