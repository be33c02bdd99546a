"""Senders who share what strangers do not are one ring; what people ruled on some speaks of all."""

from __future__ import annotations

from datetime import timedelta

import pytest

from models.inputs import ModelOutput
from service.campaigns.rings import MOST_OF_A_RING
from service.domain.comment import Author, Lane, Sender
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.intake.submit import submit_comments
from service.moderation.judging.group import GroupingMemory, group_fresh
from service.moderation.judging.ring import find_rings
from service.moderation.privacy.erase import erase_person, export_person, find_person
from service.moderation.review.decide import decide_comment, undo_decision
from service.ports.comments import NewComment
from service.scoring.set_weights import SET_WEIGHTS
from tests.factories import NOW, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, with_ports

SIGNAL = "rejected_ring_before"
# No two share a run of words; they share where they lead, and when they registered.
SAYINGS = (
    "Lovely write-up, my cousin found the same",
    "I had to bleed mine twice before the noise stopped",
    "Does anyone know whether they ship to Norway?",
    "We moved house last year and bought ours after long thought",
    "Honestly the cheapest way is to order and wait a week",
    "My plumber swears by it whenever pressure drops",
)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def services(clock):
    return make_services(clock=clock, classifier=FixedClassifier(0.6))


@pytest.fixture
def memory():
    return GroupingMemory("worker-1")


def submit(services, who, text, **changes):
    sender = Sender(account_key=who, email_domain="mail.example", network_key=f"net-{who}")
    author = Author(name=None, account_id=who, account_age_days=11)
    comment = make_comment(text, **({"author": author, "sender": sender} | changes))
    submit_comments([NewComment(comment=comment, lane=Lane.BULK)], services.intake, services.common)
    return comment.id


def planted(services, count, *, shop="valve-shop.example", first=0):
    """Submit a comment of each of so many accounts: one shop, registered on one day."""
    return [
        submit(services, f"acct-{n}", f"{SAYINGS[n % len(SAYINGS)]} https://{shop}/{n}")
        for n in range(first, first + count)
    ]


def find(services, memory):
    group_fresh(services, memory, goes_on=lambda: True)
    return find_rings(services.clusters, services.common, memory.rings, goes_on=lambda: True)


def ring_of(services, comment_id):
    kept = services.clusters.rings.kept_of([comment_id]).get(comment_id)
    return kept.ring_id if kept else None


def strength(services, comment_id):
    found = [
        w for w in services.review.cases.get(comment_id).verdict.signals if w.signal.name == SIGNAL
    ]
    return found[0].contribution if found else 0.0


def test_accounts_that_sell_one_thing_and_registered_together_are_a_ring(services, memory):
    ids = planted(services, 4)
    stranger = submit(services, "z", "The drain valve was stuck, so I greased it.", author=Author())

    assert find(services, memory) == 4

    assert len({ring_of(services, one) for one in ids}) == 1
    assert ring_of(services, ids[0]) is not None
    assert ring_of(services, stranger) is None
    [facts] = services.clusters.rings.facts([ring_of(services, ids[0])]).values()
    assert (facts.ties, facts.senders) == (("born", "target"), 4)


def test_what_comes_later_joins_and_a_second_look_changes_nothing(services, memory):
    first = planted(services, 4)
    find(services, memory)

    later = planted(services, 1, first=4)

    assert find(services, memory) == 1
    assert find(services, memory) == 0
    assert ring_of(services, later[0]) == ring_of(services, first[0])


def test_a_worker_that_takes_over_keeps_the_rings_there_are(services, memory, clock):
    first = planted(services, 4)
    find(services, memory)
    ring = ring_of(services, first[0])

    clock.now += timedelta(minutes=5)
    other = GroupingMemory("worker-2")
    later = planted(services, 1, first=4)
    find(services, other)

    assert {ring_of(services, one) for one in (*first, *later)} == {ring}
    group_fresh(services, memory, goes_on=lambda: True)
    assert memory.rings is None


class _Late:
    """Rings of which one act cannot be read at first, as it is still being written."""

    def __init__(self, rings, place):
        self._rings, self._place, self._reads = rings, place, 0

    def acts(self, **asked):
        self._reads += 1
        found = self._rings.acts(**asked)
        return [one for one in found if self._reads > 1 or one.place != self._place]

    def __getattr__(self, name):
        return getattr(self._rings, name)


def test_an_act_that_was_being_written_is_read_later(services, memory):
    ids = planted(services, 5)
    acts = services.clusters.rings.acts(after=0, limit=9)
    late = with_ports(services, rings=_Late(services.clusters.rings, acts[1].place))

    find(late, memory)
    found = memory.rings.graph.senders
    find(late, memory)

    assert (found, memory.rings.graph.senders) == (4, 5)
    assert ring_of(services, ids[1]) is not None


def test_a_class_that_cites_one_page_is_no_ring(services, memory):
    pupils = planted(services, MOST_OF_A_RING + 1)

    find(services, memory)

    assert [ring_of(services, one) for one in pupils] == [None] * len(pupils)


def test_a_ring_that_turns_out_to_be_a_crowd_is_released(services, memory):
    first = planted(services, 4)
    find(services, memory)
    assert ring_of(services, first[0]) is not None

    planted(services, MOST_OF_A_RING, first=4)
    find(services, memory)

    assert [ring_of(services, one) for one in first] == [None] * 4


def test_a_ring_that_people_ruled_on_stays_whatever_comes(services, memory):
    first = planted(services, 4)
    find(services, memory)
    decide_comment(first[0], Ruling.REJECT, services, decided_by="Mara")

    planted(services, MOST_OF_A_RING, first=4)
    find(services, memory)

    assert ring_of(services, first[0]) is not None


def test_rejecting_two_of_a_ring_speaks_against_its_others_and_undoing_takes_it_back(
    services, memory
):
    ids = planted(services, 4)
    find(services, memory)
    before = submit(services, "acct-3", "Mine is warm again.")
    for comment_id in ids[:2]:
        decide_comment(comment_id, Ruling.REJECT, services, decided_by="Mara")

    after = submit(services, "acct-3", "And the landing, too.")
    undo_decision(ids[0], services, undone_by="Mara")
    undone = submit(services, "acct-3", "The hall is next.")

    assert strength(services, before) == 0.0
    assert 0.0 < strength(services, after) <= SET_WEIGHTS[SIGNAL].weight == 1.0
    assert strength(services, undone) == 0.0


def test_what_was_ruled_on_oneself_is_not_ones_rings_doing(services, memory):
    planted(services, 4)
    own = [submit(services, "acct-0", f"Number {n} https://valve-shop.example") for n in range(3)]
    find(services, memory)
    for comment_id in own:
        decide_comment(comment_id, Ruling.REJECT, services, decided_by="Mara")

    assert strength(services, submit(services, "acct-0", "Once more.")) == 0.0
    assert strength(services, submit(services, "acct-1", "Me, too.")) > 0.0


def test_a_ring_alone_takes_no_sincere_comment_past_unsure(services, memory):
    ids = planted(services, 6)
    find(services, memory)
    for comment_id in ids[:5]:
        decide_comment(comment_id, Ruling.REJECT, services, decided_by="Mara")
    services.judging.current_model().classifier.answer = ModelOutput(p_spam=0.05)

    sincere = services.review.cases.get(submit(services, "acct-5", "The landing is warm.")).verdict

    assert strength(services, sincere.comment_id) > 0.5
    assert sincere.outcome is not Outcome.SPAM


def test_what_is_kept_is_handed_out_ends_and_is_erased(services, memory, clock):
    ids = planted(services, 3)
    mine = find_person(services.reputation, email="mara@example.org")
    keyed = Sender(email_key=mine.sender.email_key, email_domain="mail.example")
    own = submit(services, "acct-9", f"{SAYINGS[5]} https://valve-shop.example/9", sender=keyed)
    find(services, memory)
    assert ring_of(services, own) == ring_of(services, ids[0])

    [told] = [one for one in export_person(mine, services) if one["kind"] == "comment"]
    erase_person(mine, services, by="operator")

    assert told["ring"]["ring_id"] == ring_of(services, ids[0])
    assert told["ring"]["who"] == keyed.email_key
    assert {tie.partition(":")[0] for tie in told["ring"]["ties"]} >= {"target", "born"}
    assert services.clusters.rings.kept_of([own]) == {}

    clock.now = NOW + timedelta(days=402)
    find(services, memory)
    assert services.clusters.rings.kept_of(ids) == {}


def test_what_went_wrong_with_one_comment_keeps_no_verdict_from_being_stored(services, monkeypatch):
    def fail(*_args, **_named):
        raise ValueError("whatever")

    monkeypatch.setattr("service.moderation.judging.judge.act_of", fail)

    comment_id = submit(services, "a", "The drain valve was stuck.")

    assert services.review.cases.get(comment_id).verdict is not None
    assert services.clusters.rings.acts(after=0, limit=9) == []
