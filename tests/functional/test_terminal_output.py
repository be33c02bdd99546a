"""What commands print in a narrow terminal: secrets whole, each on a line of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

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
_RUN = """
import json, sys
from service.cli import cli
for words in json.loads(sys.argv[1]):
    print("$", *words)
    cli.main(words, standalone_mode=False)
"""


def in_a_terminal(columns: int, command: list[str], env: dict[str, str]) -> str:
    """Run a command in a terminal of this width, and return what it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    started = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65_536):
            written += part
    except OSError:
        pass  # That is how Linux tells that the other side has closed.
    finally:
        os.close(ours)
    assert started.wait() == 0, written.decode()
    return written.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """A data folder, and the lines that the commands printed in a narrow terminal."""
    home = tmp_path_factory.mktemp("home")
    env = {**os.environ, "SLOPSIEVE_DATA_DIR": str(home)}
    env.pop("COLUMNS", None)
    command = [sys.executable, "-c", _RUN, json.dumps(_COMMANDS)]
    return home, in_a_terminal(40, command, env).splitlines()


def named(name: str, printed: list[str]) -> list[str]:
    """Return the values printed under a name, each from a line of its own."""
    return [line.partition(": ")[2].strip() for line in printed if line.startswith(f"{name}: ")]


def test_what_is_shown_once_is_whole_in_a_narrow_terminal(terminal):
    home, printed = terminal
    keys, akismet_keys = named("key", printed), named("akismet key", printed)
    first_password, _, reset_password = named("password", printed)
    hook_secret, *callback_secrets = named("secret", printed)

    with open_services(data_dir=str(home)) as services:
        garden = next(s for s in services.sites.all() if s.name == "Garden")
        by_key = [authenticate_site(key, services).name for key in keys]
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
    assert named("script", printed) == [tag, tag]


def test_nothing_that_was_written_elsewhere_steers_the_terminal(capsys):
    print_rows([{"reason": "a\x1b[2Jb\r\nc\u202ed"}])

    assert capsys.readouterr().out == "reason: a\ufffd[2Jb c\ufffdd\n"
