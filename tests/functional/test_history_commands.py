"""The commands that fill histories again and forget a person, as an operator types them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.domain.comment import CommentId, Lane, Sender
from service.domain.decision import Ruling
from service.moderation.admin.sites import add_site
from service.moderation.intake.submit import submit_comments
from service.moderation.privacy.forget import find_sender
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.wiring import open_services
from tests.factories import make_comment
from tests.servers import running_valkey

MARA = "mara@example.org"


@pytest.fixture
def valkey_url(monkeypatch):
    """Give a server of its own to the test, and its address to the commands."""
    with running_valkey() as server:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", server.url)
        yield server.url


def run(tmp_path, *words: str) -> str:
    done = CliRunner().invoke(cli, [*words, "--data-dir", str(tmp_path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def keep_rejected(tmp_path, count: int) -> list[CommentId]:
    """Keep comments of Mara's, have them rejected and return their ids."""
    with open_services(data_dir=str(tmp_path)) as services:
        site, _ = add_site("Garden", services.common, actor="test")
        sender = find_sender(services.reputation, email=MARA)
        kept = [make_comment(site_id=site.id, sender=sender) for _ in range(count)]
        submit_comments(
            [NewComment(comment=one, lane=Lane.BULK) for one in kept],
            services.intake,
            services.common,
        )
        for one in kept:
            decide_comment(one.id, Ruling.REJECT, services, decided_by="mod")
    return [one.id for one in kept]


def rejected(tmp_path) -> float:
    """Return how many rejections are known of Mara."""
    with open_services(data_dir=str(tmp_path)) as services:
        sender = find_sender(services.reputation, email=MARA)
        asked = make_comment(sender=sender)
        [history] = services.reputation.history.gather([asked], now=services.common.clock())
    return history.email.everywhere.rejected


def test_a_forgotten_person_leaves_nothing_to_be_recognised_by(tmp_path, valkey_url):
    kept = keep_rejected(tmp_path, 3)

    said = run(tmp_path, "reputation", "forget", "--email", MARA.upper())
    run(tmp_path, "reputation", "rebuild")

    assert said == "Forgotten; 3 comments lost the keys of their sender.\n"
    assert rejected(tmp_path) == 0
    with open_services(data_dir=str(tmp_path)) as services:
        assert {services.review.cases.get(one).comment.sender for one in kept} == {Sender()}
    [entry] = [
        row
        for row in map(json.loads, run(tmp_path, "audit", "--json").splitlines())
        if row["act"] == "forget sender"
    ]
    assert "mara" not in str(entry)
