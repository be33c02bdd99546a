"""Holds every history store, and the notes beside it, to its contract."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from random import Random

import pytest

from service.domain.comment import Comment, Edit, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError
from service.domain.sender import Conduct, History, Record, TrackRecord
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.notes import DigestClaims, RebuildPlace, SpentTokens
from tests.contract.conftest import at_once, memory_and_valkey
from tests.factories import NOW, OTHER_SITE, SITE, make_comment
from tests.in_memory import MemoryDigestClaims, MemoryRebuildPlace, MemorySpentTokens

TRACK_RECORDS = [key for key in fields(History) if key.name != "conduct"]


def decided(store: ValkeyHistoryStore, comments: Sequence[Comment]) -> list[History]:
    """Gather, and leave the sightings out: most tests are about decisions alone."""
    return [
        replace(
            history,
            conduct=None,
            **{key.name: _unseen(getattr(history, key.name)) for key in TRACK_RECORDS},
        )
        for history in store.gather(comments, now=NOW)
    ]


def _unseen(track_record: TrackRecord) -> TrackRecord:
    return TrackRecord(
        here=replace(track_record.here, seen_hour=0, seen_day=0),
        everywhere=replace(track_record.everywhere, seen_hour=0, seen_day=0),
    )


def both(**counts: float) -> TrackRecord:
    """Return the track record of what happened at the comment's own site alone."""
    return TrackRecord(here=Record(**counts), everywhere=Record(**counts))


def sent_by(address: str = "a1", network: str = "n1", email: str = "e1") -> Comment:
    return make_comment(
        "hello", sender=Sender(address_key=address, network_key=network, email_key=email)
    )


def test_only_what_two_senders_share_is_remembered_of_both(history):
    history.learn("d1", sent_by("a1", "n1", "e1"), Ruling.APPROVE, at=NOW)
    history.learn("d2", sent_by("a2", "n1", "e2"), Ruling.REJECT, at=NOW)

    seen = decided(history, [sent_by("a2", "n1", "e9")])

    shared = both(approved=1, rejected=1)
    assert seen == [History(address=both(rejected=1), network=shared)]


def test_equal_hashes_of_different_kinds_never_meet(history):
    history.learn("d1", sent_by(address="x", network="n", email="e"), Ruling.REJECT, at=NOW)

    seen = decided(history, [sent_by(address="n", network="e", email="x")])

    assert seen == [History()]


def test_what_was_counted_is_taken_back_exactly_once_and_for_good(history):
    history.learn("d1", sent_by(), Ruling.REJECT, at=NOW)
    history.learn("d2", sent_by(), Ruling.APPROVE, at=NOW)

    # Whatever ruling is named, what was counted goes.
    answers = [history.unlearn("d1", sent_by(), Ruling.APPROVE, at=NOW) for _ in range(2)]
    late_repeat = history.learn("d1", sent_by(), Ruling.REJECT, at=NOW)

    assert (answers, late_repeat) == ([True, False], False)
    assert decided(history, [sent_by()])[0].address.everywhere == Record(approved=1)


HOSTILE = "https://" + "x" * 200 + "\ud800.example/" + "y" * 50_000 + "\r\n"


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("buy at https://Shop.example http://SHOP.example/x", "again https://shop.example"),
        (HOSTILE, HOSTILE),
    ],
    ids=["twice", "hostile"],
)
def test_linked_domains_are_remembered_once_whoever_links_them(history, text, later):
    history.learn("d1", make_comment(text), Ruling.REJECT, at=NOW)

    assert decided(history, [make_comment(later)]) == [History(domains=both(rejected=1))]


def test_of_several_domains_the_worst_one_speaks(history):
    for number in range(3):
        history.learn(
            f"good-{number}", make_comment("https://video.example"), Ruling.APPROVE, at=NOW
        )
    history.learn("bad", make_comment("https://shop.example"), Ruling.REJECT, at=NOW)

    seen = decided(history, [make_comment("https://video.example and https://shop.example")])

    assert seen[0].domains.everywhere == Record(rejected=1)


def test_decisions_learnt_at_the_same_time_are_each_counted_once(history):
    def learn(number: int) -> bool:
        return history.learn(f"d{number}", sent_by(), Ruling.REJECT, at=NOW)

    answers = at_once(*(partial(learn, number % 10) for number in range(40)))

    assert sum(answers) == 10
    assert decided(history, [sent_by()])[0].address.everywhere == Record(rejected=10)


WORDS = (
    "Our workshop delivers handmade larch benches assembled and polished throughout the country, "
    "with certified timber, seven years guarantee and friendly personal advice every weekday"
)
EVERYTHING = Sender(
    address_key="a1",
    network_key="n1",
    wide_network_key="w1",
    system=64_496,
    email_key="e1",
    email_domain="benches.example",
    name_key="m1",
    account_key="k1",
)


def test_a_decision_counts_for_each_key_of_the_sender_and_what_it_sent(history):
    comment = make_comment(f"{WORDS} https://valve-shop.example.com", sender=EVERYTHING)
    history.learn("d1", comment, Ruling.REJECT, at=NOW)

    (seen,) = decided(history, [comment])

    assert {key.name: getattr(seen, key.name) for key in TRACK_RECORDS} == {
        key.name: both(rejected=1) for key in TRACK_RECORDS
    }


def test_free_mail_providers_are_nobodys_domain(history):
    comment = make_comment("hi", sender=Sender(email_domain="Gmail.com"))
    history.learn("d1", comment, Ruling.REJECT, at=NOW)

    assert decided(history, [comment]) == [History()]


def test_what_another_site_decided_is_known_everywhere_but_not_here(history):
    history.learn("d1", replace(sent_by(), site_id="site-2"), Ruling.REJECT, at=NOW)

    assert decided(history, [sent_by()])[0].address == TrackRecord(everywhere=Record(rejected=1))


def test_learning_and_taking_back_in_any_order_leaves_what_others_taught(history):
    random = Random(3)
    rulings = [random.choice(list(Ruling)) for _ in range(12)]
    moments = [NOW - timedelta(days=random.randrange(170)) for _ in range(12)]
    comment = said(OFFER, sender=EVERYTHING)
    for number in (0, 1, 2):
        history.learn(f"kept{number}", comment, rulings[number], at=moments[number])
    before = decided(history, [comment])

    for number in range(12):
        history.learn(f"d{number}", comment, rulings[number], at=moments[number])
    for number in random.sample(range(12), 12):
        history.unlearn(f"d{number}", comment, rulings[number], at=NOW)

    assert decided(history, [comment]) == before


def seen_of(histories: Sequence[History]) -> list[tuple[int, int]]:
    return [(h.address.everywhere.seen_hour, h.address.everywhere.seen_day) for h in histories]


def test_earlier_comments_of_a_batch_are_seen_by_the_later_ones(history):
    batch = [sent_by("a1"), sent_by("a2"), sent_by("a1"), sent_by("a1")]

    assert seen_of(history.gather(batch, now=NOW)) == [(0, 0), (0, 0), (1, 1), (2, 2)]


def test_a_comment_gathered_again_is_neither_counted_twice_nor_its_own_witness(history):
    one, other = sent_by(), sent_by()
    history.gather([one], now=NOW)

    again = history.gather([one, one], now=NOW + timedelta(minutes=2))
    later = history.gather([other, one], now=NOW + timedelta(minutes=3))

    assert seen_of(again) == [(0, 0), (0, 0)]
    assert seen_of(later) == [(1, 1), (1, 1)]


def test_sightings_last_for_about_an_hour_and_about_a_day(history):
    history.gather([sent_by()], now=NOW)

    after = [
        seen_of(history.gather([sent_by()], now=NOW + timedelta(hours=hours)))[0]
        for hours in (2, 26, 80)
    ]

    assert after == [(0, 1), (0, 2), (0, 0)]


def test_sightings_are_counted_where_a_burst_can_be_seen_and_at_all_sites_alone(history):
    history.gather([sent_by()], now=NOW)

    (seen,) = history.gather([sent_by()], now=NOW)

    assert seen.email.everywhere == Record(seen_hour=1, seen_day=1)
    assert seen.email.here == Record()
    assert seen.network == TrackRecord()


def test_the_copies_of_one_sender_are_seen_by_others_alone(history):
    copies = [make_comment(WORDS, sender=Sender(email_key="e")) for _ in range(3)]
    history.gather([replace(one, site_id=f"site-{at}") for at, one in enumerate(copies)], now=NOW)
    later = Sender(email_key="new", before_rotation=Sender(email_key="e"))
    senders = (Sender(email_key="e"), later, Sender(email_key="f"))

    seen = history.gather([make_comment(WORDS, sender=one) for one in senders], now=NOW)

    assert [one.content.everywhere.seen_day for one in seen] == [0, 0, 5]


def test_keys_from_before_a_rotation_are_read_and_no_longer_written(history):
    history.learn("d1", sent_by("old"), Ruling.REJECT, at=NOW)
    history.gather([sent_by("old")], now=NOW)
    rotated = Sender(address_key="new", before_rotation=Sender(address_key="old"))
    history.learn("d2", make_comment("hi", sender=rotated), Ruling.REJECT, at=NOW)

    (seen,) = history.gather([make_comment("hi", sender=rotated)], now=NOW)
    (of_old,) = history.gather([sent_by("old")], now=NOW)

    assert seen.address.here == Record(rejected=2)
    assert seen.address.everywhere == Record(rejected=2, seen_hour=1, seen_day=1)
    assert of_old.address.everywhere == Record(rejected=1, seen_hour=1, seen_day=1)


def test_forgetting_a_person_drops_their_records_and_leaves_what_others_share(history):
    older = Sender(address_key="a0", email_key="e0", name_key="m0")
    sender = replace(EVERYTHING, before_rotation=older)
    comment = make_comment(WORDS, sender=sender)
    history.learn("d0", make_comment("hi", sender=older), Ruling.REJECT, at=NOW)
    history.learn("d1", comment, Ruling.REJECT, at=NOW)
    history.learn("d2", replace(comment, site_id="site-2"), Ruling.REJECT, at=NOW)
    history.gather([comment], now=NOW)

    history.forget(sender)

    (seen,) = history.gather([comment], now=NOW)
    assert (seen.address, seen.email, seen.name) == (TrackRecord(), TrackRecord(), TrackRecord())
    assert seen.network.everywhere.rejected == 2
    assert seen.content.everywhere.rejected == 2


def test_a_blank_store_says_so_to_whoever_wants_all_or_nothing_until_it_was_filled(history):
    comment = sent_by()
    history.learn("d1", comment, Ruling.REJECT, at=NOW)
    before = history.is_blank()
    with pytest.raises(HistoryBlankError):
        history.gather([comment], now=NOW, only_filled=True)
    asked_without = history.gather([comment], now=NOW)

    for _ in range(2):
        history.mark_filled()

    assert (before, history.is_blank()) == (True, False)
    assert history.gather([comment], now=NOW, only_filled=True) == asked_without
    assert asked_without[0].address.everywhere.rejected == 1


# What a wipe must not hide.


place = memory_and_valkey(MemoryRebuildPlace, RebuildPlace)


def test_a_place_is_the_start_at_first_and_moves_and_is_cleared_where_it_was_seen_alone(place):
    seen = [place.find(), place.find()]
    moved = [place.move(0, 500), place.move(0, 700), place.move(500, 900)]
    seen.append(place.find())
    cleared = [
        place.move(0, None),
        place.move(900, None),
        place.move(900, None),
        place.move(900, 950),
    ]

    assert seen == [0, 0, 900]
    assert (moved, cleared) == ([True, False, True], [False, True, False, False])
    assert place.find() == 0


SENDER = Sender(account_key="k1", email_key="e1", name_key="m1")
OFFER = "Best valves with 50% discount, order now at https://valve-shop.example.com"
SOURCE = "The drawing is at https://ana-karlsson.example.org/radiators, I measured it twice."
PRAISE = "Great post! Thanks for sharing such valuable and informative content."


def said(text: str = SOURCE, **changes) -> Comment:
    return make_comment(text, **({"sender": SENDER} | changes))


def conduct_of(history: ValkeyHistoryStore, *, days: float = 0, **changes) -> Conduct | None:
    at = NOW + timedelta(days=days)
    return history.gather([said(**changes)], now=at)[0].conduct


def test_an_approval_counts_apart_for_what_was_shown(history):
    history.learn("d1", said(SOURCE), Ruling.APPROVE, at=NOW)
    history.learn("d2", said(OFFER), Ruling.APPROVE, at=NOW)

    (seen,) = history.gather([said(SOURCE)], now=NOW)

    assert seen.account == both(approved=2)
    assert replace(seen.email.everywhere, seen_hour=0, seen_day=0) == Record(approved=2)
    assert (seen.account_offers, seen.email_offers) == (both(approved=1), both(approved=1))


def test_what_an_account_did_before_is_counted_and_its_own_comment_is_not(history):
    for text in (SOURCE, OFFER, PRAISE, PRAISE):
        history.gather([said(text)], now=NOW)
    edited = (Edit.UNAPPROVED, Edit.APPROVED, Edit.ADDED_LINK, Edit.ADDED_OFFER)
    history.gather([said(OFFER, edit=edit) for edit in edited], now=NOW + timedelta(days=30))

    conduct = conduct_of(history, days=90)

    assert conduct is not None
    assert (conduct.remarks, conduct.offers) == (3, 1)
    assert conduct.quiet_days == 60


def test_earlier_comments_of_a_batch_count_for_the_later_ones(history):
    batch = [said(PRAISE), said(OFFER), said(SOURCE)]

    seen = [one.conduct for one in history.gather(batch, now=NOW)]
    again = [one.conduct for one in history.gather(batch, now=NOW)]

    assert seen[0] is None
    assert [(one.remarks, one.offers) for one in seen[1:]] == [(1, 0), (1, 1)]
    assert [(one.remarks, one.offers) for one in again] == [(2, 1)] * 3


def test_pitches_of_what_a_comment_names_are_counted(history):
    texts = ("I like Ventilo.", "We built Ventilo for exactly this.", PRAISE, "Ventilo would do.")

    seen = [history.gather([said(text)], now=NOW)[0].conduct for text in texts]

    assert [one.repeats for one in seen[1:]] == [0, 0, 1]


def test_an_account_that_was_away_for_400_days_is_new_again(history):
    history.gather([said()], now=NOW)

    assert conduct_of(history, days=399) is not None
    assert conduct_of(history, days=399 + 402) is None


def test_an_account_of_before_a_rotation_goes_on(history):
    history.gather([said(PRAISE)], now=NOW)
    rotated = Sender(account_key="k2", before_rotation=SENDER)
    history.gather([said(PRAISE, sender=rotated)], now=NOW)

    conduct = conduct_of(history, sender=rotated)

    assert conduct is not None
    assert conduct.remarks == 2


@pytest.mark.parametrize(
    "known",
    [
        Sender(account_key="k1"),
        Sender(email_key="e1"),
        Sender(name_key="m1"),
        Sender(before_rotation=Sender(email_key="e1")),
    ],
)
def test_a_forgotten_person_has_no_account_left_however_they_are_named(history, known):
    history.learn("d1", said(OFFER), Ruling.APPROVE, at=NOW)
    history.gather([said()], now=NOW)
    assert len(history.conducts(known, now=NOW)) == 1

    history.forget(known)

    assert history.conducts(known, now=NOW) == {}
    (seen,) = history.gather([said()], now=NOW)
    assert seen.conduct is None
    assert (seen.account, seen.account_offers) == (TrackRecord(), TrackRecord())


def test_one_account_at_two_sites_is_two(history):
    history.gather([said(site_id=SiteId("site-2"), sender=Sender(account_key="k2"))], now=NOW)

    assert conduct_of(history) is None


spent = memory_and_valkey(MemorySpentTokens, SpentTokens)


def test_a_token_is_used_once_though_the_same_use_may_come_again(spent):
    assert spent.spend("one", use="this comment", site_id=SITE)
    assert spent.spend("two", use="that comment", site_id=SITE)
    assert not spent.spend("one", use="that comment", site_id=SITE)
    assert spent.spend("one", use="this comment", site_id=SITE)


def test_only_a_site_whose_tokens_are_used_has_any(spent):
    assert not spent.are_used_by(OTHER_SITE)

    spent.spend("of another", use="a comment", site_id=OTHER_SITE)

    assert spent.are_used_by(OTHER_SITE)
    assert not spent.are_used_by(SiteId("site-3"))


claims = memory_and_valkey(MemoryDigestClaims, DigestClaims)


def test_a_digest_is_claimed_once_until_it_is_released(claims):
    claimed = [claims.claim(day) for day in ("2026-11-26", "2026-11-26", "2026-11-27")]
    for day in ("2026-11-26", "nothing"):
        claims.release(day)

    assert claimed == [True, False, True]
    assert claims.claim("2026-11-26")
