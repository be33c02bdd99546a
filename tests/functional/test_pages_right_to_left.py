"""Pages in Arabic run from right to left; what is written by others keeps its own direction."""

from __future__ import annotations

import html
import re
import shutil
from datetime import date, timedelta

import pytest

from service.domain.comment import Author
from service.domain.verdict import Outcome
from service.web.edge import language
from service.web.edge.language import day_in_words, ngettext, number, probability, signed
from tests.factories import NOW, make_comment
from tests.fakes import make_services
from tests.functional.moderators import keep, make_app, signed_in, token_of

ARABIC = {"Accept-Language": "ar-EG,ar;q=0.9,en;q=0.5"}


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def client(services, app):
    made = signed_in(services, app=app)
    made.environ_base["HTTP_ACCEPT_LANGUAGE"] = ARABIC["Accept-Language"]
    return made


def words(page):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page.text).split()))


@pytest.mark.parametrize(
    "path",
    [
        "/review",
        "/review/campaigns",
        "/review/search",
        "/figures",
        "/me",
        "/review/comments/x",
    ],
)
def test_every_kind_of_page_runs_from_right_to_left(client, path):
    page = client.get(path)

    assert '<html lang="ar" dir="rtl">' in page.text


def test_pages_in_other_languages_run_from_left_to_right(services, app):
    page = signed_in(services, app=app).get("/review")

    assert "rtl" not in page.text


def test_what_others_wrote_keeps_its_own_direction(services, client):
    comment = keep(services, make_comment("Thank you, that worked.", author=Author(name="Mara")))

    page = client.get(f"/review/comments/{comment.id}").text

    assert '<div class="words" dir="auto"><mark' in page
    assert "<h1><bdi>Bleeding a radiator</bdi></h1>" in page
    assert "<bdi>Mara</bdi>" in page
    assert '<span class="gist" dir="auto">Thank you' in page


@pytest.mark.parametrize(
    ("n", "says"),
    [
        (0, "لا تعليقات"),
        (1, "تعليق واحد"),
        (2, "تعليقان"),
        (3, "3 تعليقات"),
        (10, "10 تعليقات"),
        (11, "11 تعليقًا"),
        (99, "99 تعليقًا"),
        (100, "100 تعليق"),
        (103, "103 تعليقات"),
    ],
)
def test_things_are_counted_in_the_six_forms_of_arabic(app, n, says):
    with app.test_request_context(headers=ARABIC):
        assert ngettext("%(num)s comment", "%(num)s comments", n) == says


def test_numbers_days_and_times_are_written_alike_everywhere(app):
    with app.test_request_context(headers=ARABIC):
        assert number(4_100) == "4,100"
        assert probability(0.987) == "98.7%"
        assert day_in_words(date(2026, 11, 23), "d MMMM y") == "23 نوفمبر 2026"
        # The sign stays on the left of its number, where this line would carry it to the right.
        assert signed(-0.5) == "\u200e−0.50"


def test_an_age_is_told_in_arabic(services, client):
    comment = make_comment(received_at=NOW - timedelta(days=3))
    keep(services, comment, Outcome.UNSURE)

    assert "قبل 3 أيام" in words(client.get(f"/review/comments/{comment.id}?show=all"))


def test_arabic_is_chosen_where_german_is(services, app):
    client = signed_in(services, app=app)
    me = client.get("/me")
    form = {"csrf_token": token_of(me), "language": "ar"}

    told = client.get(client.post("/me/preferences", data=form).location)

    assert "العربية" in me.text
    assert '<html lang="ar" dir="rtl">' in told.text
    assert "حُفظت اختياراتك." in told.text


def test_a_further_language_is_one_more_catalogue_and_no_code(services, monkeypatch, tmp_path):
    for path in language._FOLDER.glob("*.po"):
        shutil.copy(path, tmp_path)
    shutil.copy(tmp_path / "ar.po", tmp_path / "fa.po")
    monkeypatch.setattr(language, "_FOLDER", tmp_path)
    language.languages.cache_clear()
    try:
        client = signed_in(services, app=make_app(services))
        client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "fa"
        page = client.get("/me")
    finally:
        language.languages.cache_clear()

    assert '<html lang="fa" dir="rtl">' in page.text
    assert "فارسی" in page.text
    assert "حسابك" in page.text
