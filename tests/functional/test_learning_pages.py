"""Moderators see which decisions a verdict leans on, what they save, and can take them back."""

import re

import pytest

from service.domain.case import CaseFilter, State
from service.domain.decision import Ruling
from service.moderation.decisions import undo_decision
from service.moderation.revise import withdraw_comment
from service.scoring.residual import recorded_residual
from tests.factories import OTHER_SITE, SITE
from tests.fakes import make_services, make_site
from tests.functional.moderators import hidden_fields, that_learn, words
from tests.unit.learning.training_examples import SPAM, decide_some, post

PAGE = f"/sites/{SITE}"


@pytest.fixture
def services():
    return that_learn(make_services(sites=[make_site(), make_site(id=OTHER_SITE, name="Tap blog")]))


def behind(page) -> list[str]:
    """Return the ids of the decided comments that a comment's page names."""
    found = re.search(r'<section class="similar behind".*?</section>', page.text, re.DOTALL)
    return re.findall(r"/review/comments/([^?\"]+)", found[0] if found else "")


def test_a_comments_page_names_the_words_and_the_decisions_that_its_verdict_leans_on(
    services, client
):
    decided = [case for case in decide_some(services) if case.decision.ruling is Ruling.REJECT]
    case = post(services, SPAM.format("seventy"))

    page = client.get(f"/review/comments/{case.comment.id}")

    residual = recorded_residual(case.verdict)
    line = re.search(r"This site&#39;s decisions, mostly by.*?</tr>", page.text, re.DOTALL)[0]
    quoted = re.findall(r"<q><bdi>([^<]+)</bdi></q>", line)
    assert 1 <= len(quoted) <= 3
    assert all(one in case.comment.text for one in quoted)
    assert residual.contribution > 0
    assert "for spam" in line
    assert len(behind(page)) == 3
    assert set(behind(page)) <= {one.comment.id for one in decided}


@pytest.mark.parametrize("how", ["undo", "withdraw"])
def test_a_decision_that_no_longer_stands_is_never_shown_as_a_reason(services, client, how):
    decide_some(services)
    case = post(services, SPAM.format("seventy"))
    path = f"/review/comments/{case.comment.id}"
    shown = behind(client.get(path))

    for comment_id in shown:
        if how == "undo":
            undo_decision(comment_id, services, undone_by="Ola")
        else:
            withdraw_comment(comment_id, services, by="Ola")
    after = behind(client.get(path))

    assert len(shown) == 3
    assert after
    assert not set(after) & set(shown)


def test_decisions_made_after_the_verdict_and_at_other_sites_are_no_reasons_for_it(
    services, client
):
    early = decide_some(services, 8)
    decide_some(services, 8, site_id=OTHER_SITE)
    case = post(services, SPAM.format("seventy"))
    services.clock.advance(minutes=1)
    decide_some(services, 8)

    shown = behind(client.get(f"/review/comments/{case.comment.id}"))

    assert shown
    assert set(shown) <= {one.comment.id for one in early}


def test_what_a_site_taught_is_forgotten_after_a_confirmation_and_logged(services, client):
    decide_some(services)
    services.clock.advance(minutes=1)
    page = client.get(PAGE)
    form = hidden_fields(page, f"{PAGE}/forget-taught")

    answer = client.post(f"{PAGE}/forget-taught", data=form)

    assert answer.status_code == 303
    assert "is forgotten; the decisions stay" in words(client.get(PAGE))
    assert services.sites.get(SITE).settings.learns_since == services.clock()
    assert recorded_residual(post(services, SPAM.format("x")).verdict) is None
    assert services.cases.count(CaseFilter(state=State.DECIDED)) == 12
    assert re.search(r"<details class=\"sure\"><summary[^>]*>Forget what", page.text)
    acts = [entry.detail for entry in services.audit_log.recent(subject=SITE)]
    assert any("learns_since: none to " in act for act in acts)
