"""Moderators see what sites could not be told, why, and have it tried again."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from service.domain.delivery import DeliveryForm, DeliveryState, Endpoint, EventKind
from service.web.pages.callbacks import MESSAGES_SHOWN
from tests.factories import NOW, SITE
from tests.functional.filled import put_delivery
from tests.functional.moderators import post, words

URL = "https://blog.example/hook?token=hush"


def _shown(page):
    return re.findall(r'<p class="fine">Message (msg\S+)</p>', page.text)


def test_given_up_messages_come_first_and_say_of_what_where_to_and_what_went_wrong(
    services, client
):
    services.endpoints.put(Endpoint(site_id=SITE, url=URL, secrets=("whsec_x",)))
    waiting = put_delivery(services, DeliveryState.WAITING, event=EventKind.DECISION)
    dead = put_delivery(services, tries=2)
    put_delivery(services, DeliveryState.DELIVERED)

    page = client.get("/callbacks")
    said = words(page)

    assert _shown(page) == [dead.id, waiting.id]
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

    assert len(_shown(before)) == MESSAGES_SHOWN
    assert f"The newest {MESSAGES_SHOWN} are shown." in before.text
    assert f"{MESSAGES_SHOWN + 2} messages are tried again." in page.text
    assert "Given up" not in page.text


TOKEN = "scoped-token-0123456789"


def test_a_platform_that_refused_its_token_says_so_and_is_tried_again(services, client):
    endpoint = Endpoint(
        site_id=SITE,
        url="https://api.github.com/graphql",
        secrets=(TOKEN,),
        form=DeliveryForm.GITHUB,
    )
    services.endpoints.put(endpoint)
    before = words(client.get("/callbacks"))
    services.endpoints.put(replace(endpoint, refused_at=NOW - timedelta(hours=1)))

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
