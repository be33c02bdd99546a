"""Drift on the page of figures, as JSON, for a site and on the command line."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.commands.drift import drift_command
from service.domain.comment import Lane
from service.domain.traffic import Fact, Kind, Sighting
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.ports.services import Services
from service.wiring import open_services
from tests.factories import SITE, make_comment, make_verdict
from tests.fakes import make_services, make_site
from tests.functional.moderators import make_app, signed_in


def count(services: Services, n: int, *, days_ago: int, score: str, language: str) -> None:
    """Count n made-up verdicts of one day."""
    comments = [make_comment() for _ in range(n)]
    services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in comments])
    services.judging.verdicts.add(
        [make_verdict(one.id, Outcome.HAM) for one in comments], audit=frozenset()
    )
    promise = services.judging.current_promise()
    names = {(Kind.FACT, Fact.VERDICTS.value), (Kind.SCORE, score), (Kind.LANGUAGE, language)}
    services.insight.traffic.count(
        [
            Sighting(
                comment_id=one.id,
                site_id=SITE,
                day=services.common.clock().date() - timedelta(days=days_ago),
                model_version=promise.version if promise else "none",
                names=frozenset(names),
            )
            for one in comments
        ]
    )


@pytest.fixture
def services() -> Services:
    """Give services in whose last week scores and languages are others than before."""
    made = make_services(judges=False)
    shift(made)
    return made


def shift(services: Services) -> None:
    """Let scores and languages of the last week be others than before."""
    for step in ("-12", "-8", "-4", "0"):
        count(services, 80, days_ago=20, score=step, language="en/Latin")
    count(services, 70, days_ago=2, score="8", language="untold/<b>")


def test_the_page_shows_alarms_with_what_to_do(services):
    page = signed_in(services, app=make_app(services)).get("/figures").text

    assert "The scores have moved" in page
    assert "Act on it" in page
    assert "Decide some forty of them, then retrain." in page
    assert "Other languages come in" in page
    assert "untold/<b>" not in page


def test_the_page_says_so_where_too_little_was_judged():
    services = make_services(judges=False)

    page = signed_in(services, app=make_app(services)).get("/figures").text

    assert "has judged too little to be compared with itself yet" in page
    assert "Nothing has moved by more than chance" not in page


def test_the_json_holds_the_alarms(services):
    drift = signed_in(services, app=make_app(services)).get("/figures.json").get_json()["drift"]

    assert {(one["of"], one["level"]) for one in drift["alarms"]} == {
        ("score", "act"),
        ("languages", "act"),
    }
    assert drift["own"] == {"first": "2026-02-09", "last": "2026-02-09", "verdicts": 320}
    assert drift["score"]["psi"] > drift["score"]["noise"]


def test_the_command_tells_alarms_and_ends_well(data_dir):
    told = _run(data_dir)

    assert "act: The scores have moved" in told
    assert "(320 verdicts)" in told


def test_the_command_prints_one_json_object(data_dir):
    told = json.loads(_run(data_dir, "--json", "--site", "Radiator blog"))

    assert [one["of"] for one in told["alarms"]] == ["score", "languages"]


def test_the_command_says_that_nothing_has_moved(tmp_path):
    assert "Nothing has moved" in _run(str(tmp_path))


@pytest.fixture
def data_dir(tmp_path: Path) -> str:
    """Give a folder with an embedded database in which the last week is unlike the others."""
    with open_services(data_dir=str(tmp_path)) as made:
        made.common.sites.add(make_site())
        shift(made)
    return str(tmp_path)


def _run(data_dir: str, *args: str) -> str:
    result = CliRunner().invoke(drift_command, ["--data-dir", data_dir, *args])
    assert result.exit_code == 0
    return result.output
