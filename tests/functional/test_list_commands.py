"""The commands for what is allowed and blocked, as an operator types them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.domain.errors import InvalidInputError, NotFoundError


@pytest.fixture
def run(tmp_path):
    """Run a command on a data folder of its own; return its output, or its JSON lines."""

    def run(*words: str):
        done = CliRunner().invoke(cli, [*words, "--data-dir", str(tmp_path)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if "--json" in words:
            return [json.loads(line) for line in done.stdout.splitlines()]
        return done.output

    return run


def test_entries_are_added_listed_and_removed(run):
    (site,) = run("sites", "add", "Garden", "--json")
    words = ("lists", "add", "block", "domain", "pills-direct.shop", "--reason", "Sells pills")
    (here,) = run(*words, "--site", "Garden", "--days", "7", "--json")
    (everywhere,) = run(*words, "--json")

    listed = run("lists", "list", "--json")
    said = run("lists", "remove", here["entry_id"])

    assert [row["entry_id"] for row in listed] == [everywhere["entry_id"], here["entry_id"]]
    assert (here["site_id"], everywhere["site_id"]) == (site["site_id"], "all")
    assert here["expires_at"]
    assert everywhere["expires_at"] is None
    assert "is removed" in said
    (left,) = run("lists", "list", "--json")
    (ended,) = run("lists", "list", "--ended", "--json")
    assert (left["entry_id"], ended["entry_id"]) == (everywhere["entry_id"], here["entry_id"])


def test_of_an_e_mail_only_the_beginning_of_its_hash_is_shown(run):
    run("lists", "add", "allow", "email", "mara@example.org", "--reason", "A friend")

    listed = run("lists", "list")

    assert "mara" not in listed
    assert "A friend" in listed


def test_what_cannot_be_listed_is_refused(run):
    with pytest.raises(InvalidInputError):
        run("lists", "add", "block", "domain", "co.uk", "--reason", "All of them")
    with pytest.raises(NotFoundError):
        run("lists", "add", "block", "phrase", "pills", "--reason", "Why", "--site", "Nowhere")
    with pytest.raises(NotFoundError):
        run("lists", "remove", "ent_unknown")
