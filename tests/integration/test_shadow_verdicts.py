"""Shadow and back-scoring with real workers, a real Valkey and versions on disk."""

from __future__ import annotations

from datetime import timedelta

import pytest

from models.registry import promote, set_shadow
from service.domain.back_scoring import JobState
from service.domain.comment import Lane
from service.domain.shadow_verdict import ShadowVerdictScope
from service.domain.verdict import Outcome
from service.moderation.judging import back_score
from service.moderation.judging.back_score import (
    change_back_scoring,
    feed_back_scorings,
    start_back_scoring,
)
from service.ports.comments import NewComment
from tests.factories import make_comment, make_verdict
from tests.fakes import with_ports
from tests.integration.installation import until
from tests.unit.models.test_registry import write

CANDIDATE = ShadowVerdictScope(model_version="candidate")


@pytest.fixture
def versions(tmp_path, monkeypatch):
    """Give the workers a folder of two small versions."""
    folder = tmp_path / "versions"
    for name in ("first", "candidate"):
        write(folder, name)
    promote(folder, "first")
    monkeypatch.setenv("SLOPSIEVE_MODELS_DIR", str(folder))
    return folder


def archive(installation, count):
    """Keep judged comments, as if earlier workers had judged them."""
    services = installation.services
    comments = [
        make_comment(f"comment number {number}", site_id=installation.site.id)
        for number in range(count)
    ]
    services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in comments])
    services.judging.verdicts.add([make_verdict(one.id) for one in comments], audit=frozenset())
    return comments


def said(installation):
    return installation.services.judging.shadow_verdicts.count(CANDIDATE).comments


def test_the_shadow_speaks_of_what_a_worker_judged_and_the_verdict_is_the_current_versions(
    install, versions
):
    set_shadow(versions, "candidate")
    installation = install()
    installation.start_worker()
    ids = []

    def shadow_verdict_is_there():
        # The shadow is loaded beside the current version; until then it sees nothing.
        ids.extend(installation.submit([f"comment number {len(ids)}"], Lane.INTERACTIVE))
        return said(installation)

    until(shadow_verdict_is_there)

    cases = installation.await_verdicts(ids)
    assert {case.verdict.model_version for case in cases} == {"first"}
    assert not any(case.verdict.degraded for case in cases)


def test_a_tampered_shadow_is_refused_and_judging_goes_on(install, versions):
    set_shadow(versions, "candidate")
    (versions / "candidate" / "fusion.json").write_text("{}")
    installation = install()
    installation.start_worker()

    cases = installation.await_verdicts(installation.submit(["one", "another"]))

    assert {case.verdict.model_version for case in cases} == {"first"}
    until(lambda: "the shadow version was refused" in installation.log.read_text())
    assert said(installation) == 0


def test_an_archive_is_back_scored_by_several_workers_though_one_is_killed_and_all_are_paused(
    install, versions, monkeypatch
):
    # Many small chunks, so that a worker that is killed always has one in hand.
    monkeypatch.setattr(back_score, "CHUNK_SIZE", 32)
    installation = install()
    count = 1_200
    archive(installation, count)
    services = installation.services
    job = start_back_scoring("candidate", services.judging, services.common, by="Ola")
    victim, _ = installation.start_worker(), installation.start_worker()

    def feed(seconds_ahead=0):
        ahead, now = timedelta(seconds=seconds_ahead), services.common.clock
        later = with_ports(services, clock=lambda: now() + ahead)
        feed_back_scorings(later.judging, later.common)

    def done():
        return services.judging.back_scorings.get(job.id).done

    def fed_until(number):
        feed()
        return done() >= number

    until(lambda: fed_until(200))
    victim.kill()
    victim.wait()
    until(lambda: fed_until(400))
    change_back_scoring(job.id, JobState.PAUSED, services.judging, services.common, by="Ola")
    until(lambda: services.judging.back_scoring_queue.depth() == 0)
    paused = services.judging.back_scorings.get(job.id)
    installation.start_worker()
    change_back_scoring(job.id, JobState.RUNNING, services.judging, services.common, by="Ola")

    def fed_until_ended():
        # As if upkeep had found that nobody has the killed worker's chunk in hand any more.
        feed(seconds_ahead=30)
        return services.judging.back_scorings.get(job.id).state is JobState.ENDED

    until(fed_until_ended, seconds=60)

    counts = services.judging.shadow_verdicts.count(CANDIDATE)
    assert 0 < paused.done < count
    assert (counts.comments, done()) == (count, count)
    assert {cell.verdict for cell in counts.cells} == {Outcome.UNSURE}


def test_comments_that_wait_go_before_the_archive(install, versions):
    installation = install()
    archive(installation, 600)
    services = installation.services
    job = start_back_scoring("candidate", services.judging, services.common, by="Ola")
    feed_back_scorings(services.judging, services.common)
    ids = installation.submit([f"fresh number {number}" for number in range(200)])

    installation.start_worker()
    installation.await_verdicts(ids)
    meanwhile = services.judging.back_scorings.get(job.id).done
    until(
        lambda: (
            feed_back_scorings(services.judging, services.common)
            or services.judging.back_scorings.get(job.id).ended_at
        )
    )

    assert meanwhile < 600
    assert said(installation) == 600
