"""Posts to a chat room's webhook, under the same guard as callbacks."""

from __future__ import annotations

import json

from service.domain.digest import Sent
from service.outbound.sender import HttpSiteNotifier

_SIGNS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class WebhookRoom:
    """Posts to one address; see `Room`. Safe to share between threads.

    `{"text": …}` is what Slack and Mattermost take, Discord under its address with `/slack` at the
    end, and Matrix through its bridge for webhooks.
    """

    def __init__(self, url: str, notifier: HttpSiteNotifier) -> None:
        self._url = url
        self._notifier = notifier

    def post(self, text: str) -> Sent:
        """See `Room.post`."""
        # Slack reads <!channel> and its like as commands.
        body = json.dumps({"text": text.translate(_SIGNS)}).encode()
        said = self._notifier.call(self._url, {"Content-Type": "application/json"}, body)
        may_have_arrived = said.answer is None and said.was_sent
        retry = bool(said.problem) and not may_have_arrived and not said.hopeless
        return Sent(problem=said.problem, retry=retry)
