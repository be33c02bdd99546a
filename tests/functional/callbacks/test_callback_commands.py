"""`slopsieve callbacks`: where sites are told, what was given up, and replaying it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from service.commands.platforms import callbacks_group
from service.domain.comment import CommentId
from service.moderation.judging import judge_batch
from service.moderation.sites import add_site
from service.wiring import open_services
from tests.factories import make_comment
from tests.fakes import deliver_all, submit_to

URL = "https://blog.example/hook"


@pytest.fixture
def folder(tmp_path):
    path = str(tmp_path / "data")
    with open_services(data_dir=path) as services:
        add_site("Radiator blog", services, actor="test")
    return path


def call(folder, *arguments):
    return CliRunner().invoke(callbacks_group, [*arguments, "--data-dir", folder])


def rows(folder, *arguments):
    done = call(folder, *arguments, "--json")
    assert done.exception is None, done.output
    return [json.loads(line) for line in done.output.splitlines()]


@pytest.fixture
def given_up(folder):
    """A folder with two messages that could never be delivered."""
    rows(folder, "set", "Radiator blog", URL)
    with open_services(data_dir=folder) as services:
        [site] = services.sites.all()
        comment = make_comment(id=CommentId(services.new_id("com")), site_id=site.id)
        submit_to(services, comment)
        judge_batch([comment.id], services)
        services.endpoints.remove(site.id)
        deliver_all(services)
    rows(folder, "set", "Radiator blog", URL)
    return folder


def test_setting_prints_the_secret_once(folder):
    [row] = rows(folder, "set", "Radiator blog", URL, "--event", "comment.judged")
    [listed] = rows(folder, "sites")

    assert row["secret"].startswith("whsec_")
    assert row["events"] == "comment.judged"
    assert listed == {key: value for key, value in row.items() if key != "secret"}


def test_what_was_given_up_is_listed_with_why_and_replayed(given_up):
    dead = rows(given_up, "list", "--dead")
    [attempt] = rows(given_up, "log", dead[0]["id"])

    replayed = [
        rows(given_up, "replay", *which)
        for which in ([dead[0]["id"]], ["--all"], ["--all", "--site", "Radiator blog"])
    ]

    assert {row["problem"] for row in dead} == {"the site wants no callbacks any more"}
    assert attempt["problem"] == dead[0]["problem"]
    assert replayed == [[{"replayed": 1}], [{"replayed": len(dead) - 1}], [{"replayed": 0}]]
    assert rows(given_up, "list", "--dead") == []
    assert {row["state"] for row in rows(given_up, "list")} == {"waiting"}


TOKEN = "scoped-token-0123456789"


@pytest.mark.parametrize(
    ("words", "form", "url"),
    [
        (["apply", "Radiator blog", "github"], "github", "https://api.github.com/graphql"),
        (
            ["build", "Radiator blog", "https://api.github.com/repos/ada/blog/dispatches"],
            "build_hook",
            "https://api.github.com/repos/ada/blog/dispatches",
        ),
    ],
)
def test_a_token_is_never_shown_and_one_that_was_refused_is_tried_again(folder, words, form, url):
    done = CliRunner().invoke(
        callbacks_group,
        [*words, "--token-file", "-", "--data-dir", folder, "--json"],
        input=f"{TOKEN}\n",
    )
    with open_services(data_dir=folder) as services:
        [site] = services.sites.all()
        endpoint = services.endpoints.get(site.id)
        services.endpoints.pause(endpoint, refused_at=services.clock())
    [stopped] = rows(folder, "sites")
    [resumed] = rows(folder, "resume", "Radiator blog")

    row = json.loads(done.output)
    assert (row["form"], row["url"]) == (form, url)
    assert endpoint.secrets == (TOKEN,)
    assert TOKEN not in done.output + str(stopped)
    assert stopped["refused_at"] is not None
    assert resumed["refused_at"] is None
    assert rows(folder, "sites") == [resumed]


def test_what_a_site_is_told_by_is_not_taken_over_for_another_purpose(folder, tmp_path):
    token = tmp_path / "token.txt"
    token.write_text("a-token-of-github", "utf-8")
    ways = {
        "standard_webhook": ("set", "Radiator blog", URL),
        "build_hook": ("build", "Radiator blog", URL),
        "github": ("apply", "Radiator blog", "github", "--token-file", str(token)),
    }
    for kept, how in ways.items():
        rows(folder, *how)

        for other in set(ways) - {kept}:
            [problem] = call(folder, *ways[other]).exception.problems
            assert (problem.field, kept in problem.problem) == ("site", True)

        assert [row["form"] for row in rows(folder, "sites")] == [kept]
        call(folder, "remove", "Radiator blog")
