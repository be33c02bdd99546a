"""Holds every comment store to its contract."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.domain.case import CaseFilter
from service.domain.comment import (
    MAX_TEXT_BYTES,
    Author,
    Comment,
    CommentId,
    Edit,
    Lane,
    ListHits,
    Listing,
    ListKind,
    Post,
    RuledText,
    Sender,
    SiteId,
)
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.site import SiteSettings
from service.ports.comments import Added, AddOutcome, NewComment
from service.stores.sql import comments as sql_comments
from service.stores.sql.engine import write
from tests.contract.conftest import at_once
from tests.databases import engine_on
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    keep_all,
    make_comment,
    make_decision,
    make_full_comment,
    make_verdict,
)


def new(comment: Comment, *, key: str | None = None, lane: Lane = Lane.BULK) -> NewComment:
    return NewComment(comment=comment, lane=lane, idempotency_key=key)


def keep(stores, *comments: Comment, lane: Lane = Lane.BULK) -> list[CommentId]:
    stores.comments.add([new(comment, lane=lane) for comment in comments])
    return [comment.id for comment in comments]


def judge(stores, *ids: CommentId) -> None:
    stores.verdicts.add([make_verdict(comment_id) for comment_id in ids], audit=frozenset())


def count(stores) -> int:
    return stores.cases.count(CaseFilter())


def test_a_comment_comes_back_as_it_was(stores):
    comment = make_full_comment(
        written_at=NOW - timedelta(hours=2),
        edit=Edit.ADDED_LINK,
        ruled=RuledText(approved=True, by="Ada", words=(7, 2**32 - 1), spellings=(0, 9)),
        received_at=datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
    )

    answers = stores.comments.add([new(comment)])

    assert answers == [Added(outcome=AddOutcome.NEW, comment_id=comment.id)]
    assert stores.cases.get(comment.id).comment == comment


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("key", ["key", "own id", "id"])
def test_under_a_known_key_the_same_content_is_a_repeat_and_other_content_a_conflict(
    stores, key, together
):
    own_id = "x" * 10_000 if key == "own id" else None
    first = make_comment("one thing", site_comment_id=own_id)
    later = replace(first, received_at=NOW + timedelta(minutes=5))
    other = make_comment("another thing", site_comment_id=own_id, id=first.id)
    if key != "id":
        later, other = replace(later, id=CommentId("later")), replace(other, id=CommentId("other"))
    given = [new(one, key="y" * 10_000 if key == "key" else None) for one in (first, later, other)]

    parts = [given] if together else [[one] for one in given]
    answers = [answer for part in parts for answer in stores.comments.add(part)]

    assert answers == [
        Added(outcome=outcome, comment_id=first.id)
        for outcome in (AddOutcome.NEW, AddOutcome.REPEAT, AddOutcome.CONFLICT)
    ]
    assert count(stores) == 1


def test_equal_keys_of_two_sites_or_of_two_kinds_never_meet(stores):
    here, by_key = make_comment("one thing", site_comment_id="same"), make_comment("two")
    there = make_comment("another thing", site_comment_id="same", site_id=OTHER_SITE)

    answers = stores.comments.add([new(here), new(there, key="same"), new(by_key, key="same")])

    assert [a.outcome for a in answers] == [AddOutcome.NEW] * 3


def test_one_comment_of_an_unknown_site_keeps_the_whole_call_out(stores):
    stranger = make_comment(site_id=SiteId("nobody"))

    with pytest.raises(NotFoundError):
        stores.comments.add([new(make_comment()), new(stranger)])

    assert count(stores) == 0


def test_more_than_a_thousand_comments_are_answered_in_order(stores):
    comments = [make_comment(f"comment {n}") for n in range(1_200)]

    answers = stores.comments.add([new(c, key=f"k{n}") for n, c in enumerate(comments)])

    assert [a.comment_id for a in answers] == [c.id for c in comments]
    assert {a.outcome for a in answers} == {AddOutcome.NEW}
    assert count(stores) == 1_200


def test_batches_whose_keys_cross_do_not_hinder_each_other(stores):
    def add(number: int) -> list[Added]:
        texts = range(60) if number % 2 else reversed(range(60))
        batch = [
            new(make_comment(f"text {n}", id=CommentId(f"{number}-{n}")), key=f"k{n}")
            for n in texts
        ]
        return stores.comments.add(batch)

    batches = at_once(*(partial(add, number) for number in range(12)))

    outcomes = Counter(answer.outcome for batch in batches for answer in batch)
    assert outcomes == {AddOutcome.NEW: 60, AddOutcome.REPEAT: 60 * 11}
    assert count(stores) == 60


def test_a_deadlock_that_only_the_driver_tells_of_heals_as_well(new_database):
    tries = []

    def work(connection):
        tries.append(1)
        if len(tries) == 1:
            # As within a COPY, which SQLAlchemy knows nothing of.
            driver = connection.connection.driver_connection
            driver.execute("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$")
        return "done"

    with new_database("postgresql") as url:
        answer = write(engine_on(url), work)

    assert (answer, len(tries)) == ("done", 2)


def test_only_kept_comments_without_a_verdict_are_loaded_each_once_in_order(stores):
    strict = SiteSettings(spam_cutoff=0.8)
    stores.sites.change_settings(OTHER_SITE, lambda _: strict)
    elsewhere = make_comment(site_id=OTHER_SITE)
    first, second, judged = keep(stores, make_comment(), elsewhere, make_comment())
    judge(stores, judged)

    attempts = stores.comments.load_unjudged([second, CommentId("no"), judged, first, second])

    assert [(a.comment.id, a.settings) for a in attempts] == [
        (second, strict),
        (first, SiteSettings()),
    ]


def test_attempts_are_counted_and_lowered_to_what_they_were_and_never_raised(stores):
    once, thrice, untried = keep(stores, make_comment(), make_comment(), make_comment())
    for ids in ([once, thrice], [thrice, CommentId("no")], [thrice]):
        stores.comments.count_attempt(ids)
    counted = [a.attempts for a in stores.comments.load_unjudged([once, thrice, untried])]

    for _ in range(2):
        stores.comments.lower_attempts({once: 0, thrice: 2, untried: 2, CommentId("no"): 0})

    attempts = stores.comments.load_unjudged([once, thrice, untried])
    assert counted == [1, 3, 0]
    assert [a.attempts for a in attempts] == [0, 2, 0]


def find_stranded(stores, lane: Lane = Lane.BULK, *, limit: int = 10) -> list[str]:
    return stores.comments.find_stranded(
        lane,
        queued_before=NOW - timedelta(minutes=10),
        received_before=NOW - timedelta(seconds=30),
        limit=limit,
    )


def test_what_was_never_queued_for_a_moment_or_queued_long_ago_is_stranded_until_it_is_judged(
    stores,
):
    def moments_ago(seconds: float) -> Comment:
        return make_comment(received_at=NOW - timedelta(seconds=seconds))

    old, _fresh, lost, waiting, judged = keep(
        stores, moments_ago(31), moments_ago(29), moments_ago(0), moments_ago(0), moments_ago(99)
    )
    stores.comments.mark_queued([lost, judged], NOW - timedelta(minutes=11))
    stores.comments.mark_queued([waiting], NOW - timedelta(minutes=9))
    judge(stores, judged)

    # The oldest come first.
    assert find_stranded(stores) == [old, lost]
    assert find_stranded(stores, limit=1) == [old]


def test_what_was_overtaken_in_its_lane_is_stranded(stores):
    overtaken, recent, ahead = keep(stores, make_comment(), make_comment(), make_comment())
    (other_lane,) = keep(stores, make_comment(), lane=Lane.INTERACTIVE)
    stores.comments.mark_queued([overtaken, other_lane], NOW - timedelta(minutes=5))
    stores.comments.mark_queued([recent], NOW - timedelta(seconds=90))
    stores.comments.mark_queued([ahead], NOW - timedelta(seconds=60))
    judge(stores, ahead)

    assert find_stranded(stores) == [overtaken]
    assert find_stranded(stores, Lane.INTERACTIVE) == []


def test_pending_comments_are_counted_by_lane(stores):
    bulk = keep(stores, make_comment(), make_comment(), make_comment())
    assert stores.comments.count_pending() == {Lane.INTERACTIVE: 0, Lane.BULK: 3}
    keep(stores, make_comment(), lane=Lane.INTERACTIVE)
    judge(stores, bulk[0])

    pending = stores.comments.count_pending()

    assert pending == {Lane.INTERACTIVE: 1, Lane.BULK: 2}


# Every code point, NUL and lone surrogates too: whatever was accepted is kept.
any_text = st.text(st.characters(exclude_categories=()), max_size=200)
maybe_text = st.none() | any_text
moments = st.integers(0, 2**52).map(lambda n: NOW + timedelta(microseconds=n))


@settings(
    max_examples=40,
    deadline=None,
    # The store is emptied by nobody between examples; fresh ids part them.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=any_text,
    name=maybe_text,
    title=maybe_text,
    own_id=maybe_text,
    key=maybe_text,
    age=st.none() | st.integers(0, 2**40),
    received_at=moments,
)
def test_text_of_any_code_points_is_kept_unchanged(
    stores, text, name, title, own_id, key, age, received_at
):
    comment = make_comment(
        text,
        received_at=received_at,
        author=Author(name=name, account_age_days=age),
        post=Post(title=title),
        site_comment_id=own_id,
    )

    answer = stores.comments.add([new(comment, key=key)])[0]

    kept = stores.cases.get(answer.comment_id).comment
    if answer.outcome is AddOutcome.NEW:
        assert kept == comment
    else:
        assert kept.site_id == SITE
        assert answer.comment_id != comment.id


def test_many_comments_at_once_come_back_as_they_were(stores):
    texts = ["\\N", "\\.", "tab\tand\nnew line\r", "\x00", "\x1a001a", "\ud800", "", "{a,b}", "🎉"]
    sender = Sender(address_key="a1", before_rotation=Sender(name_key="old"))
    comments = [
        make_comment(text * 3, site_comment_id=f"{place}-{number}", sender=sender)
        for number in range(4)
        for place, text in enumerate(texts)
    ]

    keep(stores, *comments)

    kept = stores.cases.find([one.id for one in comments])
    assert [case.comment for case in kept] == comments


@pytest.mark.parametrize("letter", ["a", "é", "漢", "🎉", "\x00", "\x1a"])
def test_the_longest_text_is_kept_unchanged(stores, letter):
    comment = make_comment(letter * (MAX_TEXT_BYTES // len(letter.encode())))

    keep(stores, comment)

    assert stores.cases.get(comment.id).comment.text == comment.text


@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        NOW.astimezone(timezone(timedelta(hours=-9, minutes=-30))),
    ],
    ids=str,
)
def test_a_moment_at_either_end_of_time_or_in_another_zone_comes_back(stores, moment):
    comment = make_comment(written_at=moment)

    keep_all(stores.comments, comment)

    kept = stores.cases.get(comment.id).comment.written_at
    assert kept == moment
    assert kept.tzinfo is not None


def test_hits_of_a_list_are_counted_with_the_rulings_in_force(stores):
    def listed(*names: str) -> Comment:
        found = (Listing(list_name=n, kind=ListKind.NETWORKS, age_days=1.0) for n in names)
        return make_comment(sender=Sender(listings=tuple(found)))

    spam, undone, ham, *_ = keep(
        stores, listed("a", "b"), listed("a"), listed("a"), listed("b"), make_comment()
    )
    for number, (comment_id, ruling) in enumerate(
        [(spam, Ruling.REJECT), (undone, Ruling.REJECT), (ham, Ruling.APPROVE)]
    ):
        stores.decisions.add(make_decision(f"listed{number}", comment_id, ruling))
    stores.decisions.undo(undone, by="ada", at=NOW)

    assert stores.comments.count_listings() == {
        "a": ListHits(comments=3, approved=1, rejected=1),
        "b": ListHits(comments=2, rejected=1),
    }


def test_comments_are_found_by_the_ids_that_their_site_gave_them_withdrawn_ones_too(stores):
    first, second = make_comment(site_comment_id="w-1"), make_comment(site_comment_id="w-1@2")
    theirs = make_comment(site_comment_id="w-1", site_id=OTHER_SITE)
    keep(stores, first, second, theirs, make_comment())
    stores.personal_data.withdraw([second.id], at=NOW)

    found = stores.comments.find_by_site_ids(SITE, ["w-1", "w-1@2", "w-1@3", "w-1"])

    assert found == {"w-1": first.id, "w-1@2": second.id}
    assert stores.comments.find_by_site_ids(OTHER_SITE, ["w-1@2", "w-1"]) == {"w-1": theirs.id}


OWN = "github:IC_1"
LATER, DAY = NOW + timedelta(seconds=1), timedelta(days=1)


def written(**changes) -> NewComment:
    values = {"site_comment_id": OWN, "written_at": NOW} | changes
    return NewComment(comment=make_comment("Quastenflosser.", **values), lane=Lane.BULK)


def note(stores, site_comment_id=OWN, site_id=SITE, at=NOW, deleted_at=NOW):
    stores.comments.note_deletion(site_id, site_comment_id, deleted_at=deleted_at, at=at)


@pytest.mark.parametrize(
    ("comment", "outcome"),
    [
        ({}, AddOutcome.DELETED),
        ({"written_at": None}, AddOutcome.DELETED),
        ({"site_comment_id": f"{OWN}@2"}, AddOutcome.DELETED),
        ({"written_at": LATER, "received_at": LATER}, AddOutcome.NEW),
        *(({"written_at": LATER + ahead}, AddOutcome.DELETED) for ahead in (0 * DAY, DAY / 3)),
        ({"site_comment_id": "github:IC_2"}, AddOutcome.NEW),
        ({"site_comment_id": None}, AddOutcome.NEW),
        ({"site_id": OTHER_SITE}, AddOutcome.NEW),
    ],
)
def test_what_was_written_before_its_deletion_is_never_kept(stores, comment, outcome):
    note(stores)
    sent = written(**comment)

    answers = stores.comments.add([written(site_comment_id="another"), sent])

    assert [answer.outcome for answer in answers] == [AddOutcome.NEW, outcome]
    assert answers[1].comment_id == sent.comment.id
    kept = stores.cases.find([sent.comment.id])
    assert [case.comment.text for case in kept] == (
        ["Quastenflosser."] if outcome is AddOutcome.NEW else []
    )


def test_by_a_clock_that_is_ahead_too_what_is_written_later_is_kept(stores):
    note(stores, deleted_at=NOW + DAY)

    sent = [written(written_at=at + DAY, received_at=LATER) for at in (NOW, LATER)]

    answers = [stores.comments.add([one])[0].outcome for one in sent]
    assert answers == [AddOutcome.DELETED, AddOutcome.NEW]


@pytest.mark.parametrize("takes_back", ["forget", "prune"])
def test_a_deletion_that_is_forgotten_is_none(stores, takes_back):
    note(stores)
    if takes_back == "forget":
        stores.comments.forget_deletion(SITE, OWN)
    else:
        assert stores.comments.prune_deletions(noted_before=NOW) == 0
        assert stores.comments.prune_deletions(noted_before=LATER) == 1

    assert stores.comments.add([written()])[0].outcome is AddOutcome.NEW


def test_the_newest_deletions_of_a_site_are_remembered(stores, monkeypatch):
    monkeypatch.setattr(sql_comments, "MOST_EARLY_DELETIONS", 2)
    for number in range(4):
        note(stores, f"own-{number}", at=NOW + timedelta(seconds=number))
    note(stores, "elsewhere", site_id=SiteId("site-2"))

    answers = stores.comments.add([written(site_comment_id=f"own-{number}") for number in range(4)])

    assert [a.outcome for a in answers] == [AddOutcome.NEW] * 2 + [AddOutcome.DELETED] * 2


def test_a_deletion_and_a_creation_at_once_leave_no_text(stores):
    for number in range(20):
        own = f"own-{number}"
        sent = written(site_comment_id=own)

        def delete(own=own):
            note(stores, own)
            for comment_id in stores.comments.find_by_site_ids(SITE, [own]).values():
                stores.personal_data.withdraw([comment_id], at=NOW)

        at_once(delete, partial(stores.comments.add, [sent]))

        assert all(not case.comment.text for case in stores.cases.find([sent.comment.id]))
