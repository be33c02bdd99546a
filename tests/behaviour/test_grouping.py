"""Comments are grouped after they were judged, whatever becomes of workers; policies act."""

import contextlib
import itertools
from dataclasses import replace

import pytest

from models.inputs import ModelOutput
from service.domain.campaign import CAMPAIGN_POLICY, LOW_P_SPAM
from service.domain.comment import Author, Post
from service.domain.decision import ChosenBy, Ruling
from service.domain.errors import InvalidInputError, StoreUnavailableError
from service.domain.list_entry import Effect, EntryKind
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.moderation.accounts import add_user
from service.moderation.campaigns import GroupingMemory, group_fresh
from service.moderation.decisions import (
    decide_comment,
    decide_together,
    undo_bulk_decision,
    undo_decision,
)
from service.moderation.lists import NewEntry, add_entry
from service.moderation.remembering import REJECTED_BY_PEOPLE, rebuild_all, remember_open
from tests.factories import NOW, SITE, make_comment, make_report
from tests.fakes import Overridden, away, make_site, submit_to
from tests.worlds import FailingAt, kept_world, services_in

# No two of them share a run of words; what they share is where they lead.
SAYINGS = (
    "Lovely write-up, my cousin found the same at {}",
    "I had to bleed mine twice before the noise stopped, {} explains why",
    "Does anyone know whether {} ships to Norway?",
    "We moved house last year and bought ours from {} after long thought",
    "Thanks! For the valve key itself look at {} instead",
    "Honestly the cheapest way is to order through {} and wait a week",
    "My plumber swears by {} whenever pressure drops",
    "Second this advice; pictures are on {}",
)


@pytest.fixture
def memory():
    return GroupingMemory("worker-1")


def submit(services, *texts, **changes):
    comments = [make_comment(text, **({"author": Author(name=None)} | changes)) for text in texts]
    submit_to(services, *comments)
    return [one.id for one in comments]


def advertised(services, count, shop="cheap-boilers.example", first=0, **changes):
    """Submit so many comments in different words that lead to one shop."""
    texts = [
        SAYINGS[n % len(SAYINGS)].format(f"https://{shop}/{n}") for n in range(first, first + count)
    ]
    return [submit(services, text, **changes)[0] for text in texts]


def group(services, memory, *, turns=1):
    return group_fresh(services, memory, should_continue=iter([True] * turns + [False]).__next__)


def group_all(services, memory):
    return group_fresh(services, memory, should_continue=lambda: True)


def campaigns_of(services, ids):
    return {services.cases.get(one).campaign_id for one in ids}


def set_policy(services, *, on=True):
    services.sites.change_settings(SITE, lambda _: SiteSettings(rejects_campaigns=on))


def rejected_by_people(services, memory, count=REJECTED_BY_PEOPLE, *, together=False):
    ids = advertised(services, count)
    group_all(services, memory)
    if together:
        how = {"decided_by": "Mara", "what": ChosenBy.CAMPAIGN, "bulk_decision_id": "bulk"}
        decide_together(ids, Ruling.REJECT, services, **how)
        return ids
    for comment_id in ids:
        decide_comment(comment_id, Ruling.REJECT, services, decided_by="Mara")
    return ids


def test_comments_that_lead_to_one_shop_are_one_campaign_across_posts(services, memory):
    ids = advertised(services, 3)
    ids += advertised(services, 2, first=3, post=Post(url="https://blog.example/p/2"))
    [other] = submit(services, "The drain valve was stuck; see https://plumbers.example/valves")

    placed = group_all(services, memory)

    assert placed == 6
    assert len(campaigns_of(services, ids)) == 1
    assert None not in campaigns_of(services, ids)
    assert services.cases.get(other).campaign_id is None


@pytest.mark.parametrize(("output", "grouped"), [(ModelOutput(p_spam=0.01), 0), (None, 5)])
def test_ham_is_never_grouped_and_what_was_judged_without_the_classifier_is(
    services, classifier, memory, output, grouped
):
    classifier.answer = output
    ids = advertised(services, 5)

    placed = group_all(services, memory)

    found = campaigns_of(services, ids)
    assert placed == grouped
    assert (len(found), None in found) == (1, grouped == 0)


def test_a_turn_ends_in_time_and_the_next_one_goes_on(services, memory):
    texts = [f"Word{n} https://shop-{n}.example" for n in range(120)]
    submit(services, *texts)

    first = group(services, memory, turns=1)
    second = group(services, memory, turns=0)
    third = group_all(services, memory)

    assert first + second + third == 120
    assert 0 < first < 120
    assert second > 0


def test_a_worker_that_takes_over_knows_what_was_grouped_meanwhile(services, clock, memory):
    other = GroupingMemory("worker-2")
    first = advertised(services, 2)
    group_all(services, memory)
    clock.advance(minutes=1)
    other_shop = advertised(services, 2, shop="kettles.example", first=2)
    group_all(services, other)
    clock.advance(minutes=1)

    later = advertised(services, 1, shop="kettles.example", first=4)
    group_all(services, memory)

    assert len(campaigns_of(services, other_shop + later)) == 1
    assert campaigns_of(services, first) != campaigns_of(services, later)


def test_memory_that_is_not_filled_yet_places_nobody(services, clock):
    submit(services, *(f"Word{n} https://shop-{n}.example" for n in range(9)))
    group_all(services, GroupingMemory("worker-1"))
    clock.advance(minutes=1)
    fresh = advertised(services, 1)
    restarted = GroupingMemory("worker-2")

    first = group(services, restarted, turns=0)
    second = group_all(services, restarted)

    assert (first, second) == (0, 1)
    assert services.campaigns.fresh(limit=9) == []
    assert campaigns_of(services, fresh) == {None}


@pytest.mark.parametrize("method", ["take_lease", "fresh", "place", "grouped"])
def test_a_store_that_fails_costs_a_turn_and_nobody_their_verdict(services, memory, method):
    ids = advertised(services, 4)
    broken = replace(services, campaigns=Overridden(services.campaigns, **{method: away}))

    with pytest.raises(StoreUnavailableError):
        group_all(broken, memory)
    group_all(services, memory)

    assert all(services.cases.get(one).verdict for one in ids)
    assert len(campaigns_of(services, ids)) == 1
    assert None not in campaigns_of(services, ids)


def test_an_embedding_that_is_no_number_keeps_no_verdict_from_being_stored(
    services, classifier, memory
):
    classifier.answer = ModelOutput(p_spam=0.5, embedding=(float("nan"),) * 64)
    [odd] = submit(services, "See https://shop.example")

    group_all(services, memory)

    assert services.cases.get(odd).verdict is not None
    assert services.cases.get(odd).campaign_id is None


def test_the_policy_rejects_what_joins_a_campaign_that_people_rejected(services, memory):
    earlier, [later, *_] = _policy_rejected(services, memory)

    case = services.cases.get(later)
    assert case.campaign_id == services.cases.get(earlier[0]).campaign_id
    assert (case.decision.ruling, case.decision.decided_by) == (Ruling.REJECT, CAMPAIGN_POLICY)
    assert case.decision.note == "People rejected 5 of its campaign and approved none."
    [act] = services.audit_log.recent(subject=later)
    assert (act.actor, act.act) == (CAMPAIGN_POLICY, "reject")


def without_the_policy(services, memory):
    set_policy(services, on=False)
    rejected_by_people(services, memory)


def too_few_were_rejected(services, memory):
    rejected_by_people(services, memory, REJECTED_BY_PEOPLE - 1)


def one_was_approved(services, memory):
    rejected_by_people(services, memory)
    [approved] = advertised(services, 1, first=6)
    decide_comment(approved, Ruling.APPROVE, services, decided_by="Ola")


def the_policy_s_own_count_for_nothing(services, memory):
    people = rejected_by_people(services, memory)
    advertised(services, 3, first=6)
    group_all(services, memory)
    undo_decision(people[0], services, undone_by="Mara")


def another_site(services, memory):
    services.sites.add(make_site(id="site-2", name="Kettle blog"))
    rejected_by_people(services, memory)
    return {"site_id": "site-2"}


def partial_evidence(services, memory):
    rejected_by_people(services, memory)
    services.current_model().classifier.answer = None


def looks_sincere(services, memory):
    rejected_by_people(services, memory)
    # What its address says brings it above the ham cutoff, not far.
    services.current_model().classifier.answer = ModelOutput(p_spam=0.12)


def a_list_entry(services, memory):
    rejected_by_people(services, memory)
    value = "the cheapest way is to order"
    entry = NewEntry(
        effect=Effect.BLOCK, kind=EntryKind.PHRASE, value=value, reason="Sells boilers"
    )
    add_entry(entry, services, by="Ola")


@pytest.mark.parametrize(
    "why",
    [
        without_the_policy,
        too_few_were_rejected,
        one_was_approved,
        the_policy_s_own_count_for_nothing,
        another_site,
        partial_evidence,
        looks_sincere,
        a_list_entry,
    ],
)
def test_the_policy_leaves_to_people(services, memory, why):
    set_policy(services)
    changes = why(services, memory) or {}

    [later] = advertised(services, 1, first=5, **changes)
    group_all(services, memory)

    case = services.cases.get(later)
    assert case.campaign_id is not None
    assert case.verdict.outcome is not Outcome.HAM
    assert (case.verdict.p_spam < LOW_P_SPAM) is (why is looks_sincere)
    assert case.decision is None


def test_what_its_site_has_spoken_for_is_left_to_a_person(services, memory):
    set_policy(services)
    rejected_by_people(services, memory)
    [later] = advertised(services, 1, first=5)
    services.reports.add(make_report(later))

    group_all(services, memory)

    assert services.cases.get(later).decision is None


def test_a_policy_s_rejection_can_be_undone_and_is_not_made_again(services, clock, memory):
    _, [later, *_] = _policy_rejected(services, memory)

    undo_decision(later, services, undone_by="Ola")
    clock.advance(minutes=5)
    group_all(services, GroupingMemory("another process"))

    case = services.cases.get(later)
    assert case.decision is None
    assert case.needs_review


def test_histories_learn_from_people_and_never_from_the_policy(services, memory):
    people, later = _policy_rejected(services, memory)

    rebuild_all(services)

    comment = services.cases.get(later[0]).comment
    [history] = services.history.gather([comment], now=NOW)
    assert history.domains.everywhere.rejected == pytest.approx(len(people), abs=0.1)
    assert services.decisions.find_unremembered(limit=9) == []


def test_nobody_s_account_is_called_like_the_policy(services):
    with pytest.raises(InvalidInputError):
        add_user("Campaign Policy", services, actor="test")


def test_the_policy_overrules_nobody_who_decides_at_the_same_moment(services, memory):
    set_policy(services)
    rejected_by_people(services, memory)
    [later] = advertised(services, 1, first=5)

    campaigns = services.campaigns

    def peoples_rulings(campaign_id):
        found = campaigns.peoples_rulings(campaign_id)
        decide_comment(later, Ruling.APPROVE, services, decided_by="Ola")
        return found

    disturbed = Overridden(campaigns, peoples_rulings=peoples_rulings)
    group_all(replace(services, campaigns=disturbed), memory)

    assert [one.decided_by for one in services.cases.get(later).decisions] == ["Ola"]


def _policy_rejected(services, memory, **how):
    """Return the members of a campaign that people rejected, and those that its policy did."""
    set_policy(services)
    people = rejected_by_people(services, memory, **how)
    later = advertised(services, 3, first=5)
    group_all(services, memory)
    return people, later


def _in_force(services, ids):
    return [services.cases.get(one).decision is not None for one in ids]


@pytest.mark.parametrize("how", ["undone", "approved", "all undone"])
def test_a_person_s_rejection_that_stands_no_more_takes_the_policy_s_back(services, memory, how):
    people, later = _policy_rejected(services, memory, together=how == "all undone")
    before = _in_force(services, later)

    if how == "undone":
        undo_decision(people[0], services, undone_by="Mara")
    elif how == "approved":
        decide_comment(people[0], Ruling.APPROVE, services, decided_by="Ola")
    else:
        undo_bulk_decision("bulk", services, undone_by="Mara")

    assert before == [True] * 3
    assert _in_force(services, later) == [False] * 3
    assert all(services.cases.get(one).needs_review for one in later)
    assert _in_force(services, people[1:]) == [how != "all undone"] * 4
    assert services.audit_log.recent(subject=services.cases.get(later[0]).campaign_id)


def test_the_policy_s_stand_as_long_as_enough_people_s_do(services, memory):
    people, later = _policy_rejected(services, memory)
    decide_comment(later[0], Ruling.APPROVE, services, decided_by="Ola")
    undo_decision(later[0], services, undone_by="Ola")
    [sixth] = advertised(services, 1, first=9)
    group_all(services, memory)

    assert _in_force(services, later[1:]) == [True, True]
    assert _in_force(services, people) == [True] * 5
    assert services.cases.get(sixth).decision is not None


@pytest.mark.parametrize("answer_lost", [False, True])
def test_whatever_store_fails_while_a_person_s_is_undone_the_policy_s_are_taken_back(answer_lost):
    kept = []
    world = kept_world(lambda made: kept.extend(_policy_rejected(made, GroupingMemory("one"))))
    [first, *_], later = kept
    for at in itertools.count(1):
        with services_in(world) as services:
            failing = FailingAt(services, at, answer_lost=answer_lost)
            decision = services.cases.get(first).decision
            for given in (failing.services, services):
                with contextlib.suppress(StoreUnavailableError):
                    undo_decision(first, given, undone_by="Ola", decision_id=decision.id)
            remember_open(services)

            assert _in_force(services, [first, *later]) == [False] * 4, failing.calls[:at]
        if at > len(failing.calls):
            break
    assert at > 5
