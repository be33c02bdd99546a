"""What an author reads of a comment that is held or rejected, and the one appeal against it."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from markupsafe import escape

from models.inputs import ModelOutput
from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import SiteId
from service.domain.decision import EDIT_POLICY, Mode, Ruling
from service.domain.delivery import Endpoint, Platform
from service.domain.published import StatementLinks
from service.domain.rules import Rule
from service.domain.sender import Person, SenderSecrets, make_sender
from service.domain.verdict import Outcome
from service.moderation.announcing import write_verdict_messages
from service.moderation.decisions import decide_comment
from service.moderation.erasing import erase_person, export_person, prune_comments
from service.moderation.revise import withdraw_comment
from service.ports.audit import AuditFilter
from tests.factories import SITE, make_comment
from tests.functional.moderators import keep, press, review_queue, set_site, signed_in, words
from tests.functional.webhooks.conftest import add_hook, only_case
from tests.log_lines import log_lines

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
WORDS = "I wrote this myself, about my own radiator."
UNKNOWN = "/public/statements/c999999." + "0" * 32
ENDPOINT = Endpoint(site_id=SITE, url="https://blog.example/hook", secrets=("whsec_x",))


def link_of(services, comment) -> str:
    return services.statements.url_of_comment(comment)


def read(stranger, url):
    return stranger.get(url, headers=BROWSER)


def appeal(stranger, url, text=WORDS):
    return stranger.post(url, data={"appeal": text}, headers=BROWSER)


@pytest.fixture
def held(services):
    return keep(services)


def test_a_link_leads_to_one_comment_of_one_site_alone(services, stranger, held):
    other = keep(services)
    url, others = link_of(services, held), link_of(services, other)
    forged = [
        url.replace(held.id, other.id),
        url.rpartition(".")[0] + "." + others.rpartition(".")[2],
        link_of(services, replace(held, site_id=SiteId("site-2"))),
        StatementLinks(secret=b"somebody else's").url_of_comment(held),
        f"/public/statements/{held.id}.{'0' * 32}",
        f"/public/statements/{held.id}.é",
        f"/public/statements/{held.id}",
        f"{url}0",
        url[:-1],
    ]

    page, unknown = read(stranger, url), read(stranger, UNKNOWN)

    assert (page.status_code, unknown.status_code) == (200, 404)
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    rules = page.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} <= {*rules}
    assert held.text not in page.text
    for one in forged:
        assert (read(stranger, one).status_code, read(stranger, one).text) == (404, unknown.text)
        assert appeal(stranger, one).status_code == 404


def _prune(services, comment):
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="ada")
    services.clock.advance(days=9)
    prune_comments(services, keep=timedelta(days=1), keep_spam=None, keep_held_spam=None)


SENDER = make_sender(address="203.0.113.9", secrets=SenderSecrets(present=b"k" * 32))
PERSON = Person(sender=SENDER, author_name=None)


@pytest.mark.parametrize(
    "end",
    [
        lambda services, _: erase_person(PERSON, services, by="ada"),
        lambda services, one: withdraw_comment(one.id, services, by="site"),
        _prune,
    ],
    ids=["erased", "withdrawn", "kept for long enough"],
)
def test_with_the_comment_its_link_and_the_appeal_s_words_go(services, stranger, end):
    held = keep(services, make_comment(sender=SENDER))
    url = link_of(services, held)
    appeal(stranger, url)
    exported = next(export_person(PERSON, services))

    end(services, held)

    assert exported["appeal"]["text"] == WORDS
    assert (read(stranger, url).status_code, appeal(stranger, url).status_code) == (404, 404)
    assert read(stranger, url).text == read(stranger, UNKNOWN).text
    assert services.cases.get(held.id).appeal is None
    assert review_queue(services) == []


def test_an_author_appeals_once_and_a_person_answers(services, stranger, held):
    decide_comment(held.id, Ruling.REJECT, services, decided_by="ada")
    url = link_of(services, held)

    first = appeal(stranger, url)
    second = appeal(stranger, url, "Once more.")

    assert (first.status_code, first.headers["Location"]) == (303, url)
    assert second.status_code == 409
    assert "You appealed on 1 March 2026" in words(second)
    assert "Why should it be shown?" not in words(second)
    acts = services.audit_log.page(AuditFilter(act="appeal"), after=None, limit=9).items
    assert [(one.actor, one.subject, one.detail) for one in acts] == [("author", held.id, "")]

    client = signed_in(services)
    assert "The author appealed" in words(client.get("/review"))
    assert WORDS in words(client.get(f"/review/comments/{held.id}"))
    for ruling, state in (("reject", "was rejected"), ("approve", "is accepted")):
        press(client, held, ruling=ruling)
        page = words(read(stranger, url))
        assert f"Your comment {state}" in page
        assert "A person looked at it after your appeal" in page
        assert review_queue(services) == []


@pytest.mark.parametrize(
    "text", ["", " \r\n ", "\u200b\u202e", "\u2800\u3164", "x" * 501, "x" * 9_000]
)
def test_an_appeal_says_something_in_500_characters(services, stranger, held, text):
    answer = appeal(stranger, link_of(services, held), text)

    assert answer.status_code == (413 if len(text) > 600 else 422)
    assert services.cases.get(held.id).appeal is None
    assert appeal(stranger, link_of(services, held), "\r\n" * 250 + "é" * 500).status_code == 303


def test_an_appeal_is_shown_as_dead_text_and_never_logged(services, stranger, held, caplog):
    text = '</textarea><script>alert(1)</script> {{7*7}} \u202egnp.exe \u200b\x00 "'

    refused = appeal(stranger, link_of(services, held), text + "x" * 500)
    appeal(stranger, link_of(services, held), text)

    opened = signed_in(services).get(f"/review/comments/{held.id}").text
    for page in (refused.text, opened):
        assert escape("<script>alert(1)</script> {{7*7}}") in page
        assert "<script>alert" not in page
    assert "⟦RLO⟧" in opened
    assert "⟦U+200B⟧" in opened
    assert not set(opened) & set("\u200b\u202e")
    assert not any("alert(1)" in line for line in log_lines(caplog))


@pytest.mark.parametrize(
    ("decided_by", "verdict", "says"),
    [
        ("ada", {}, "A moderator of the site read it"),
        (EDIT_POLICY + "ada", {}, "rejected comments much like it"),
        (CAMPAIGN_POLICY, {}, "rejected comments much like it"),
        (None, {"degraded_by": ("model",)}, "could not be checked completely"),
        (None, {"held_by": (Rule.OLD_POST,)}, "matches a rule that the site's"),
        (None, {}, "Its words, its links or how it was sent could be advertising"),
    ],
)
def test_the_ground_is_one_coarse_sentence(services, stranger, decided_by, verdict, says):
    held = keep(services, **verdict)
    if decided_by:
        decide_comment(held.id, Ruling.REJECT, services, decided_by=decided_by)

    page = words(read(stranger, link_of(services, held)))

    by = "A person decided this on 1" if decided_by == "ada" else "without a person"
    assert says in page
    assert by in page
    assert "contains a link" not in page
    assert "%" not in page


def test_spam_looks_like_what_is_not_judged_yet_unless_the_site_explains_it(services, stranger):
    spam, pending = (keep(services, outcome=one) for one in (Outcome.SPAM, None))

    told, waits = (read(stranger, link_of(services, one)) for one in (spam, pending))
    refused = appeal(stranger, link_of(services, spam))
    set_site(services, explains_spam=True)

    assert told.text == waits.text
    assert "is not shown yet" in told.text
    assert refused.status_code == 409
    assert appeal(stranger, link_of(services, spam)).status_code == 303
    assert [one.id for one in review_queue(services)] == [spam.id]


@pytest.mark.parametrize(
    ("p_spam", "settings", "is_told"),
    [
        (0.5, {}, True),
        (0.5, {"mode": Mode.OBSERVE}, False),
        (0.01, {}, False),
        (0.99, {}, False),
        (0.99, {"mode": Mode.ENFORCE}, False),
        (0.99, {"mode": Mode.ENFORCE, "explains_spam": True}, True),
    ],
)
def test_the_api_and_messages_give_the_link_of_what_is_held(
    services, api, classifier, p_spam, settings, is_told
):
    set_site(services, **settings)
    classifier.answer = ModelOutput(p_spam=p_spam)
    sent = {"text": "A remark on valves."}

    kept = api.post("/v1/comments?wait=5", json=sent).get_json()
    unkept = api.post("/v1/comments?wait=5", json=sent | {"keep": False}).get_json()

    case = services.cases.get(kept["id"])
    told = services, {SITE: ENDPOINT}
    answers = [
        kept,
        api.get(kept["links"]["self"]).get_json(),
        api.get("/v1/comments").get_json()["comments"][-1],
        *(json.loads(one.payload)["data"] for one in write_verdict_messages([case], *told)),
    ]
    url = link_of(services, case.comment) if is_told else None
    assert {one["statement_url"] for one in answers} == {url}
    assert unkept["statement_url"] is None


def test_a_form_s_answer_leads_to_the_statement_and_a_repeat_to_the_same(services, stranger):
    form = {"text": "The drain valve was stuck here too."}
    hook = "/hooks/" + add_hook(services, Platform.STATIC_FORM, secret="")

    answers = [stranger.post(hook, json=form).get_json() for _ in range(2)]
    page = stranger.post(hook, data=form, headers=BROWSER)

    url = link_of(services, only_case(services).comment)
    assert answers == [{"status": "received", "statement_url": url}] * 2
    assert f'<a href="{url}">' in page.text


def test_appeals_of_one_address_are_limited(services, stranger, held):
    statuses = [appeal(stranger, link_of(services, held), "").status_code for _ in range(11)]

    assert statuses == [422] * 10 + [429]


def test_what_its_own_list_leaves_out_is_not_called_accepted_where_a_site_observes(
    services, stranger
):
    set_site(services, mode=Mode.OBSERVE)
    url = link_of(services, keep(services, p_spam=0.999))
    accepted = read(stranger, url).text

    set_site(services, mode=Mode.OBSERVE, public_feed=True)

    assert "Your comment is accepted" in accepted
    assert "Your comment is not shown yet" in read(stranger, url).text
