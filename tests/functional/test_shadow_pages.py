"""The pages of what versions said that do not serve."""

from __future__ import annotations

import re

import pytest

from service.domain.back_scoring import BackScoring, JobState
from service.domain.comment import SiteId
from service.domain.decision import Decision, Ruling
from service.domain.shadow_verdict import Origin, ShadowVerdict
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import find_user
from service.web.pages.models.shadow_view import PAGE_SIZE
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, signed_in

HOSTILE = '"><script>alert(1)</script>‮'


@pytest.fixture
def services():
    sites = [make_site(), make_site(id=SiteId("site-2"), name="Trains")]
    return make_services(sites=sites, shadow_name=lambda: "candidate")


@pytest.fixture
def owner(services):
    return signed_in(services, "Olive")


def keep_shadow_verdict(services, comment, outcome=Outcome.SPAM, version="candidate"):
    shadow_verdict = ShadowVerdict(
        comment_id=comment.id,
        model_version=version,
        origin=Origin.SHADOW,
        outcome=outcome,
        p_spam=0.99,
        formed_at=NOW,
    )
    services.judging.shadow_verdicts.add([shadow_verdict])


def approve(services, comment):
    services.review.decisions.add(
        Decision(
            id=f"d-{comment.id}",
            comment_id=comment.id,
            ruling=Ruling.APPROVE,
            decided_by="Ola",
            decided_at=NOW,
        )
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (None, "No version is in the shadow, and none was asked yet."),
        ("candidate", "It has said nothing yet."),
    ],
)
def test_without_any_shadow_verdict_the_page_says_so(name, says):
    owner = signed_in(make_services(shadow_name=lambda: name), "Olive")

    page = owner.get("/models")

    assert page.status_code == 200
    assert says in page.text


def test_versions_are_shown_with_what_they_would_have_cost(services, owner):
    lost = keep(services)
    approve(services, lost)
    keep_shadow_verdict(services, lost)
    keep_shadow_verdict(services, keep(services), Outcome.UNSURE)

    page = owner.get("/models")

    cells = re.findall(r"<dd>([^<]*)</dd>", page.text)
    assert cells == ["2", "1 (50.0 %)", "1", "100.0 %"]
    assert 'href="/models/differences?version=candidate"' in page.text
    assert "candidate is in the shadow" in page.text


def test_each_comment_that_differs_leads_to_its_page_the_worst_first(services, owner):
    ham, lost = keep(services, outcome=Outcome.HAM), keep(services)
    approve(services, lost)
    for comment in (ham, lost):
        keep_shadow_verdict(services, comment)

    page = owner.get("/models/differences?version=candidate")

    assert re.findall(r'href="/review/comments/([^"]+)"', page.text) == [lost.id, ham.id]
    assert owner.get(f"/review/comments/{lost.id}").status_code == 200
    assert "Approved by a person, called spam" in page.text


def test_differences_come_page_after_page(services, owner):
    for _ in range(PAGE_SIZE + 3):
        keep_shadow_verdict(services, keep(services))

    first = owner.get("/models/differences?version=candidate")
    [further] = re.findall(r'rel="next" href="([^"]+)"', first.text)
    second = owner.get(further.replace("&amp;", "&"))

    shown = [re.findall(r'href="/review/comments/([^"]+)"', p.text) for p in (first, second)]
    assert [len(ids) for ids in shown] == [PAGE_SIZE, 3]
    assert not set(shown[0]) & set(shown[1])


def test_of_sites_that_an_account_does_not_see_nothing_is_told(services, owner):
    mine = keep(services, make_comment(text="mine to see"))
    other = keep(services, make_comment(text="not mine", site_id=SiteId("site-2")))
    for comment in (mine, other):
        keep_shadow_verdict(services, comment)
    services.judging.back_scorings.begin(make_job())
    reader = signed_in(services, "Rea")
    user = find_user("Rea", services.accounts)
    set_access(
        user.id,
        services.accounts,
        services.common,
        role=Role.READER,
        site_ids=[mine.site_id],
        actor="test",
    )

    page = reader.get("/models/differences?version=candidate")
    overview = reader.get("/models/shadow")

    assert "mine to see" in page.text
    assert other.id not in page.text
    assert "not mine" not in page.text
    assert re.findall(r"<dd>([^<]*)</dd>", overview.text)[0] == "1"
    assert "<progress" not in overview.text


def make_reader(services):
    reader = signed_in(services, "Rea")
    set_access(
        find_user("Rea", services.accounts).id,
        services.accounts,
        services.common,
        role=Role.READER,
        site_ids=None,
        actor="test",
    )
    return reader


def test_who_manages_models_finds_versions_on_trial_on_their_page(owner):
    answer = owner.get("/models/shadow")

    assert (answer.status_code, answer.location) == (303, "/models#on-trial")


def test_the_bar_has_one_entry_for_models_whoever_looks(services, owner):
    entries = [
        re.findall(r'href="([^"]+)"[^>]*>Models<', client.get("/review").text)
        for client in (owner, make_reader(services))
    ]

    assert entries == [["/models"], ["/models/shadow"]]


def test_a_reader_sees_versions_on_trial_and_nothing_to_act_on(services, owner):
    keep_shadow_verdict(services, keep(services))
    reader = make_reader(services)

    page = reader.get("/models/shadow")

    assert "candidate is in the shadow" in page.text
    assert "/promote" not in page.text
    assert reader.get("/models").status_code == 403


def make_job(**changes):
    values = {
        "id": "bsc_1",
        "model_version": "candidate",
        "site_ids": None,
        "since": None,
        "until": NOW,
        "asked_by": "Ola",
        "asked_at": NOW,
    }
    return BackScoring(**(values | changes))


def test_jobs_show_how_far_they_have_come_and_why_they_rest(services, owner):
    services.judging.back_scorings.begin(make_job())
    services.judging.back_scorings.change(
        "bsc_1", JobState.PAUSED, at=NOW, problem=f"odd {HOSTILE}"
    )

    page = owner.get("/models")

    assert "<progress" in page.text
    assert "paused" in page.text
    assert "<script>alert" not in page.text


def test_hostile_words_and_names_are_shown_and_never_markup(services, owner):
    keep_shadow_verdict(services, keep(services, make_comment(text=HOSTILE)), version=HOSTILE)

    pages = [
        owner.get("/models"),
        owner.get("/models/differences", query_string={"version": HOSTILE}),
    ]

    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text


def test_without_a_version_the_page_leads_to_all_of_them(owner):
    answer = owner.get("/models/differences?version=")

    assert (answer.status_code, answer.location) == (303, "/models/shadow")


@pytest.mark.parametrize(
    "query", [f"?version={'x' * 101}", "?version=a%00b", "?version=candidate&cursor=nonsense"]
)
def test_what_is_not_there_is_not_found(owner, query):
    assert owner.get(f"/models/differences{query}").status_code == 404


def test_a_withdrawn_comment_is_listed_no_more(services, owner):
    comment = keep(services)
    keep_shadow_verdict(services, comment)
    services.intake.comments.withdraw(comment.id, at=NOW)

    page = owner.get("/models/differences?version=candidate")

    assert comment.id not in page.text


def test_the_page_speaks_german(services, owner):
    keep_shadow_verdict(services, keep(services, outcome=Outcome.HAM))

    page = owner.get("/models/differences?version=candidate", headers={"Accept-Language": "de"})

    assert "Ham, Spam genannt" in page.text
