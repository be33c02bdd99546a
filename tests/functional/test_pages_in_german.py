"""Every page speaks the reader's language: its words, numbers and days."""

from __future__ import annotations

import html
import re
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Author
from service.domain.decision import EDIT_POLICY, KEPT_WORDS, Ruling
from service.domain.delivery import DeliveryAttempt, DeliveryState, Endpoint
from service.domain.errors import InvalidInputError
from service.domain.phrase import Phrase
from service.domain.search import MAX_QUERY_CHARS, MAX_TERMS, parse_search
from service.domain.verdict import Outcome, WeighedSignal
from service.moderation.admin.users import find_user
from service.moderation.review.decide import decide_comment
from service.moderation.telling.announce import write_verdict_messages
from service.moderation.telling.applying import NOTHING_TO_CHANGE
from service.outbound.calls import Failure
from service.outbound.platforms.results import AtPlatform
from service.signals.detectors.seam import INTO_ADVERT
from service.web.edge import language
from service.web.pages.common.call_problems import PROBLEMS_IN_WORDS
from service.web.pages.common.pages import error_page
from service.web.pages.search.search_problems import problems_in_words
from tests.factories import NOW, SITE, make_comment, make_signal
from tests.fakes import make_services
from tests.functional.moderators import (
    add_moderator,
    keep,
    make_app,
    sign_in,
    signed_in,
    token_of,
)
from tests.functional.test_campaign_pages import keep_campaign

GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.5"}
# Addresses of the pages that answer with data, a part of a page or the way to another.
NO_WHOLE_PAGE = {
    "pages.cutoff_preview",
    "pages.export_log",
    "pages.home",
    "pages.counts",
    "pages.models_progress",
    "pages.ahead",
    "pages.last",
    "pages.rows",
    "pages.search_export",
    "pages.sign_in",
    "pages.sign_in_code",
    "pages.stats_json",
}


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def client(services, app):
    made = signed_in(services, app=app)
    made.environ_base["HTTP_ACCEPT_LANGUAGE"] = GERMAN["Accept-Language"]
    return made


def words(page):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page.text).split()))


def test_every_page_is_german_where_the_browser_asks_for_it(services, app, client):
    comment = keep(services)
    campaign_id, _ = keep_campaign(services, 3)
    ids = {
        "comment_id": comment.id,
        "campaign_id": campaign_id,
        "site_id": SITE,
        "user_id": find_user("Ola", services.accounts).id,
        "version_name": "test-1",
        "called": "spam",
        "band": "sincere",
    }
    rules = [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("pages.") and "GET" in rule.methods
    ]
    paths = [
        re.sub(r"<(\w+)>", lambda name: ids[name[1]], rule.rule)
        for rule in rules
        if rule.endpoint not in NO_WHOLE_PAGE
    ]

    pages = {path: client.get(path, follow_redirects=True) for path in paths}

    assert {path for path, page in pages.items() if page.status_code != 200} == set()
    assert {path for path, page in pages.items() if '<html lang="de">' not in page.text} == set()
    assert {path for path, page in pages.items() if "Abmelden" not in page.text} == set()


def test_a_page_that_is_not_there_says_so_in_german(client):
    page = client.get("/review/comments/gone")

    assert page.status_code == 404
    assert '<html lang="de">' in page.text
    assert "Hier ist nichts" in page.text


def test_numbers_days_and_times_are_written_as_germans_write_them(services, client):
    comment = make_comment(
        author=Author(name="Mara", account_id="7", account_age_days=4_100),
        received_at=NOW - timedelta(days=40),
    )
    keep(services, comment, Outcome.SPAM, p_spam=0.987)

    german = words(client.get(f"/review/comments/{comment.id}?show=all"))
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    english = words(client.get(f"/review/comments/{comment.id}?show=all"))

    assert "98,7 % Spam-Risiko" in german
    assert "Konto seit 4.100 Tagen" in german
    assert "98.7% probability of spam" in english
    assert "account 4,100 days old" in english


def page_with(reason: str, services, client, *, p_spam: float = 0.9) -> str:
    """Return the page of a comment of which a verdict gave this reason."""
    weighed = WeighedSignal(signal=replace(make_signal(), reason=reason), weight=1, contribution=1)
    comment = keep(services, signals=(weighed,), p_spam=p_spam)
    return client.get(f"/review/comments/{comment.id}").text


def test_the_reasons_of_detectors_are_german(services, client):
    lists = Phrase("%(lists)s lists, the freshest %(n)s days old", lists=2, n=1_234)
    reason = Phrase("%(what)s on %(lists)s", what=Phrase("links to a domain"), lists=lists)

    german = page_with(reason, services, client)

    said = "Verlinkt auf eine Domain auf 2 Listen, deren neueste 1.234 Tage alt ist"
    assert f'<th scope="row">{said}</th>' in german
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    english = page_with(reason, services, client)
    assert "Links to a domain on 2 lists, the freshest 1,234 days old" in english


@pytest.mark.parametrize(
    ("p_spam", "said"),
    [
        (0.1, "Eine Bemerkung geht in anderem Ton weiter; davor: Lob, erste Person; danach:"),
        (0.4, "Eine Bemerkung geht vielleicht in Werbung über; davor: Lob, erste Person; danach:"),
        (0.9, "Eine Bemerkung geht in Werbung über; davor: Lob, erste Person; danach:"),
    ],
)
def test_a_seam_is_worded_in_german_as_the_verdict_bears_it_out(services, client, p_spam, said):
    seam = Phrase(
        INTO_ADVERT,
        remark=(Phrase("praise"), Phrase("first person")),
        sells=(
            Phrase(
                "%(one)s and %(other)s", one=Phrase("names an offer"), other=Phrase("gives a link")
            ),
        ),
    )
    reason = Phrase("%(what)s; %(link)s", what=seam, link=Phrase("the link comes after the seam"))

    page = page_with(reason, services, client, p_spam=p_spam)

    assert f"{said} nennt ein Angebot und nennt einen Link; der Link kommt" in html.unescape(page)


def test_a_reason_of_before_there_were_translations_stays_english_and_is_marked_so(
    services, client
):
    page = page_with("contains a link, <b>5%</b>", services, client)

    assert '<th scope="row" lang="en">Contains a link, &lt;b&gt;5%&lt;/b&gt;</th>' in page


def test_what_a_verdict_lacks_is_said_in_german(services, client):
    comment = keep(services, degraded_by=("text",))

    page = client.get(f"/review/comments/{comment.id}")

    assert "Es fehlt sichtbarer Text: Der Kommentar zeigt keine Zeichen." in page.text


def test_an_approval_that_an_edit_keeps_is_told_in_german(services, client):
    comment = keep(services)
    decide_comment(
        comment.id,
        Ruling.APPROVE,
        services,
        decided_by=f"{EDIT_POLICY}Ada",
        note=KEPT_WORDS,
    )

    page = words(client.get(f"/review/comments/{comment.id}"))

    assert "Bleibt freigegeben, wie von Ada vor der Bearbeitung entschieden" in page
    assert "Die Bearbeitung ändert nur Rechtschreibung und Formatierung." in page
    assert "Ada, vor einer Bearbeitung" in page


def test_whatever_goes_wrong_with_a_message_is_said_in_german(services, client):
    comment = keep(services)
    services.telling.endpoints.put(
        Endpoint(site_id=SITE, url="https://blog.example/hook", secrets=("whsec_x",))
    )
    services.telling.deliveries.add(
        write_verdict_messages(
            [services.review.cases.get(comment.id)], services.telling, services.common
        )
    )
    message, *_ = services.telling.deliveries.recent(state=None, site_id=None, limit=5)
    attempt = DeliveryAttempt(
        delivery_id=message.id, at=NOW, milliseconds=15, status=None, problem="no answer in time"
    )
    services.telling.deliveries.record(attempt, state=DeliveryState.DEAD)

    assert "Keine rechtzeitige Antwort." in words(client.get("/callbacks"))
    assert {failure.value for failure in (*Failure, *AtPlatform)} <= PROBLEMS_IN_WORDS.keys()
    assert NOTHING_TO_CHANGE in PROBLEMS_IN_WORDS


@pytest.mark.parametrize(
    "line",
    [
        "colour:red",
        "outcome:perhaps",
        "outcome:",
        "from:yesterday",
        "-from:2026-11-01",
        "!!!",
        "from:2026-11-02 to:2026-11-01",
        "x" * (MAX_QUERY_CHARS + 1),
        "word " * (MAX_TERMS + 1),
    ],
)
def test_what_is_wrong_with_a_search_is_said_in_german(app, line):
    with pytest.raises(InvalidInputError) as refused:
        parse_search(line)

    with app.test_request_context(headers=GERMAN):
        german = problems_in_words(refused.value.problems)
    with app.test_request_context():
        english = problems_in_words(refused.value.problems)

    assert not {one.says for one in german} & {one.says for one in english}


def test_the_language_chosen_counts_at_once_and_at_the_next_sign_in(services, app):
    client = signed_in(services, app=app)

    form = {"csrf_token": token_of(client.get("/me")), "language": "de"}
    told = client.get(client.post("/me/preferences", data=form).location)
    other = app.test_client()
    sign_in(other)

    assert "Ihre Auswahl ist gespeichert." in told.text
    assert '<html lang="de">' in told.text
    assert '<html lang="de">' in other.get("/review").text


def test_another_account_on_the_same_browser_keeps_its_own_language(services, app):
    client = signed_in(services, app=app)
    form = {"csrf_token": token_of(client.get("/me")), "language": "de"}
    client.post("/me/preferences", data=form)
    client.post("/sign-out", data={"csrf_token": token_of(client.get("/me"))})
    add_moderator(services, "Mara")

    sign_in(client, "Mara")

    assert '<html lang="en">' in client.get("/review").text


def test_a_session_names_its_browser_in_german(client):
    client.environ_base["HTTP_USER_AGENT"] = "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"
    client.post("/sign-out", data={"csrf_token": token_of(client.get("/me"))})
    sign_in(client)

    assert "Firefox auf Linux" in words(client.get("/me"))


def test_a_further_language_is_one_more_catalogue_and_no_code(services, monkeypatch, tmp_path):
    for name in ("de.po", "nl.po"):
        shutil.copy(language._FOLDER / "de.po", tmp_path / name)
    monkeypatch.setattr(language, "_FOLDER", tmp_path)
    language.languages.cache_clear()
    try:
        client = signed_in(services, app=make_app(services))
        client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "nl"
        page = client.get("/me")
    finally:
        language.languages.cache_clear()

    assert '<html lang="nl">' in page.text
    assert "Nederlands" in page.text


def test_what_others_wrote_keeps_its_own_direction(services, client):
    comment = keep(services, make_comment("Thank you, that worked.", author=Author(name="Mara")))

    page = client.get(f"/review/comments/{comment.id}").text

    assert '<div class="words" dir="auto"><mark' in page
    assert "<h1><bdi>Bleeding a radiator</bdi></h1>" in page
    assert "<bdi>Mara</bdi>" in page
    assert '<span class="gist" dir="auto">Thank you' in page


def test_a_percent_sign_in_what_went_wrong_stands_as_it_is(app):
    with app.test_request_context(headers=GERMAN):
        page = error_page(409, advice="5 % der Kommentare sind schon entschieden.")

    assert "5 % der Kommentare sind schon entschieden." in page.get_data(as_text=True)
