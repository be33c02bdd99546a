"""What the protocol's reference asks of a server."""

import logging
import re
from unittest.mock import ANY

import pytest

from models.inputs import ModelOutput
from service.domain.comment import FormEvidence, Label
from service.domain.decision import Mode, Ruling
from service.domain.errors import StoreUnavailableError
from service.moderation.decisions import decide_comment
from service.moderation.published import list_published
from service.moderation.sites import issue_key
from service.web.akismet import server
from tests.factories import SITE
from tests.functional.akismet.conftest import (
    BLOG,
    CHECK,
    HAM,
    SPAM,
    THANKS,
    UNKNOWN_KEY,
    UNSURE,
    WORDPRESS,
    Akismet,
)
from tests.functional.akismet.conftest import akismet_headers as headers_of
from tests.functional.conftest import app_with
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import all_cases


def test_every_answer_to_a_check_has_a_guid_of_its_own(akismet, services):
    answers = [
        akismet.check(SPAM),
        akismet.check(SPAM),
        akismet.check(HAM),
        akismet.check(HAM, api_key=UNKNOWN_KEY),
        akismet.check(HAM, blog=""),
        akismet.check(HAM, user_ip=None),
        akismet.check("x" * 70_000),
        akismet.client.get("/1.1/comment-check"),
        akismet.client.post("/1.1/comment-check", data=b"{", content_type="application/json"),
        akismet.client.post("/1.1/comment-check", data=b"[]", content_type="application/json"),
        akismet.client.post("/1.1/comment-check", data=b"x" * 1_100_000),
    ]

    guids = [headers_of(answer).get("x-akismet-guid") for answer in answers]
    assert all(guid and re.fullmatch(r"[0-9a-f]{32}", guid) for guid in guids)
    assert len(set(guids)) == len(guids)
    assert [a.data for a in answers[:3]] == [b"true", b"true", b"false"]
    assert not {a.data for a in answers[3:]} & {b"true", b"false"}


def test_only_the_blatant_is_to_be_discarded_and_only_where_verdicts_reject(
    akismet, services, classifier
):
    classifier.by_text["blatant"] = ModelOutput(p_spam=0.9999)
    classifier.by_text["just spam"] = ModelOutput(p_spam=0.95)
    held = akismet.check("blatant")

    set_site(services, mode=Mode.ENFORCE)
    discarded, spam, unsure = (akismet.check(t) for t in ("blatant", "just spam", UNSURE))

    assert [a.data for a in (held, discarded, spam, unsure)] == [b"true"] * 4
    assert headers_of(discarded)["x-akismet-pro-tip"] == "discard"
    for answer in (held, spam, unsure):
        assert set(headers_of(answer)) == {"x-akismet-guid"}


def test_an_akismet_key_fits_wordpress_and_is_kept_as_a_keyed_hash(services, key):
    [kept] = services.sites.list_keys(SITE)

    assert re.fullmatch(r"[0-9a-f]{12}", key)
    assert key not in repr(kept)
    assert len(kept.hint) == 2


def another(services, **config) -> Akismet:
    """Return a client of an application over these services."""
    key = issue_key(SITE, services, actor="test", is_akismet=True).secret
    return Akismet(client=app_with(services, **config).test_client(), key=key)


def test_a_site_that_calls_too_often_is_told_so_without_a_verdict(services):
    akismet = another(services, REQUESTS_PER_MINUTE=2)

    answers = [akismet.check(SPAM) for _ in range(3)]

    assert [a.status_code for a in answers] == [200, 200, 429]
    assert int(answers[2].headers["Retry-After"]) > 0
    assert answers[2].data not in (b"true", b"false")
    assert {"x-akismet-guid", "x-akismet-error"} <= set(headers_of(answers[2]))


@pytest.mark.parametrize(("seconds", "said"), [(1e-9, b"invalid"), (1e9, b"true")])
def test_a_revoked_key_is_known_only_for_a_moment(services, monkeypatch, seconds, said):
    monkeypatch.setattr(server, "_KEY_SECONDS", seconds)
    akismet = another(services)
    first = akismet.check(SPAM)
    for key in services.sites.list_keys(SITE):
        services.sites.end_key(key.id, revoked_at=services.clock())

    assert (first.data, akismet.check(SPAM).data) == (b"true", said)
    assert akismet.check(SPAM, api_key=UNKNOWN_KEY).data == b"invalid"


KEY_FIRST = ["verify-key", "get-subscription", "get-stats", "deactivate"]
API_KEY_FIRST = ["comment-check", "submit-ham", "token"]


@pytest.mark.parametrize("name", KEY_FIRST + API_KEY_FIRST)
def test_the_key_is_looked_for_in_the_form_and_then_in_the_host(akismet, name):
    fields = {**CHECK, "comment_content": HAM}
    wins, yields = ("key", "api_key") if name in KEY_FIRST else ("api_key", "key")
    base = f"http://{akismet.key}.rest.akismet.com"

    right = akismet.call(name, **fields, **{wins: akismet.key, yields: UNKNOWN_KEY})
    wrong = akismet.call(name, **fields, **{wins: UNKNOWN_KEY, yields: akismet.key})
    by_host, by_form = (
        akismet.client.post(f"/1.1/{name}", data=fields | given, base_url=base)
        for given in ({}, {"api_key": UNKNOWN_KEY})
    )

    assert b"invalid" not in {right.data, by_host.data}
    assert wrong.data == by_form.data == b"invalid"


def test_a_text_is_read_in_the_charset_that_is_declared(akismet, services):
    text = "".join(f"%{byte:02X}" for byte in "Příliš žluťoučký".encode("iso8859-2"))

    akismet.client.post(
        "/1.1/comment-check",
        data=f"api_key={akismet.key}&blog={BLOG}&user_ip=&comment_content={text}",
        content_type="application/x-www-form-urlencoded; charset=ISO-8859-2",
    )

    assert all_cases(services)[0].comment.text == "Příliš žluťoučký"


@pytest.mark.parametrize("is_test", ["1", "true", "True"])
def test_a_test_is_answered_as_ever_and_not_kept(akismet, services, is_test):
    answers = [akismet.check(text, is_test=is_test) for text in (SPAM, HAM)]

    assert [a.data for a in answers] == [b"true", b"false"]
    for case in all_cases(services):
        assert case.withdrawn_at is not None
        assert (case.comment.text, case.comment.author.name) == ("", None)
        assert not case.needs_review


def test_a_report_is_found_through_slashes_escapes_and_filtered_html(akismet, services):
    akismet.check(
        r"It\'s <b>great</b> & \"cheap\"", headers=WORDPRESS, comment_author=r"Sean O\'Hara"
    )

    akismet.call(
        "submit-spam",
        headers=WORDPRESS,
        comment_content="It&#8217;s <strong>great</strong> &amp; &quot;cheap&quot;",
        comment_author="Sean O'Hara",
    )

    (case,) = all_cases(services)
    assert case.comment.text == 'It\'s <b>great</b> & "cheap"'
    assert case.comment.author.name == "Sean O'Hara"
    assert [report.label for report in case.reports] == [Label.SPAM]


def test_of_equal_texts_author_and_post_tell_which_one_is_meant(akismet, services):
    for author, post in (("Ann", "a"), ("Ann", "b"), ("Bob", "b")):
        akismet.check("Thanks!", comment_author=author, permalink=f"https://blog.example/{post}")

    akismet.call(
        "submit-spam",
        comment_content="Thanks!",
        comment_author="Ann",
        permalink="http://blog.example/a/",
    )

    reported = [case.comment for case in all_cases(services) if case.reports]
    assert [(c.author.name, c.post.url) for c in reported] == [("Ann", "https://blog.example/a")]


def test_where_the_site_says_so_a_report_is_a_decision(akismet, services):
    set_site(services, reports_decide=True)
    akismet.check(HAM)
    akismet.check(SPAM)

    akismet.call("submit-spam", comment_content=HAM, reporter="jo")
    akismet.call("submit-ham", comment_content=SPAM)

    decisions = {c.comment.text: c.decision for c in all_cases(services)}
    assert decisions[HAM].ruling is Ruling.REJECT
    assert decisions[HAM].decided_by == "report: jo"
    assert decisions[SPAM].ruling is Ruling.APPROVE
    assert decisions[SPAM].decided_by == "report"


def test_personal_extras_are_neither_kept_nor_logged(akismet, services, caplog):
    # Of the hidden field only remains that it was filled in.
    names = ["HTTP_COOKIE_LIKE", "POST_email", "REMOTE_ADDR", "POST_comment", "user_ID"]
    extras = {name: f"extra-{name}" for name in [*names, "comment_author_IP", "hidden_trap"]}

    with caplog.at_level(logging.DEBUG):
        akismet.check(
            HAM,
            comment_author="Dana Reader",
            comment_author_email="dana@example.org",
            user_ip="203.0.113.77",
            honeypot_field_name="hidden_trap",
            **extras,
        )

    kept = repr(all_cases(services))
    assert all_cases(services)[0].comment.form == FormEvidence(honeypot_filled=True)
    logged = repr([record.__dict__ for record in caplog.records if record.name != "werkzeug"])
    for secret in (*extras.values(), "203.0.113.77", "dana@example.org"):
        assert secret not in kept
        assert secret not in logged
    for words in (HAM, "Dana Reader", akismet.key):
        assert words not in logged


@pytest.mark.parametrize(
    ("text", "settings", "client", "said", "is_error"),
    [
        (UNSURE, {}, {}, b"true", False),
        (UNSURE, {"holds_unsure": False}, {}, b"false", False),
        (SPAM, {"mode": Mode.OBSERVE}, {}, b"false", False),
        # Its plugin puts `true` into the spam folder, and what comes with an error into Pending.
        (UNSURE, {}, WORDPRESS, b"false", True),
        (UNSURE, {"holds_unsure": False}, WORDPRESS, b"false", False),
        (SPAM, {}, WORDPRESS, b"true", False),
    ],
)
def test_the_unsure_are_held_unless_the_site_passes_them(
    akismet, services, text, settings, client, said, is_error
):
    set_site(services, **settings)

    first = akismet.check(text, headers=client)
    again = akismet.check(text, headers=client, recheck_reason="recheck_queue")

    for answer in (first, again):
        assert answer.data == said
        errors = {"x-akismet-error"} if is_error else set()
        assert set(headers_of(answer)) == {"x-akismet-guid"} | errors


@pytest.mark.parametrize(
    "url", ["ira.example/?a=1&amp;b=ü y", "ira.example/?a=1&#038;b=%c3%BC%20y"]
)
def test_what_a_person_decided_of_the_unsure_is_told_to_wordpress_as_it_is(akismet, services, url):
    client = {"headers": WORDPRESS, "comment_author_url": "https://ira.example/?a=1&b=ü y"}
    akismet.check(UNSURE, **client)
    decide_comment(all_cases(services)[0].comment.id, Ruling.REJECT, services, decided_by="Ola")

    client["comment_author_url"] = f"http://{url}"
    again = akismet.check(UNSURE, recheck_reason="recheck_queue", **client)

    assert (again.data, set(headers_of(again))) == (b"true", {"x-akismet-guid"})


def test_a_recheck_is_answered_from_the_stored_verdict_and_an_edit_is_judged(
    akismet, services, classifier
):
    text = "Don't miss our casino."
    classifier.by_text[text] = ModelOutput(p_spam=0.99)
    akismet.check(r"Don\'t miss our casino.", headers=WORDPRESS, comment_author="Ann")
    classifier.by_text[text] = ModelOutput(p_spam=0.01)

    again = akismet.check(
        text,
        headers=WORDPRESS,
        comment_author="Ann",
        recheck_reason="recheck_queue",
        comment_date_gmt="2026-03-01 12:00:00",
    )
    kept_once = len(all_cases(services))
    # What was edited is another comment.
    for edit in ({"text": text + " More."}, {"text": text, "comment_author_url": "https://c.test"}):
        akismet.check(comment_author="Ann", recheck_reason="edit", headers=WORDPRESS, **edit)

    assert (again.data, kept_once) == (b"true", 1)
    assert len(all_cases(services)) == sum(classifier.batches) == 3


@pytest.mark.parametrize(
    ("error", "status"),
    [(StoreUnavailableError("the database is away"), 503), (RuntimeError("true"), 500)],
    ids=["store away", "unforeseen"],
)
def test_whatever_fails_here_never_reads_like_a_verdict(
    akismet, services, monkeypatch, error, status
):
    def fail(*_given, **_named):
        raise error

    monkeypatch.setattr(services.comments, "add", fail)

    answer = akismet.check(SPAM)

    assert answer.status_code == status
    assert answer.data not in (b"true", b"false", b"valid", b"invalid")
    assert {"x-akismet-guid", "x-akismet-error", "x-akismet-debug-help"} == set(headers_of(answer))


@pytest.mark.parametrize("kind", ["comment", "contact-form", "message", "signup"])
def test_what_was_sent_to_somebody_is_judged_and_stands_under_no_post(akismet, services, kind):
    page = f"{BLOG}contact/"
    set_site(services, public_feed=True, blog=BLOG)

    answer = akismet.check(HAM, permalink=page, comment_type=kind)

    assert answer.data == b"false"
    shown, _ = list_published(services.sites.get(SITE), page, services, page=1)
    assert [one.text for one in shown] == ([HAM] if kind == "comment" else [])


@pytest.mark.parametrize("call", ["verify-key", "comment-check"])
@pytest.mark.parametrize("blog", ["", "not a page", "ftp://blog.example", "https://"])
def test_a_blog_that_is_no_address_is_invalid_and_told_why(akismet, call, blog):
    answer = akismet.call(call, blog=blog, user_ip="192.0.2.7", comment_content=HAM)

    assert answer.data == b"invalid"
    assert "blog" in headers_of(answer)["x-akismet-debug-help"]
    assert "user_ip" in headers_of(akismet.check(SPAM, user_ip=None))["x-akismet-debug-help"]


@pytest.mark.parametrize(
    ("text", "forced", "said"),
    [
        (HAM, {"comment_author": "viagra-test-123"}, b"true"),
        (HAM, {"comment_author": "akismet-guaranteed-spam"}, b"true"),
        (HAM, {"comment_author_email": "akismet-guaranteed-spam@example.com"}, b"true"),
        (SPAM, {"user_role": "administrator"}, b"false"),
        (SPAM, {"user_role": "editor, Administrator,super_admin"}, b"false"),
    ],
)
def test_documented_test_values_and_administrators_are_answered_and_not_kept(
    akismet, services, text, forced, said
):
    answer = akismet.check(text, **forced)

    assert answer.data == said
    assert set(headers_of(answer)) == {"x-akismet-guid"}
    assert all_cases(services) == []


def test_check_and_report_may_come_as_json_with_the_key_in_the_host(akismet, services):
    given = {"comment_content": HAM, "is_test": False, "user_ip": "198.51.100.3"}
    base = f"http://{akismet.key}.rest.akismet.com"

    check = akismet.client.post("/1.1/comment-check", json=given | {"blog": BLOG}, base_url=base)
    report = akismet.client.post("/1.1/submit-spam", json=given, base_url=base)

    assert (check.data, report.data) == (b"false", THANKS)
    assert reports_of(services) == [Label.SPAM]


@pytest.mark.parametrize(
    ("is_test", "days_later", "learnt"),
    [("false", 30, True), ("0", 0, True), ("true", 0, False), ("1", 0, False), ("0", 31, False)],
)
def test_a_report_of_the_last_30_days_is_learnt_unless_it_is_a_test(
    akismet, services, clock, is_test, days_later, learnt
):
    akismet.check(HAM)
    clock.advance(days=days_later)

    answer = akismet.call("submit-spam", comment_content=HAM, is_test=is_test)

    assert answer.data == THANKS
    assert reports_of(services) == ([Label.SPAM] if learnt else [])


@pytest.mark.parametrize(
    ("reach", "spam", "ham"), [("60-days", 2, 1), ("6-months", 3, 2), ("all", 3, 2), ("", 3, 2)]
)
def test_figures_come_for_the_time_that_is_asked_for(akismet, clock, reach, spam, ham):
    asked = {"key": akismet.key, "blog": BLOG, "from": reach}
    before = akismet.call("get-stats", **asked).get_json()
    akismet.check(SPAM)
    akismet.check(HAM)
    clock.advance(days=61)
    for text in (SPAM, HAM, UNSURE):
        akismet.check(text, comment_author="Ann")
    akismet.call("submit-spam", comment_content=HAM, comment_author="Ann")
    akismet.call("submit-ham", comment_content=SPAM, comment_author="Ann")
    clock.advance(seconds=1)

    assert (before["spam"], before["accuracy"]) == (0, "100.00")
    assert akismet.call("get-stats", **asked).get_json() == {
        "spam": spam,
        "ham": ham,
        "missed_spam": 1,
        "false_positives": 1,
        "accuracy": ANY if reach == "60-days" else "50.00",
        "time_saved": 10 * spam,
        "breakdown": {},
    }


def reports_of(services) -> list[Label]:
    """Return the reports on the only comment."""
    (case,) = all_cases(services)
    return [report.label for report in case.reports]
