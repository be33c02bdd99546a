"""A line of words and fields is read as it was meant, or refused with every problem."""

from datetime import UTC, datetime

import pytest

from service.domain.errors import InvalidInputError
from service.domain.search import (
    MAX_QUERY_CHARS,
    MAX_TERMS,
    MAX_WORD_CHARS,
    Field,
    SearchQuery,
    Term,
    line_of,
    parse_search,
    words_of,
)


def terms(line):
    return parse_search(line).terms


def problems(line, **options):
    with pytest.raises(InvalidInputError) as refused:
        parse_search(line, **options)
    return [(problem.field, problem.problem) for problem in refused.value.problems]


def test_the_line_from_the_manual_is_read():
    line = (
        'crypto site:blog outcome:spam -signal:shortened_link author:"Best Radiators" '
        "domain:example.com decision:reject model:minilm-2 from:2026-11-01 to:2026-11-20"
    )

    assert parse_search(line) == SearchQuery(
        terms=(
            Term(field=Field.TEXT, value="crypto"),
            Term(field=Field.SITE, value="blog"),
            Term(field=Field.OUTCOME, value="spam"),
            Term(field=Field.SIGNAL, value="shortened_link", negated=True),
            Term(field=Field.AUTHOR, value="Best Radiators", exact=True),
            Term(field=Field.DOMAIN, value="example.com"),
            Term(field=Field.DECISION, value="reject"),
            Term(field=Field.MODEL, value="minilm-2"),
        ),
        received_from=datetime(2026, 11, 1, tzinfo=UTC),
        received_before=datetime(2026, 11, 21, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("https://a.example/b", "https://a.example/b"),
        ('"open end', "open end"),
        ("“curly ones”", "curly ones"),
        ('"foo:1"', "foo:1"),
    ],
)
def test_what_only_looks_like_a_field_or_quote_is_words(line, value):
    [term] = terms(line)

    assert (term.field, term.value) == (Field.TEXT, value)


def test_all_problems_are_named_at_once_and_each_only_once():
    assert problems("a:1 a:2 outcome:x from:2026-02-30 -to:2026-01-01 author: !!!") == [
        ("a", "is no field to search in"),
        ("outcome", "has no such value"),
        ("from", "is not a day"),
        ("to", "cannot be negated"),
        ("author", "has no value"),
        ("text", "has a part without a letter or digit"),
    ]


@pytest.mark.parametrize("day", ["2026-W01-1", "20260101", "2026-1-1", "9999-01-01", "٢٠٢٦-٠١-٠١"])
def test_a_day_is_written_in_one_way_only(day):
    assert problems(f"from:{day}") == [("from", "is not a day")]


def test_days_in_the_wrong_order_are_refused():
    assert problems("from:2026-02-02 to:2026-02-01") == [("from", "is after the last day")]


def test_lines_that_are_too_long_or_ask_too_much_are_refused():
    assert problems("x" * (MAX_QUERY_CHARS + 1))[0][0] == "q"
    assert problems("x " * (MAX_TERMS + 1))[0][0] == "q"


def test_sites_nobody_sees_are_refused_whatever_the_case_of_those_seen():
    assert parse_search('site:"MY BLOG" site:s1', sites={"my blog", "s1"}).of(Field.SITE)
    assert problems("site:other", sites={"my blog"}) == [("site", "is none that you see")]


def test_a_form_writes_the_line_that_asks_for_the_same():
    line = line_of({"text": ' a "b c" ', "author": 'Best "R"', "outcome": "ham", "by": ""})

    assert line == 'a "b c" author:"Best R" outcome:ham'
    assert len(terms(line)) == 4


def test_words_are_folded_and_cut():
    assert words_of("Ärger, ŁÓDŹ & Straße") == ["arger", "lodz", "strasse"]
    assert words_of("x" * 500) == ["x" * MAX_WORD_CHARS]
    assert words_of("ＦＵＬＬ ﬁn") == ["full", "fin"]


@pytest.mark.parametrize(
    "text", ["a" + "\u0301\u0323" * 500_000, "\ufdfa" * 300_000, "减" * 300_000, "ａ" * 900_000]
)
def test_words_of_a_million_characters_are_bounded(text):
    assert sum(map(len, words_of(text))) <= 400_000
