"""Holds every store of list entries to its contract."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from service.domain.errors import ConflictError, NotFoundError
from service.domain.list_entry import Effect, EntryFilter, EntryKind
from service.domain.verdict import Outcome
from service.stores.sql.list_entries import ListEntryCache
from service.stores.sql.tables import list_entries
from tests.contract.conftest import leaf_through
from tests.factories import NOW, SITE, keep_one, make_comment, make_entry, make_verdict


def ids(entries) -> list[str]:
    return [entry.id for entry in entries]


def in_force(**narrowed) -> EntryFilter:
    return EntryFilter(in_force=True, at=NOW, **narrowed)


def test_an_entry_comes_back_as_it_was(stores):
    entry = make_entry(
        site_id=None,
        kind=EntryKind.NETWORK,
        keys=("a" * 32, "b" * 32),
        label="aaaaaaaa",
        reason="Hostile \x00 \ud800 <b> % _ reason",
        expires_at=NOW + timedelta(days=1),
        comment_id="c1",
        hits=3,
        last_hit_at=NOW,
    )

    stores.list_entries.add([entry])

    assert stores.list_entries.get(entry.id) == entry
    assert stores.list_entries.in_force(NOW) == [entry]


def test_of_several_all_are_kept_or_none_and_an_id_is_given_once(stores):
    entry = make_entry()
    stores.list_entries.add([entry])

    with pytest.raises(NotFoundError):
        stores.list_entries.add([make_entry(), make_entry(site_id="nowhere")])
    with pytest.raises(ConflictError):
        stores.list_entries.add([make_entry(), replace(entry, reason="Another")])

    assert stores.list_entries.in_force(NOW) == [entry]


def test_what_is_in_force_and_what_ended_are_listed_apart(stores):
    # What expires is in force until that very moment.
    lasting, expired = (
        make_entry(expires_at=NOW + timedelta(microseconds=1)),
        make_entry(expires_at=NOW),
    )
    removed, kept = make_entry(), make_entry()
    stores.list_entries.add([lasting, expired, removed, kept])
    stores.list_entries.remove(removed.id, by="Ola", at=NOW)

    ended = stores.list_entries.page(EntryFilter(in_force=False, at=NOW), cursor=None, limit=9)

    assert set(ids(ended.items)) == {expired.id, removed.id}
    assert set(ids(stores.list_entries.in_force(NOW))) == {lasting.id, kept.id}


def test_a_removed_entry_stays_to_be_read_and_can_be_restored(stores):
    entry = make_entry()
    stores.list_entries.add([entry])

    for by in ("Kim", "Ola"):
        stores.list_entries.remove(entry.id, by=by, at=NOW)

    assert stores.list_entries.get(entry.id) == replace(entry, removed_at=NOW, removed_by="Kim")
    assert stores.list_entries.in_force(NOW) == []
    for _ in range(2):
        stores.list_entries.restore(entry.id, at=NOW)
    assert stores.list_entries.in_force(NOW) == [entry]


def test_pages_go_from_the_newest_to_the_oldest_and_miss_none(stores):
    entries = [make_entry(added_at=NOW + timedelta(hours=n // 2)) for n in range(5)]
    stores.list_entries.add(entries)

    pages = leaf_through(
        lambda cursor: stores.list_entries.page(in_force(), cursor=cursor, limit=2)
    )

    assert [len(page.items) for page in pages] == [2, 2, 1]
    assert ids(one for page in pages for one in page.items) == ids(reversed(entries))
    assert stores.list_entries.count(in_force()) == 5


def test_lists_are_narrowed_by_effect_kind_and_site(stores):
    everywhere = make_entry(site_id=None, effect=Effect.ALLOW)
    here = make_entry(kind=EntryKind.PHRASE)
    there = make_entry(site_id="site-2")
    stores.list_entries.add([everywhere, here, there])

    def found(**narrowed):
        page = stores.list_entries.page(in_force(**narrowed), cursor=None, limit=9)
        assert stores.list_entries.count(in_force(**narrowed)) == len(page.items)
        return set(ids(page.items))

    assert found(effect=Effect.ALLOW) == {everywhere.id}
    assert found(kind=EntryKind.PHRASE) == {here.id}
    assert found(site_id=SITE) == {here.id}
    assert found(site_ids=(SITE,)) == {everywhere.id, here.id}
    assert found(site_ids=()) == {everywhere.id}


@pytest.mark.parametrize("words", ["PILLS", "sells", "ÖLA", "100%", "a_b", "\\"])
def test_words_are_found_in_label_reason_and_name_without_regard_to_case(stores, words):
    wanted = make_entry(reason="Sells 100% a_b \\ stuff", added_by="Öla")
    stores.list_entries.add([wanted, make_entry(label="other.example", reason="No")])

    page = stores.list_entries.page(in_force(words=words), cursor=None, limit=9)

    assert ids(page.items) == [wanted.id]


def test_hits_add_up_and_say_when_the_last_one_was(stores):
    entry, other = make_entry(), make_entry()
    stores.list_entries.add([entry, other])
    before = stores.list_entries.version()

    stores.list_entries.count_hits({entry.id: 2, "unknown": 1}, at=NOW)
    stores.list_entries.count_hits({entry.id: 3}, at=NOW + timedelta(hours=1))
    stores.list_entries.count_hits({}, at=NOW)

    kept = stores.list_entries.get(entry.id)
    assert (kept.hits, kept.last_hit_at) == (5, NOW + timedelta(hours=1))
    assert stores.list_entries.get(other.id) == other
    assert stores.list_entries.version() == before


def test_the_version_grows_with_every_change(stores):
    entry = make_entry(kind=EntryKind.EMAIL, keys=("k",))
    versions = [stores.list_entries.version()]

    for change in (
        lambda: stores.list_entries.add([entry]),
        lambda: stores.list_entries.remove(entry.id, by="Ola", at=NOW),
        lambda: stores.list_entries.restore(entry.id, at=NOW),
        lambda: stores.list_entries.forget(["k"]),
    ):
        change()
        versions.append(stores.list_entries.version())

    assert versions == sorted(set(versions))


def test_a_persons_entries_are_forgotten_for_good_and_shared_ones_stay(stores):
    email = make_entry(kind=EntryKind.EMAIL, keys=("new", "old"))
    address = make_entry(kind=EntryKind.ADDRESS, keys=("addr",))
    shared = make_entry(kind=EntryKind.NETWORK, keys=("addr",))
    other = make_entry(kind=EntryKind.EMAIL, keys=("other",))
    stores.list_entries.add([email, address, shared, other])
    stores.list_entries.remove(email.id, by="Ola", at=NOW)
    following = {one: keep_one(stores) for one in (address, shared, other)}
    spam = partial(make_verdict, outcome=Outcome.SPAM)
    given = [spam(kept, instruction=one.instruction) for one, kept in following.items()]
    stores.verdicts.add(given, audit=frozenset())

    known = stores.list_entries.known_by(["old", "addr"])
    gone = stores.list_entries.forget(["old", "addr"])

    assert ids(known) == [email.id, address.id]
    told = [case.verdict.instruction.reason for case in map(stores.cases.get, following.values())]
    assert (gone, told) == (2, ["erased", shared.reason, other.reason])
    assert set(ids(stores.list_entries.in_force(NOW))) == {shared.id, other.id}
    with pytest.raises(NotFoundError):
        stores.list_entries.get(email.id)


def test_the_index_is_read_anew_only_when_something_changed_and_time_has_passed(stores):
    seconds = [0.0]
    cache = ListEntryCache(
        stores.list_entries, lambda: NOW, recheck_seconds=0.5, monotonic=lambda: seconds[0]
    )
    comment = make_comment("See https://pills.example/now")
    empty = cache.current()
    stores.list_entries.add([make_entry()])

    at_once = cache.current()
    seconds[0] = 0.5
    later = cache.current()
    seconds[0] = 1.0

    assert at_once is empty
    assert later.find(comment, at=NOW) is not None
    assert cache.current() is later


def test_an_entry_of_a_kind_that_is_not_known_keeps_no_others_from_being_followed(stores):
    odd, known = make_entry(), make_entry(keys=("bets.example",), label="bets.example")
    stores.list_entries.add([odd, known])
    with stores.engine.begin() as connection:
        later = sa.update(list_entries).where(list_entries.c.id == odd.id)
        connection.execute(later.values(kind="handle"))

    assert stores.list_entries.in_force(NOW) == [known]
