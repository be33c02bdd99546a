"""The commands that hand out Akismet keys and choose what their clients are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.commands.sites import sites_group
from service.domain.errors import InvalidInputError


@pytest.fixture
def run(tmp_path: Path):
    """Runs `slopsieve sites …` on a database of its own and returns what was printed."""

    def run(*arguments: str) -> Result:
        given = [arguments[0], *arguments[1:], "--data-dir", str(tmp_path)]
        return CliRunner().invoke(sites_group, given, catch_exceptions=True)

    return run


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_existing_site_gets_an_akismet_key_and_loses_it_by_name(run):
    rows(run("add", "Kettle blog", "--json"))

    (row,) = rows(run("add-akismet-key", "Kettle blog", "--json"))
    revoked = run("revoke-key", row["akismet_key_id"])

    assert revoked.exit_code == 0
    listed = {key["key_id"]: key for key in rows(run("keys", "Kettle blog", "--json"))}
    assert listed[row["akismet_key_id"]]["valid"] is False
    assert row["akismet_key"] not in json.dumps(listed)


def test_what_two_word_clients_are_told_is_a_setting(run):
    rows(run("add", "Kettle blog", "--json"))

    (before,) = rows(run("list", "--json"))
    words = "--passes-unsure --reports-decide --rejects-campaigns --blog https://kettle.example/"
    (changed,) = rows(run("set", "Kettle blog", *words.split(), "--json"))
    (untouched,) = rows(run("set", "Kettle blog", "--mode", "enforce", "--json"))
    words = "--holds-unsure --reports-ask --asks-about-campaigns"
    (back,) = rows(run("set", "Kettle blog", *words.split(), "--json"))

    settings = ("holds_unsure", "reports_decide", "blog", "rejects_campaigns")
    assert [before[s] for s in settings] == [True, False, None, False]
    assert [changed[s] for s in settings] == [False, True, "https://kettle.example/", True]
    assert [untouched[s] for s in settings] == [False, True, "https://kettle.example/", True]
    assert [back[s] for s in settings] == [True, False, "https://kettle.example/", False]


def test_a_blog_that_is_no_address_is_refused_by_name(run):
    rows(run("add", "Kettle blog", "--json"))

    refused = run("set", "Kettle blog", "--blog", "kettle")

    assert isinstance(refused.exception, InvalidInputError)
    assert [problem.field for problem in refused.exception.problems] == ["--blog"]
