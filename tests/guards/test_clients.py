"""Holds that the clients are what the API's description makes them."""

from __future__ import annotations

from service.web.clients.files import TEMPLATES
from service.web.clients.generate import describe_here, write_clients


def test_the_clients_are_written_from_the_description_as_it_is():
    written = write_clients(describe_here())

    behind = [path.name for path, text in written.items() if path.read_text("utf-8") != text]

    assert set(written) == set(TEMPLATES)
    assert behind == [], "run `make clients`"
