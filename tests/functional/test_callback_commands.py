"""`slopsieve callbacks`: where sites are told, what was given up, and replaying it."""

import pytest

from service.domain.comment import CommentId
from service.domain.errors import InvalidInputError
from service.moderation.judging import judge_batch
from service.wiring import open_services
from tests.fakes import deliver_all, submit_one
from tests.platforms import TOKEN

URL = "https://blog.example/hook"


@pytest.fixture
def rows(run):
    """Run a command about callbacks on a folder with one site; return its rows."""
    run("sites", "add", "Radiator blog")
    return lambda *words, **typed: run("callbacks", *words, "--json", **typed)


@pytest.fixture
def given_up(rows, tmp_path):
    """Let two messages be given up, and return their rows."""
    rows("set", "Radiator blog", URL)
    with open_services(data_dir=str(tmp_path)) as services:
        [site] = services.sites.all()
        comment = submit_one(services, id=CommentId(services.new_id("com")), site_id=site.id)
        judge_batch([comment.id], services)
        services.endpoints.remove(site.id)
        deliver_all(services)
    rows("set", "Radiator blog", URL)
    return rows("list", "--dead")


def test_setting_prints_the_secret_once(rows):
    [row] = rows("set", "Radiator blog", URL, "--event", "comment.judged")
    [listed] = rows("sites")

    assert row["secret"].startswith("whsec_")
    assert row["events"] == "comment.judged"
    assert listed == {key: value for key, value in row.items() if key != "secret"}


def test_what_was_given_up_is_listed_with_why_and_replayed(rows, given_up):
    [attempt] = rows("log", given_up[0]["id"])

    replayed = [
        rows("replay", *which)
        for which in ([given_up[0]["id"]], ["--all"], ["--all", "--site", "Radiator blog"])
    ]

    assert {row["problem"] for row in given_up} == {"the site wants no callbacks any more"}
    assert attempt["problem"] == given_up[0]["problem"]
    assert replayed == [[{"replayed": 1}], [{"replayed": len(given_up) - 1}], [{"replayed": 0}]]
    assert rows("list", "--dead") == []
    assert {row["state"] for row in rows("list")} == {"waiting"}


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
def test_a_token_is_never_shown_and_one_that_was_refused_is_tried_again(
    rows, tmp_path, words, form, url
):
    [row] = rows(*words, "--token-file", "-", typed=f"{TOKEN}\n")
    with open_services(data_dir=str(tmp_path)) as services:
        [site] = services.sites.all()
        endpoint = services.endpoints.get(site.id)
        services.endpoints.pause(endpoint, refused_at=services.clock())
    [stopped] = rows("sites")
    [resumed] = rows("resume", "Radiator blog")

    assert (row["form"], row["url"]) == (form, url)
    assert endpoint.secrets == (TOKEN,)
    assert TOKEN not in str(row) + str(stopped)
    assert stopped["refused_at"] is not None
    assert resumed["refused_at"] is None
    assert rows("sites") == [resumed]


def test_what_a_site_is_told_by_is_not_taken_over_for_another_purpose(rows, run):
    ways = {
        "standard_webhook": ("set", "Radiator blog", URL),
        "build_hook": ("build", "Radiator blog", URL),
        "github": ("apply", "Radiator blog", "github", "--token-file", "-"),
    }
    for kept, how in ways.items():
        rows(*how, typed=TOKEN)

        for other in set(ways) - {kept}:
            with pytest.raises(InvalidInputError) as refused:
                rows(*ways[other], typed=TOKEN)
            [problem] = refused.value.problems
            assert (problem.field, kept in problem.problem) == ("site", True)

        assert [row["form"] for row in rows("sites")] == [kept]
        run("callbacks", "remove", "Radiator blog")
