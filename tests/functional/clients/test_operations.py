"""Every operation of the API through each client, against the real service and its description."""

from __future__ import annotations

import asyncio

import pytest
from jsonschema_rs import Draft202012Validator  # comes with schemathesis

from service.domain.case import CaseFilter, Order
from service.web.clients.generate import describe_here
from service.web.clients.slopsieve_client import AsyncClient, SlopsieveError
from service.web.clients.view import view_clients
from tests.factories import SITE
from tests.functional.callbacks.test_callback_api import run_all
from tests.functional.clients.conftest import STRANGER

DOCUMENT = describe_here()
OPERATIONS = {one.name: one for one in view_clients(DOCUMENT).operations}
URL = "https://blog.example/hook"
SPAM = {"text": "Great article! For cheap boilers see https://boilers.example today."}


def kept_texts(services) -> list[str]:
    page = services.review.cases.page(
        CaseFilter(site_id=SITE), order=Order.OLDEST, cursor=None, limit=200
    )
    return [case.comment.text for case in page.cases]


def give_up(services, clock) -> None:
    """Let a day of attempts to tell the site fail."""
    services.telling.notifier.status = 500
    for _ in range(12):
        run_all(services)
        clock.advance(days=1)


def test_each_operation_answers_what_is_described(call, services, clock):
    answers = {}

    def do(name, *args, **options):
        answers[name] = call(name, *args, **options)
        return answers[name]

    do("set_callback", {"url": URL})
    comment = do("submit_comment", {**SPAM, "site_comment_id": "wp-1"}, wait=5)
    do("submit_batch", {"comments": [{"text": "Thank you."}, {"text": "And once more."}]})
    do("get_comment", comment["id"])
    do("list_comments", state="judged", limit=2)
    decided = do("decide_comment", comment["id"], {"ruling": "reject", "decided_by": "jo"})
    do("undo_decision", comment["id"], decision=decided["decision"]["id"])
    do("withdraw_comment", comment["id"])
    do("get_site")
    do("change_settings", {"mode": "enforce", "ham_cutoff": None})
    do("set_form")
    do("read_figures", days=7)
    key = do("issue_key", {})
    do("list_keys")
    do("revoke_key", key["key"]["id"])
    do("get_callback")
    give_up(services, clock)
    delivery = do("list_deliveries", state="dead")["deliveries"][0]
    do("get_delivery", delivery["id"])
    do("replay_delivery", delivery["id"])
    do("remove_callback")

    assert set(answers) == set(OPERATIONS)
    for name, answer in answers.items():
        schema = {"$ref": f"#/components/schemas/{OPERATIONS[name].answer}"}
        validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
        assert [str(error) for error in validator.iter_errors(answer)] == [], name
    assert answers["submit_comment"]["verdict"]["outcome"] in {"ham", "unsure", "spam"}
    assert answers["list_comments"]["next_cursor"]
    assert answers["undo_decision"]["decision"] is None
    assert answers["change_settings"]["settings"]["mode"] == "enforce"
    assert answers["revoke_key"]["revoked_at"]


def test_a_list_goes_on_by_its_cursor_with_the_same_filters(call):
    for number in range(3):
        call("submit_comment", {"text": f"Comment {number}."})

    first = call("list_comments", degraded=False, limit=2)
    second = call("list_comments", degraded=False, limit=2, cursor=first["next_cursor"])

    ids = [comment["id"] for page in (first, second) for comment in page["comments"]]
    assert len(set(ids)) == 3
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Füße, 水, שלום\u2028\u202e👩‍👩‍👧 \"'\\ \t\n</script>", None),
        ("half \ud83d a pair, and NUL \0", "half � a pair, and NUL �"),
    ],
)
def test_text_arrives_as_it_was_written(call, services, text, kept):
    call("submit_comment", {"text": text})
    call("submit_batch", {"comments": [{"text": f"{text} 2"}]})

    kept = kept or text
    assert kept_texts(services) == [kept, f"{kept} 2"]


def test_a_thousand_comments_go_at_once_and_what_is_wrong_is_refused_alone(call):
    comments = [{"text": f"Füße {number}"} for number in range(1000)]
    comments[7] = {"text": 7}

    answer = call("submit_batch", {"comments": comments}, timeout=120)

    assert (answer["accepted"], answer["refused"]) == (999, 1)
    assert answer["results"][7]["problem"]["errors"] == [
        {"field": "text", "problem": "is not a string", "remedy": "send a string"}
    ]
    with pytest.raises(SlopsieveError, match="more than 1000 comments") as caught:
        call("submit_batch", {"comments": [*comments, {"text": "One more."}]})
    assert caught.value.status == 413


def test_a_repeat_with_the_same_key_is_the_same_comment(call, services):
    first = call("submit_comment", SPAM, idempotency_key="wp-88121-1")
    again = call("submit_comment", SPAM, idempotency_key="wp-88121-1")
    other = call("submit_comment", SPAM)

    assert again["id"] == first["id"] != other["id"]
    with pytest.raises(SlopsieveError) as caught:
        call("submit_comment", {"text": "Other words."}, idempotency_key="wp-88121-1")
    assert caught.value.status == 409


def test_whatever_is_wrong_is_named_at_once_with_its_remedy_and_without_the_text(call):
    text = "A sincere remark about radiators."

    with pytest.raises(SlopsieveError) as caught:
        call("submit_comment", {"text": text, "address": "nowhere", "langauge": "en"}, wait=-1)

    error = caught.value
    assert error.status == 422
    assert {one["field"] for one in error.errors} == {"address", "langauge", "wait"}
    assert all(one["problem"] and one["remedy"] for one in error.errors)
    assert "langauge is not a known field: leave it out" in str(error)
    assert error.request_id
    assert "radiators" not in str(error) + repr(error) + "".join(getattr(error, "__notes__", []))


@pytest.mark.parametrize(
    ("name", "args", "status"),
    [
        ("get_comment", ["com_nowhere"], 404),
        ("get_callback", [], 404),
        ("undo_decision", ["com_nowhere"], 404),
    ],
)
def test_what_is_not_there_is_said(call, name, args, status):
    with pytest.raises(SlopsieveError) as caught:
        call(name, *args)

    assert caught.value.status == status
    assert caught.value.detail


def test_a_wrong_key_is_refused_and_shown_nowhere(driver, address):
    with pytest.raises(SlopsieveError) as caught:
        driver.call(address, STRANGER, "get_site")

    error = caught.value
    said = str(error) + repr(error) + "".join(getattr(error, "__notes__", []))
    assert error.status == 401
    assert STRANGER not in said + driver.shown(address, STRANGER)
    assert address in driver.shown(address, STRANGER) or "Client" in driver.shown(address, STRANGER)


def test_a_verdict_is_waited_for_as_long_as_was_said(call, services):
    services.intake.queue.judges = False
    comment = call("submit_comment", SPAM)

    assert call("wait_for_verdict", comment["id"], seconds=0.3)["verdict"] is None
    services.intake.queue.run()
    assert call("wait_for_verdict", comment["id"], seconds=30)["verdict"]["outcome"]


def test_many_calls_are_under_way_at_once(address, site_key, services):
    client = AsyncClient(address, site_key)

    async def run():
        return await asyncio.gather(
            *(client.submit_comment({"text": f"Number {number}."}) for number in range(20))
        )

    comments = asyncio.run(run())

    assert len({comment["id"] for comment in comments}) == 20
    assert len(kept_texts(services)) == 20


def test_a_span_is_cut_by_code_points(javascript):
    text = "👩 see https://boilers.example"

    assert javascript.text_of_span(text, {"start": 6, "end": 14}) == text[6:14]
