"""How a Valkey URL is told to kombu."""

from __future__ import annotations

from kombu import Connection

from service.tasks.broker import kombu_url


def test_a_unix_socket_keeps_its_path_its_password_and_its_database():
    url = kombu_url("unix://:p%2Fw%3A%40x@/data/valkey.sock?db=3")

    assert url == "redis+socket://:p%2Fw%3A%40x@/data/valkey.sock?virtual_host=3"


def test_a_unix_socket_without_a_password_has_no_credentials():
    assert kombu_url("unix:///run/valkey.sock") == "redis+socket:///run/valkey.sock?virtual_host=0"


def test_what_kombu_shows_of_a_url_hides_the_password():
    shown = Connection(kombu_url("unix://:topsecret@/data/valkey.sock")).as_uri()

    assert "topsecret" not in shown
