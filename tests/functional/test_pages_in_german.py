"""Every page speaks the reader's language: its words, numbers and days."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Author
from service.domain.delivery import DeliveryState
from service.domain.text import Phrase
from service.domain.verdict import Outcome, WeighedSignal
from service.moderation.delivering import NOTHING_TO_CHANGE
from service.outbound.exchange import Failure
from service.web.pages.blueprint import error_page
from tests.factories import NOW, make_attempt, make_comment, make_signal
from tests.functional.filled import put_delivery
from tests.functional.moderators import keep, words

GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.5"}


@pytest.fixture
def client(client):
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = GERMAN["Accept-Language"]
    return client


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


def test_whatever_goes_wrong_with_a_message_is_said_in_german(services, client):
    message = put_delivery(services)
    known = [NOTHING_TO_CHANGE, *Failure]
    for minute, problem in enumerate((*known, "the address names a port")):
        at = NOW + timedelta(minutes=minute)
        attempt = make_attempt(message.id, status=None, problem=problem, at=at)
        services.deliveries.record(attempt, state=DeliveryState.DEAD)

    says = words(client.get("/callbacks"))

    assert "Keine rechtzeitige Antwort" in says
    assert "Verweigert: the address names a port." in says
    assert [problem for problem in known if problem in says] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("colour:red", "colour ist kein Feld zum Suchen: Nehmen Sie eines von diesen: text, "),
        ("outcome:x", "outcome hat keinen solchen Wert: Nehmen Sie einen von diesen: ham, "),
        ("x" * 1_001, "q hat mehr als 1.000 Zeichen: Suchen Sie nach ein paar Wörtern davon."),
    ],
)
def test_what_is_wrong_with_a_search_is_said_in_german(client, line, says):
    page = client.get("/review/search", query_string={"q": line})

    assert page.status_code == 400
    assert says in words(page)


def test_values_to_search_for_are_german_and_stay_the_same_for_the_search(client):
    page = client.get("/review/search").text

    assert '<option value="approve">freigegeben</option>' in page
    assert '<option value="none">keine</option>' in page


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


def test_a_reason_of_before_there_were_translations_stays_english_and_is_marked_so(
    services, client
):
    page = page_with("contains a link, <b>5%</b>", services, client)

    assert '<th scope="row" lang="en">Contains a link, &lt;b&gt;5%&lt;/b&gt;</th>' in page
