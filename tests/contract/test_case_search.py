"""Holds every search to its contract: what is found, in which order, how it is counted."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.comment import Author, Label, SiteId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.search import parse_search
from service.domain.verdict import Outcome, WeighedSignal
from tests.contract.conftest import leaf_through
from tests.factories import (
    NOW,
    SITE,
    keep_all,
    keep_one,
    make_comment,
    make_decision,
    make_report,
    make_signal,
    make_verdict,
)


@pytest.fixture
def kept(stores):
    """Return a function that keeps a comment and has it indexed; each is a minute older."""
    minutes = iter(range(10_000))

    def keep(text="Nothing of note.", outcome=Outcome.UNSURE, *, audit=False, verdict=None, **more):
        more = {"received_at": NOW - timedelta(minutes=next(minutes))} | more
        kept = keep_one(stores, outcome, audit=audit, verdict=verdict, text=text, **more)
        stores.search.index_due(limit=100)
        return kept

    return keep


def found(stores, line, site_ids=None):
    return stores.search.ids(parse_search(line), site_ids=site_ids, limit=1_000)


def decide(stores, comment_id, ruling, by="Ola"):
    decision = make_decision(f"d-{comment_id}-{ruling}", comment_id, ruling, decided_by=by)
    stores.decisions.add(decision)


TEXTS = {
    "creme": "Eat a Crème BRÛLÉE casinos love",
    "brook": "Nothing of the sort, only a brook",
    "loans": "cheap loans today",
    "flights": "cheap flights today",
    "bonus": "no deposit bonus",
    "bonuses": "a deposit, no bonuses",
    "dotted": "write me at t.me/quickgain now",
    "parted": "quickgain, if you ask me: t",
    "slimming": "神奇的减肥产品，加微信",
    "taxes": "税务问题",
    "ai": "an AI did it",
    "aid": "aid it is",
    "disguised": "fo\u200brex and \U0001d41e\U0001d41a\U0001d42c\U0001d432 money",
    "said": "Best Radiators",
    "linked": "see https://shop.pills.example.com/x",
    "elsewhere": "see https://other.com/example.com",
}
AUTHORS = {
    "named": Author(name="Best Radiators Ltd"),
    "authored": Author(name="Jo", url="http://example.com"),
}
EVERYTHING = {*TEXTS, *AUTHORS}
FOUND = {
    # Words, by their beginning, without regard to case and diacritics.
    "brule": {"creme"},
    "CASINO creme": {"creme"},
    "asino": set(),
    # All words must be there, and negated ones must not.
    "cheap today": {"loans", "flights"},
    "cheap -loans": {"flights"},
    "-loans": EVERYTHING - {"loans"},
    "cheap -loans -flights": set(),
    # Quoted words in their order only, and as they stand.
    '"no deposit"': {"bonus"},
    '"bonus"': {"bonus"},
    "bonus": {"bonus", "bonuses"},
    '-"no deposit" deposit': {"bonuses"},
    # What is written with dots and slashes is one phrase.
    "t.me/quick": {"dotted"},
    # Chinese, by any part of it.
    **dict.fromkeys(
        ("减肥", "肥产", "品", "减肥产品", "神奇的减", '"减肥产品" 神'), frozenset({"slimming"})
    ),
    # Words of two letters are found whole.
    "ai": {"ai"},
    # Hidden characters and styled letters hide no word.
    "forex easy": {"disguised"},
    'author:"best radiators"': {"named"},
    "author:radiat": {"named"},
    # Domains are those of links and of the author's address.
    "domain:example.com": {"linked", "authored"},
    "domain:shop.pills.example.com": {"linked"},
    "domain:https://EXAMPLE.com/any": {"linked", "authored"},
    "-domain:example.com": EVERYTHING - {"linked", "authored"},
}


def test_a_line_finds_what_it_says(stores, kept):
    names = {kept(text): name for name, text in TEXTS.items()}
    names |= {kept(author=author): name for name, author in AUTHORS.items()}

    seen = {line: [names[one] for one in found(stores, line)] for line in FOUND}

    assert {line: sorted(one) for line, one in seen.items()} == {
        line: sorted(expected) for line, expected in FOUND.items()
    }
    # The newest come first.
    assert seen["-loans"] == [name for name in names.values() if name != "loans"]


def test_verdicts_are_found_by_outcome_signal_version_and_flags(stores, kept):
    signal = WeighedSignal(signal=make_signal("too_fast"), weight=1.0, contribution=1.0)
    spam = kept(outcome=Outcome.SPAM, verdict={"signals": (signal,)}, audit=True)
    ham = kept(outcome=Outcome.HAM, verdict={"model_version": "minilm-2"})
    unsure = kept(verdict={"degraded_by": ("history",)})
    waiting = kept(outcome=None)

    assert found(stores, "outcome:spam") == [spam]
    assert found(stores, "outcome:spam outcome:ham") == [spam, ham]
    assert found(stores, "outcome:waiting") == [waiting]
    assert found(stores, "-outcome:spam") == [ham, unsure, waiting]
    assert found(stores, "signal:too_fast") == [spam]
    assert found(stores, "model:minilm-2") == [ham]
    assert found(stores, "degraded:yes") == [unsure]
    assert found(stores, "audit:yes") == [spam]
    assert found(stores, "audit:no outcome:ham") == found(stores, "-audit:yes outcome:ham") == [ham]


def test_a_comment_judged_after_it_was_indexed_is_found_by_its_verdict(stores, kept):
    late = kept("waits", outcome=None)

    stores.verdicts.add([make_verdict(late, Outcome.SPAM)], audit=frozenset())
    stores.search.index_due(limit=100)

    assert found(stores, "waits outcome:spam") == [late]
    assert found(stores, "outcome:waiting") == []


def test_decisions_count_at_once_and_undone_ones_no_more(stores, kept):
    approved, rejected, undone, open_one = (kept() for _ in range(4))
    decide(stores, approved, Ruling.APPROVE, by="Mara")
    decide(stores, rejected, Ruling.REJECT)
    decide(stores, undone, Ruling.REJECT)
    stores.decisions.undo(undone, by="Ola", at=NOW)

    assert found(stores, "decision:approve") == [approved]
    assert found(stores, "decision:reject") == [rejected]
    assert found(stores, "decision:none") == [undone, open_one]
    assert found(stores, "decision:none decision:approve") == [approved, undone, open_one]
    assert found(stores, "-decision:none") == [approved, rejected]
    assert found(stores, "by:mara") == [approved]
    assert found(stores, "-by:Mara decision:reject") == [rejected]


def test_reports_are_found_by_what_the_site_said_last(stores, kept):
    disputed, quiet = kept(outcome=Outcome.HAM), kept(outcome=Outcome.HAM)
    stores.reports.add(make_report(disputed, Label.SPAM))

    assert found(stores, "reported:yes") == [disputed]
    assert found(stores, "reported:spam") == [disputed]
    assert found(stores, "reported:ham") == []
    assert found(stores, "reported:no") == [quiet]
    assert found(stores, "-reported:spam") == [quiet]


def test_days_count_as_a_whole_in_utc(stores, kept):
    day = NOW.replace(hour=0, minute=0)
    first = kept(received_at=day)
    kept(received_at=day - timedelta(microseconds=1))
    last = kept(received_at=day + timedelta(hours=23, minutes=59))

    assert found(stores, f"from:{day:%Y-%m-%d} to:{day:%Y-%m-%d}") == [last, first]


def test_only_comments_of_the_given_sites_are_found(stores, kept):
    here = kept("cheap loans")
    there = kept("cheap loans", site_id=SiteId("site-2"))

    assert found(stores, "loans", site_ids=(SITE,)) == [here]
    assert found(stores, "", site_ids=(SiteId("site-2"),)) == [there]
    assert found(stores, "loans", site_ids=()) == []
    assert found(stores, "loans") == [here, there]


def test_pages_follow_one_another_newest_first_with_nothing_twice(stores, kept):
    ids = [kept(f"lot {n}", received_at=NOW - timedelta(hours=n // 3)) for n in range(10)]
    query = parse_search("lot")

    pages = leaf_through(
        lambda cursor: stores.search.find(query, site_ids=None, cursor=cursor, limit=4)
    )

    listed = [case.comment.id for page in pages for case in page.items]
    assert [len(page.items) for page in pages] == [4, 4, 2]
    assert sorted(listed) == sorted(ids)
    moments = [ids.index(one) // 3 for one in listed]
    assert moments == sorted(moments)


def test_counting_ends_at_the_limit(stores, kept):
    for _ in range(4):
        kept("many of them")

    assert stores.search.count(parse_search("many"), site_ids=None, limit=3) == 3
    assert stores.search.count(parse_search("many"), site_ids=None, limit=9) == 4
    assert stores.search.count(parse_search("few"), site_ids=None, limit=9) == 0


def test_withdrawn_comments_are_found_no_more_and_never_again(stores, kept):
    gone, due = kept("secret wish"), make_comment("secret wish")
    keep_all(stores.comments, due)

    stores.personal_data.withdraw([gone], at=NOW)
    stores.personal_data.withdraw([due.id], at=NOW)
    stores.search.index_due(limit=100)

    assert found(stores, "secret") == []
    assert found(stores, "") == []


NO_SYNTAX = [
    '"a" OR "b"', "NEAR(a b)", "terms:", "a*", "^a", "{terms} : a", "%", "a_b", "a'b", "a\\b",
    "';--", "(a+)+$", "a & b | !c", "<->", ":*", "a NOT b", "‮evil", "\x00", "\ud800", "日",
    "-", "--a", '-"', '"', '""', "a" * 900,
]  # fmt: skip


def test_no_query_is_taken_for_anything_but_words(stores, kept):
    kept("some words")

    for line in NO_SYNTAX:
        try:
            query = parse_search(line)
        except InvalidInputError:
            continue
        ids = stores.search.ids(query, site_ids=(SITE,), limit=5)
        assert ids == [] or not query.terms or all(term.negated for term in query.terms), line


def test_a_text_of_any_characters_can_be_indexed(stores, kept):
    hostile = "x\x00\x1a\ud800'\\\" " + "e\u0301\u0323" * 9_000 + "\ufdfa" * 2_000 + " needle"
    wanted = kept(hostile)

    assert found(stores, "x") == [wanted]


def test_many_comments_of_one_moment_all_have_their_place_and_the_newest_come_first(stores):
    lot = [make_comment("same moment") for _ in range(300)]

    keep_all(stores.comments, *lot[:150])
    assert stores.search.index_due(limit=1) == 1
    assert found(stores, "same") == [lot[149].id]
    assert stores.search.index_due(limit=1_000) == 149
    keep_all(stores.comments, *lot[150:])
    assert stores.search.index_due(limit=1_000) == 150

    assert set(found(stores, "same")) == {one.id for one in lot}
    assert stores.search.index_due(limit=1_000) == 0


def test_nothing_of_a_withdrawn_comment_is_left_in_the_index_nor_once_dropped_on_file(stores):
    stays, goes = make_comment("an axolotl in the pump"), make_comment("a numbat in the valve")
    for comment in (stays, goes):
        # In a piece of the index of its own.
        keep_all(stores.comments, comment)
        stores.search.index_due(limit=100)

    stores.personal_data.withdraw([goes.id], at=NOW)

    words = set(_indexed(stores.engine))
    assert "waxolotl" in words
    assert "wnumbat" not in words
    stores.search.drop_left_out()
    if stores.engine.dialect.name == "sqlite":
        with stores.engine.connect() as connection:
            blocks = connection.execute(sa.text("SELECT block FROM search_fts_data")).scalars()
            held = b"".join(blocks)
        # Of a word that begins like the one before it, the rest alone is held.
        assert b"xolotl" in held
        assert b"numbat" not in held
    assert found(stores, "axolotl") == [stays.id]


def _indexed(engine):
    """Return the words in the index, which is checked for damage."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            words = "SELECT word FROM ts_stat('SELECT terms FROM search_docs')"
            return connection.execute(sa.text(words)).scalars().all()
        connection.execute(
            sa.text("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, search_fts, row)")
        )
        connection.execute(sa.text("INSERT INTO search_fts(search_fts) VALUES('integrity-check')"))
        return connection.execute(sa.text("SELECT term FROM temp.v")).scalars().all()
