"""What settings pages and libraries ask about a key."""

from __future__ import annotations

import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNSURE


@pytest.fixture
def busy(akismet, clock):
    """A client whose site had comments and reports in two months."""
    akismet.call("verify-key", blog=BLOG)
    akismet.check(SPAM)
    akismet.check(HAM)
    clock.advance(days=31)
    for text in (SPAM, HAM, UNSURE):
        akismet.check(text, comment_author="Ann")
    akismet.call("submit-spam", comment_content=HAM, comment_author="Ann")
    akismet.call("submit-ham", comment_content=SPAM, comment_author="Ann")
    clock.advance(seconds=1)
    return akismet


@pytest.mark.parametrize("name", ["get-stats", "get-key-stats"])
@pytest.mark.parametrize("reach", ["60-days", "6-months", "all", ""])
def test_figures_come_in_all_and_by_month(busy, name, reach):
    stats = busy.call(name, key=busy.key, blog=BLOG, **{"from": reach}).get_json()

    assert {k: stats[k] for k in ("spam", "ham", "missed_spam", "false_positives")} == {
        "spam": 3,
        "ham": 2,
        "missed_spam": 1,
        "false_positives": 1,
    }
    assert stats["accuracy"] == "50.00"
    assert stats["time_saved"] == 30
    assert {month: row["spam"] for month, row in stats["breakdown"].items()} == {
        "2026-03": 1,
        "2026-04": 2,
    }
    assert [row["da"] for row in stats["breakdown"].values()] == ["2026-03-01", "2026-04-01"]
    assert all(("blogs" in row) == (name == "get-key-stats") for row in stats["breakdown"].values())


def test_a_key_without_comments_has_figures_all_the_same(akismet):
    stats = akismet.call("get-stats", blog=BLOG).get_json()

    assert (stats["spam"], stats["accuracy"]) == (0, "100.00")
    assert isinstance(stats["breakdown"], dict)


@pytest.mark.parametrize("method", ["get", "post"])
def test_there_is_no_limit_and_this_months_comments_are_told(busy, method):
    ask = getattr(busy.client, method)
    where = "query_string" if method == "get" else "data"

    plain = ask("/1.2/usage-limit", **{where: {"api_key": busy.key}}).get_json()
    extended = ask(
        "/1.2/usage-limit", **{where: {"api_key": busy.key, "extended": "true"}}
    ).get_json()

    assert plain == {"limit": "none", "usage": 3, "percentage": "0.00", "throttled": False}
    assert extended == {**plain, "notice_level": False, "upgrade": False}


@pytest.mark.parametrize(
    ("asked", "month", "calls"),
    [
        ({}, "2026-04", "3"),
        ({"month": "2026-03"}, "2026-03", "2"),
        ({"month": "x"}, "2026-04", "3"),
    ],
    ids=["this month", "a month", "no month"],
)
def test_the_keys_one_site_is_listed(busy, asked, month, calls):
    answer = busy.client.get("/1.2/key-sites", query_string={"api_key": busy.key, **asked})

    listed = answer.get_json()
    assert listed[month][0]["site"] == BLOG
    assert listed[month][0]["api_calls"] == calls
    assert listed[month][0]["is_revoked"] is False
    assert (listed["limit"], listed["offset"], listed["total"]) == (500, 0, 1)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"filter": "BLOG.ex"}, 1),
        ({"filter": "other"}, 0),
        ({"offset": "1"}, 0),
        ({"limit": "0"}, 0),
    ],
    ids=str,
)
def test_sites_are_filtered_and_paged(busy, asked, count):
    answer = busy.call("key-sites", version="1.2", **asked)

    assert len(answer.get_json()["2026-04"]) == count


def test_sites_come_as_csv_too(busy):
    answer = busy.call("key-sites", version="1.2", format="csv", limit="5")

    assert answer.mimetype == "text/csv"
    assert answer.get_data(as_text=True).splitlines() == [
        "Active sites during 2026-04 (limit:5, offset: 0, total: 1)",
        "Site,Total API Calls,Spam,Ham,Missed Spam,False Positives,Is Revoked",
        "https://blog.example/,3,2,1,1,1,false",
    ]


def test_the_other_small_calls(akismet):
    token = akismet.call("token")
    plugins = akismet.client.get("/1.2/compatible-plugins")
    unknown = akismet.call("verify-wpcom-key")

    assert (token.status_code, token.data) == (200, b"")
    assert (plugins.get_json(), plugins.mimetype) == ([], "application/json")
    assert unknown.status_code == 404
    assert unknown.data not in (b"true", b"false", b"valid", b"invalid")
