"""Which entry a comment must follow, when several match it or none does."""

from datetime import timedelta

import pytest

from service.domain.comment import Author, Sender
from service.domain.list_entry import Effect, EntryKind
from service.signals.list_entry_index import ListEntryIndex
from tests.factories import NOW, make_comment, make_entry

SENDER = Sender(
    address_key="addr",
    network_key="net",
    wide_network_key="wide",
    email_key="mail",
    email_domain="Mail.Shop.example",
    before_rotation=Sender(address_key="old addr", network_key="old net", email_key="old mail"),
)


def phrase(text: str, **changes):
    return make_entry(kind=EntryKind.PHRASE, label=text, keys=(text,), **changes)


def found(entries, comment, at=NOW):
    return ListEntryIndex(entries).find(comment, at=at)


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (EntryKind.EMAIL, "mail"),
        (EntryKind.ADDRESS, "old addr"),
        (EntryKind.NETWORK, "net"),
        (EntryKind.NETWORK, "wide"),
        (EntryKind.NETWORK, "old net"),
        (EntryKind.MAIL_DOMAIN, "shop.example"),
    ],
)
def test_a_sender_is_recognised_by_each_of_its_keys_those_before_a_rotation_too(kind, key):
    entry = make_entry(kind=kind, keys=("another", key))

    assert found([entry], make_comment(sender=SENDER)) is entry


def test_a_key_of_one_kind_never_matches_as_another():
    entry = make_entry(kind=EntryKind.EMAIL, keys=("addr",))

    assert found([entry], make_comment(sender=SENDER)) is None


def test_links_to_the_site_itself_are_nobodys_domain():
    entry = make_entry(keys=("blog.example",))

    assert found([entry], make_comment("See https://blog.example/p/2")) is None


def test_one_allowed_link_does_not_vouch_for_another():
    allowed = make_entry(effect=Effect.ALLOW, keys=("good.example",))
    mixed = make_comment("See https://good.example/ and https://pills.example/")

    assert found([allowed], mixed) is None
    assert found([allowed], make_comment("See https://good.example/")) is allowed
    assert found([allowed, make_entry(site_id="site-2")], mixed) is None
    blocked = make_entry()
    assert found([allowed, blocked], mixed) is blocked


@pytest.mark.parametrize(
    ("words", "text", "is_found"),
    [
        ("cheap pills", "Get CHEAP   pills, today", True),
        ("cheap pills", "cheap\u200b pil\u00adls", True),
        ("cheap pills", "Get “cheap” (pills)!", True),
        # In scripts without spaces.
        ("바 카 라", "온라인바카라를 추천", True),
        *[("賭場", f"線上賭{filler}場推薦", True) for filler in "\u3164\u115f\u1160\uffa0\u180c"],
        ("cheap pills", "cheap\u3164pills", True),
        ("cheap pills", "ch\u3164eap pi\u1160lls", True),
        ("cheap pills", "cheap pillsbury", False),
        ("cheap pills", "ischeap pills?", False),
    ],
)
def test_a_phrase_is_recognised_through_case_marks_and_disguise_and_in_no_other_words(
    words, text, is_found
):
    assert (found([phrase(words)], make_comment(text)) is not None) is is_found


@pytest.mark.parametrize(("name", "is_found"), [("Cheap PI​LLS Online", True), ("Spillson", False)])
def test_a_phrase_is_looked_for_in_the_authors_name(name, is_found):
    comment = make_comment("Thanks!", author=Author(name=name))

    assert bool(found([phrase("pills")], comment)) is is_found


def test_all_of_many_phrases_that_end_alike_are_found():
    entries = [phrase("pills"), phrase("cheap pills"), phrase("very cheap pills", site_id=None)]

    comment = make_comment("buy very cheap pills")

    assert [found([entry], comment) for entry in entries] == entries
    assert found(entries, comment).keys in {("pills",), ("cheap pills",)}


def test_a_hostile_text_against_a_thousand_phrases_comes_to_an_end():
    words = [phrase(" ".join(["a"] * n)) for n in range(3, 100)]
    words += [phrase(f"word{n} " * 20) for n in range(900)]
    index = ListEntryIndex(words)

    assert index.find(make_comment("a " * 32_000), at=NOW) is not None
    assert index.find(make_comment("a\u0301" * 16_000), at=NOW) is None


E, A, N, D = EntryKind.EMAIL, EntryKind.ADDRESS, EntryKind.NETWORK, EntryKind.DOMAIN
KEYS = {E: "mail", A: "addr", N: "net", D: "pills.example", EntryKind.PHRASE: "pills"}


@pytest.mark.parametrize(
    ("stands", "yields"),
    [
        ({"kind": E, "effect": Effect.BLOCK}, {"kind": D, "effect": Effect.ALLOW}),
        ({"kind": A, "effect": Effect.ALLOW}, {"kind": N, "effect": Effect.BLOCK}),
        ({"kind": D, "effect": Effect.BLOCK}, {"kind": N, "effect": Effect.ALLOW}),
        ({"kind": N, "effect": Effect.BLOCK}, {"kind": EntryKind.PHRASE, "effect": Effect.ALLOW}),
        ({"kind": E, "site_id": None}, {"kind": D}),
        ({"kind": E, "effect": Effect.BLOCK}, {"kind": A, "effect": Effect.ALLOW, "site_id": None}),
        ({"kind": E, "effect": Effect.ALLOW}, {"kind": A, "effect": Effect.BLOCK}),
        ({"kind": N, "effect": Effect.ALLOW}, {"kind": N, "effect": Effect.BLOCK}),
        ({"kind": N}, {"kind": N, "added_at": NOW - timedelta(days=1)}),
        (
            {"kind": D, "keys": ("shop.pills.example",)},
            {"kind": D, "effect": Effect.ALLOW},
        ),
    ],
)
def test_of_two_that_match_the_closer_one_stands(stands, yields):
    first = make_entry(**({"keys": (KEYS[stands["kind"]],)} | stands))
    second = make_entry(**({"keys": (KEYS[yields["kind"]],)} | yields))
    comment = make_comment("pills at https://shop.pills.example/", sender=SENDER)

    assert found([first, second], comment) is first
    assert found([second, first], comment) is first
    assert found([second], comment) is second


def test_entries_of_other_sites_and_ended_ones_say_nothing():
    gone = make_entry(removed_at=NOW, removed_by="Ola")
    expiring = make_entry(expires_at=NOW + timedelta(days=1))
    comment = make_comment("https://pills.example/")

    assert found([make_entry(site_id="site-2"), gone], comment) is None
    assert found([expiring], comment) is expiring
    assert found([expiring], comment, at=NOW + timedelta(days=1)) is None
