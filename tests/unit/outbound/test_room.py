"""A chat room is told under the guard of callbacks, in the one shape that rooms take."""

from __future__ import annotations

import ipaddress
import json

import pytest

from service.outbound.digests import WebhookRoom
from tests.sites import running_site, with_status
from tests.unit.outbound.conftest import make_notifier

LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


def test_a_room_is_told_in_one_line_of_json_that_commands_nobody():
    with running_site() as site:
        notifier = make_notifier(site, allow_networks=[LOOPBACK])
        room = WebhookRoom(f"http://127.0.0.1:{site.port}/hooks/secret", notifier)

        said = room.post("3 comments wait <!channel> & more")

        [request] = site.received
    assert said.problem is None
    assert request.line == "POST /hooks/secret HTTP/1.1"
    assert json.loads(request.body) == {"text": "3 comments wait &lt;!channel&gt; &amp; more"}


@pytest.mark.parametrize("status", [500, 429, 302])
def test_a_room_that_answers_otherwise_has_not_taken_it(status):
    with running_site(answer=with_status(status)) as site:
        notifier = make_notifier(site, allow_networks=[LOOPBACK])

        said = WebhookRoom(f"http://127.0.0.1:{site.port}/", notifier).post("3 comments wait")

    assert said.problem
    assert said.retry
