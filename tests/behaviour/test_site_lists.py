"""What moderators allow and block decides, and what it takes to be allowed to say so."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier

import pytest

from service.domain.comment import Author, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import (
    ConflictError,
    InvalidInputError,
)
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import make_sender
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment
from service.moderation.erasing import find_person, forget_sender
from service.moderation.lists import (
    NewEntry,
    add_entry,
    preview_entry,
    remove_entry,
    restore_entry,
)
from service.moderation.reject_and_block import decide_and_list, traits_of, undo_reject_and_block
from service.scoring.explanation import explain
from tests.factories import SITE, make_comment
from tests.fakes import Overridden, away, submit_one

ADDRESS, EMAIL = "203.0.113.9", "Mara@Example.org"


def new_entry(kind=EntryKind.DOMAIN, value="pills-direct.shop", **changes) -> NewEntry:
    values = {"effect": Effect.BLOCK, "reason": "Sells pills", "site_id": SITE}
    return NewEntry(**({"kind": kind, "value": value} | values | changes))


def sent(services, text="See https://pills-direct.shop now", address=None, email=None, **changes):
    """Submit a comment, and return its verdict."""
    sender = make_sender(address=address, email=email, secrets=services.sender_secrets)
    comment = submit_one(services, text, lane=Lane.INTERACTIVE, sender=sender, **changes)
    return services.cases.get(comment.id).verdict


def problems_of(services, entry: NewEntry) -> dict[str, str]:
    with pytest.raises(InvalidInputError) as refused:
        add_entry(entry, services, by="Ola")
    return {problem.field: problem.problem for problem in refused.value.problems}


@pytest.mark.parametrize(
    ("effect", "outcome"), [(Effect.ALLOW, Outcome.HAM), (Effect.BLOCK, Outcome.SPAM)]
)
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (EntryKind.EMAIL, " mara@EXAMPLE.org "),
        (EntryKind.ADDRESS, "203.0.113.9"),
        (EntryKind.NETWORK, "203.0.113.0/24"),
        (EntryKind.NETWORK, "203.0.0.0/16"),
        (EntryKind.MAIL_DOMAIN, "mara@example.org"),
        (EntryKind.DOMAIN, "https://www.pills-direct.shop/offers"),
        (EntryKind.PHRASE, "pills, DIRECT"),
    ],
)
def test_an_entry_decides_what_the_evidence_left_open(services, kind, value, effect, outcome):
    entry = add_entry(new_entry(kind, value, effect=effect), services, by="Ola")

    verdict = sent(
        services, "Offers at https://www.pills-direct.shop now", address=ADDRESS, email=EMAIL
    )

    assert verdict.outcome is outcome
    assert verdict.followed == entry.instruction
    assert services.list_entries.get(entry.id).hits == 1


def test_a_degraded_verdict_stays_unsure_whatever_the_lists_say(services, classifier):
    entry = add_entry(new_entry(), services, by="Ola")
    classifier.answer = None

    verdict = sent(services)

    assert verdict.outcome is Outcome.UNSURE
    assert verdict.followed is None
    assert verdict.instruction == entry.instruction
    assert "not followed without the evidence" in explain(verdict)[1]
    assert services.list_entries.get(entry.id).hits == 0


def test_the_log_never_holds_a_phrase(services):
    add_entry(new_entry(EntryKind.PHRASE, "somebodys own words"), services, by="Ola")

    assert "words" not in str(services.audit_log.recent())


def test_verdicts_are_stored_even_where_hits_cannot_be_counted(services):
    add_entry(new_entry(), services, by="Ola")
    services = replace(services, list_entries=Overridden(services.list_entries, count_hits=away))
    services.queue.services = services

    assert sent(services).outcome is Outcome.SPAM


WRONG_VALUES = (
    (EntryKind.DOMAIN, "", "is missing"),
    (EntryKind.DOMAIN, "x" * 400, "is too long"),
    (EntryKind.DOMAIN, "github.io", "is a suffix under which everybody may register, or none"),
    (EntryKind.DOMAIN, "<script>", "is no domain"),
    (EntryKind.MAIL_DOMAIN, "gmail.com", "is a mail provider that everybody uses"),
    (EntryKind.EMAIL, "a b@example.org", "is no e-mail address"),
    (EntryKind.ADDRESS, "203.0.113.0/24", "is no IP address"),
    (EntryKind.ADDRESS, "192.168.1.1", "belongs to a private network"),
    (EntryKind.NETWORK, "203.0.0.0/15", "is too wide a network"),
    (EntryKind.NETWORK, "2001:db8::/32", "is too wide a network"),
    (EntryKind.NETWORK, "203.0.113.0/28", "is of a width that no comment can be compared"),
    (EntryKind.NETWORK, "2001:db8::/52", "is of a width that no comment can be compared"),
    (EntryKind.NETWORK, "10.0.0.0/16", "belongs to a private network"),
    (EntryKind.NETWORK, "nonsense", "is no network"),
    (EntryKind.PHRASE, "ab", "is too short a phrase"),
    (EntryKind.PHRASE, "代", "is too short a phrase"),
    (EntryKind.PHRASE, "?!? \u200b\u200b\u200b", "is too short a phrase"),
    (EntryKind.PHRASE, "a" * 201, "is too long a phrase"),
)


@pytest.mark.parametrize(("kind", "value", "problem"), WRONG_VALUES)
def test_what_would_hit_everybody_or_nobody_is_refused(services, kind, value, problem):
    said = problems_of(services, new_entry(kind, value))

    assert said["value"].startswith(problem)
    assert not value or value not in str(said)


@pytest.mark.parametrize("value", ["2001:db8:7:8::/64", "2001:db8:7::/48", "2001:db8:7:8::/56"])
def test_networks_of_the_newer_protocol_are_listed_too(services, value):
    add_entry(new_entry(EntryKind.NETWORK, value), services, by="Ola")

    assert sent(services, "Hello", address="2001:db8:7:8::9").outcome is Outcome.SPAM
    assert sent(services, "Hello", address="2001:db8:8:8::9").outcome is Outcome.UNSURE


def test_nothing_is_listed_twice_or_on_both_lists(services):
    add_entry(new_entry(), services, by="Ola")

    again = problems_of(services, new_entry(value="PILLS-DIRECT.shop."))
    contrary = problems_of(services, new_entry(effect=Effect.ALLOW))

    assert again == {"value": "is on this list already"}
    assert contrary == {"value": "is on the other list"}
    add_entry(new_entry(site_id=None), services, by="Ola")


def test_a_preview_tells_what_would_have_been_hit_and_whom_it_contradicts(services):
    for number in range(3):
        verdict = sent(services, f"Cheap pills number {number}")
        ruling = Ruling.APPROVE if number == 0 else Ruling.REJECT
        decide_comment(verdict.comment_id, ruling, services, decided_by="Ola")
    sent(services, "Nothing of that kind")

    preview = preview_entry(new_entry(EntryKind.PHRASE, "cheap pills"), services)

    assert (preview.n_seen, preview.n_matched) == (4, 3)
    assert (preview.n_approved, preview.n_rejected) == (1, 2)
    assert (preview.n_against, preview.n_contrary) == (1, 1)
    assert not preview.is_too_common
    assert services.list_entries.in_force(services.clock()) == []


def test_a_phrase_of_everyday_is_refused(services, classifier):
    classifier.answer = replace(classifier.answer, p_spam=0.01)
    for number in range(6):
        sent(services, f"Thank you for this, number {number}")

    said = problems_of(services, new_entry(EntryKind.PHRASE, "thank you"))

    assert said == {"value": "is found in too many comments that stand the other way"}
    add_entry(new_entry(EntryKind.PHRASE, "thank you", effect=Effect.ALLOW), services, by="Ola")


def _names(services, comment, effect):
    return [trait.name for trait in traits_of(comment, effect, services)]


def _kept(services, **changes):
    values = {
        "text": "Buy at https://pills-direct.shop and see https://en.wikipedia.org/wiki/Pill",
        "author": Author(name="M", url="https://me.pills-mine.com"),
        "sender": make_sender(address=ADDRESS, email=EMAIL, secrets=services.sender_secrets),
    }
    return submit_one(services, lane=Lane.INTERACTIVE, **(values | changes))


def test_a_comment_offers_what_can_be_blocked_and_less_to_allow(services):
    comment = _kept(services)

    domains = ["domain:pills-direct.shop", "domain:pills-mine.com"]
    assert _names(services, comment, Effect.BLOCK) == ["email", "address", "network", *domains]
    assert _names(services, comment, Effect.ALLOW) == ["email", "address", *domains]
    assert _names(services, make_comment("Hello", sender=Sender()), Effect.BLOCK) == []


def _listed(services, *what, effect=Effect.BLOCK):
    return decide_and_list(_kept(services).id, effect, what, services, by="Ola")


def _undo(case, services, entries):
    ids, seen = [entry.id for entry in entries], case.decision.id
    comment_id = case.comment.id
    return undo_reject_and_block(comment_id, ids, services, by="Ola", seen_decision_id=seen)


def test_a_comment_is_rejected_and_its_sender_blocked_and_one_undo_takes_both_back(services):
    case, entries = _listed(services, "email", "address", "network", "domain:pills-direct.shop")

    days = {e.kind: e.expires_at and (e.expires_at - e.added_at).days for e in entries}
    assert case.decision.ruling is Ruling.REJECT
    assert days == {
        EntryKind.EMAIL: None,
        EntryKind.ADDRESS: 30,
        EntryKind.NETWORK: 7,
        EntryKind.DOMAIN: None,
    }
    comment_id = case.comment.id
    assert {(e.comment_id, e.site_id) for e in entries} == {(comment_id, SITE)}
    assert sent(services, "Hello", email=EMAIL).outcome is Outcome.SPAM

    assert _undo(case, services, entries).decision is None
    assert services.list_entries.in_force(services.clock()) == []
    assert sent(services, "Hello", email=EMAIL).outcome is Outcome.UNSURE


def test_trusting_approves_and_allows(services):
    case, _ = _listed(services, "email", effect=Effect.ALLOW)

    assert case.decision.ruling is Ruling.APPROVE
    assert sent(services, "Hello", email=EMAIL).outcome is Outcome.HAM


def test_what_is_listed_already_is_left_and_stays_after_the_undo(services):
    foreign = add_entry(new_entry(EntryKind.EMAIL, EMAIL), services, by="Kim")

    case, entries = _listed(services, "email", "address")
    _undo(case, services, [foreign])

    assert [entry.kind for entry in entries] == [EntryKind.ADDRESS]
    assert services.list_entries.get(foreign.id).removed_at is None


def test_full_lists_grow_no_further_and_the_ruling_stands(services, monkeypatch):
    monkeypatch.setattr("service.moderation.reject_and_block.MAX_IN_FORCE", 2)
    _listed(services, "email")

    case, entries = _listed(services, "address", "network")

    assert case.decision.ruling is Ruling.REJECT
    assert [entry.kind for entry in entries] == [EntryKind.ADDRESS]


def test_who_ruled_the_other_way_meanwhile_is_not_overruled_and_nothing_is_listed(services):
    comment = _kept(services)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Kim")

    with pytest.raises(ConflictError):
        decide_and_list(comment.id, Effect.BLOCK, ["email"], services, by="Ola")

    assert services.list_entries.in_force(services.clock()) == []


def test_nothing_can_be_listed_that_the_comment_does_not_have(services):
    comment = _kept(services)

    for what in (["domain:somebody-elses.com"], ["phrase"], ["email", "nonsense"]):
        with pytest.raises(InvalidInputError):
            decide_and_list(comment.id, Effect.BLOCK, what, services, by="Ola")

    assert services.cases.get(comment.id).decision is None


def _add(effect, services):
    return lambda: add_entry(new_entry(EntryKind.EMAIL, EMAIL, effect=effect), services, by="Ola")


def _restore(effect, services):
    entry = _add(effect, services)()
    remove_entry(entry.id, services, by="Ola")
    return lambda: restore_entry(entry.id, services, by="Ola")


def _rule_and_list(effect, services):
    comment = _kept(services)
    return lambda: decide_and_list(comment.id, effect, ["email"], services, by="Ola")


@pytest.mark.parametrize("prepare", [_add, _restore, _rule_and_list])
def test_of_two_moderators_who_list_a_sender_at_once_one_does(services, monkeypatch, prepare):
    acts = [prepare(effect, services) for effect in Effect]
    # Both have read what is in force before one of them has changed it.
    ready, write = Barrier(2), services.list_entries.write

    def write_together(work):
        ready.wait(5)
        return write(work)

    def succeeds(act) -> bool:
        with suppress(InvalidInputError):
            return bool(act())
        return False

    monkeypatch.setattr(services.list_entries, "write", write_together)
    with ThreadPoolExecutor(2) as pool:
        succeeded = list(pool.map(succeeds, acts))

    assert len(services.list_entries.in_force(services.clock())) == 1
    assert succeeded.count(True) == (2 if prepare is _rule_and_list else 1)


def test_who_is_forgotten_while_they_are_ruled_on_is_not_listed(services, monkeypatch):
    def decide_and_forget(comment_id, *given, **named):
        case = decide_comment(comment_id, *given, **named)
        forget_sender(find_person(services, email=EMAIL).sender, services, by="ada")
        return case

    monkeypatch.setattr("service.moderation.reject_and_block.decide_comment", decide_and_forget)

    _, entries = _listed(services, "email", "address", "domain:pills-direct.shop")

    assert [entry.kind for entry in entries] == [EntryKind.DOMAIN]
    assert services.list_entries.in_force(services.clock()) == entries
