"""What commands print in a narrow terminal: secrets whole, each on a line of its own."""

from __future__ import annotations

import sys

import pytest

from service.cli import cli
from service.commands.output import print_rows
from service.domain.delivery import Platform
from service.moderation.accounts import authenticate_user
from service.moderation.sites import authenticate_akismet, authenticate_site
from service.web.webhooks.public import comment_box
from service.wiring import open_services

_COMMANDS = [
    ["sites", "add", "A blog with a rather long name", "--akismet"],
    ["sites", "add", "Garden"],
    ["sites", "add-key", "Garden"],
    ["sites", "add-akismet-key", "Garden"],
    ["sites", "rotate-key", "Garden"],
    ["users", "add", "mara"],
    ["users", "add", "jo"],
    ["users", "reset", "jo"],
    ["hooks", "add", "Garden", "static-form"],
    ["hooks", "add", "Garden", "standard"],
    ["callbacks", "set", "Garden", "https://blog.example/told"],
    ["callbacks", "rotate", "Garden"],
    ["sites", "list"],
    ["sites", "keys", "Garden"],
    ["users", "list"],
    ["hooks", "list"],
    ["callbacks", "sites"],
    ["models", "list"],
    ["audit"],
]


@pytest.fixture
def named(tmp_path, monkeypatch, capsys):
    """Return what the commands print under a name in a narrow terminal, each a line of its own."""
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for words in _COMMANDS:
        cli.main(words, standalone_mode=False)
    printed = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    return lambda name: [value.strip() for found, _, value in printed if found == name]


def test_what_is_shown_once_is_whole_in_a_narrow_terminal(named, tmp_path):
    first_password, _, reset_password = named("password")
    hook_secret, *callback_secrets = named("secret")

    with open_services(data_dir=str(tmp_path)) as services:
        garden = next(s for s in services.sites.all() if s.name == "Garden")
        by_key = [authenticate_site(key, services).name for key in named("key")]
        akismet_keys = named("akismet key")
        by_akismet_key = [authenticate_akismet(key, services)[0].name for key in akismet_keys]
        users = [
            authenticate_user(name, password, services).name
            for name, password in (("mara", first_password), ("jo", reset_password))
        ]
        hooks = {hook.platform: hook for hook in services.inbound.all(garden.id)}
        endpoint = services.endpoints.get(garden.id)

    assert by_key == ["A blog with a rather long name", "Garden", "Garden", "Garden"]
    assert by_akismet_key == ["A blog with a rather long name", "Garden"]
    assert users == ["mara", "jo"]
    assert hook_secret == hooks[Platform.STANDARD].secret
    assert set(callback_secrets) == set(endpoint.secrets)
    tag = comment_box(
        hooks[Platform.STATIC_FORM].id,
        service_url="https://slopsieve.example",
        post_url="https://blog.example/a-post/",
    )
    # When it is added, and in the list of hooks.
    assert named("script") == [tag, tag]


def test_nothing_that_was_written_elsewhere_steers_the_terminal(capsys):
    print_rows([{"reason": "a\x1b[2Jb\r\nc\u202ed"}])

    assert capsys.readouterr().out == "reason: a\ufffd[2Jb c\ufffdd\n"
