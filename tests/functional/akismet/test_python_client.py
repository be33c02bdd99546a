"""The PyPI client `akismet`, sync and async, unmodified but for the host that it calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import akismet
import httpx
import pytest

from service.domain.decision import Mode
from service.domain.report import Label
from tests.factories import SITE
from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNKNOWN_KEY, kept_cases

AGENT = {"User-Agent": "akismet.py/25.10.1 | Python/3"}


@pytest.fixture
def redirect(address):
    """A hook that sends what is meant for the vendor's host to our server."""

    def to_us(request: httpx.Request) -> None:
        host, port = address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)

    return to_us


@pytest.fixture
def make_client(redirect, key):
    """Makes sync clients with a given key, by default the right one."""
    opened = []

    def make(with_key: str = key) -> akismet.SyncClient:
        http = httpx.Client(headers=AGENT, timeout=5.0, event_hooks={"request": [redirect]})
        opened.append(http)
        return akismet.SyncClient(config=akismet.Config(key=with_key, url=BLOG), http_client=http)

    yield make
    for http in opened:
        http.close()


def test_the_key_is_verified(make_client):
    assert make_client().verify_key() is True
    assert make_client(UNKNOWN_KEY).verify_key() is False


def test_a_client_validates_its_configuration(redirect, key):
    with httpx.Client(headers=AGENT, event_hooks={"request": [redirect]}) as http:
        good = akismet.Config(key=key, url=BLOG)
        bad = akismet.Config(key=UNKNOWN_KEY, url=BLOG)

        client = akismet.SyncClient.validated_client(config=good, http_client=http)

        assert client.verify_key() is True
        with pytest.raises(akismet.APIKeyError):
            akismet.SyncClient.validated_client(config=bad, http_client=http)


def test_spam_and_ham_are_told_apart(make_client):
    client = make_client()

    spam = client.comment_check(user_ip="203.0.113.7", comment_content=SPAM, comment_author="Ann")
    ham = client.comment_check(
        user_ip="203.0.113.7",
        comment_content=HAM,
        comment_date_gmt="2026-01-02T03:04:05Z",
        comment_context="radiators",
        is_test=False,
    )

    assert (spam, ham) == (akismet.CheckResponse.SPAM, akismet.CheckResponse.HAM)


def test_the_documented_test_values_work(make_client, services):
    client = make_client()

    forced = client.comment_check(
        user_ip="203.0.113.7", comment_author="akismet-guaranteed-spam", is_test=True
    )
    administrator = client.comment_check(
        user_ip="203.0.113.7", comment_content=SPAM, user_role="administrator", is_test=True
    )

    assert (forced, administrator) == (akismet.CheckResponse.SPAM, akismet.CheckResponse.HAM)
    assert kept_cases(services) == []


def test_the_blatant_is_to_be_discarded_where_verdicts_reject(make_client, services, classifier):
    settings = services.common.sites.get(SITE).settings
    services.common.sites.change_settings(SITE, lambda _: replace(settings, mode=Mode.ENFORCE))
    classifier.by_text[SPAM] = replace(classifier.by_text[SPAM], p_spam=0.9999)

    answer = make_client().comment_check(user_ip="203.0.113.7", comment_content=SPAM)

    assert answer is akismet.CheckResponse.DISCARD


def test_both_reports_are_taken(make_client, services):
    client = make_client()
    client.comment_check(user_ip="203.0.113.7", comment_content=HAM)

    spam = client.submit_spam(user_ip="203.0.113.7", comment_content=HAM)
    ham = client.submit_ham(user_ip="203.0.113.7", comment_content=HAM)

    assert (spam, ham) == (True, True)
    (case,) = kept_cases(services)
    assert [report.label for report in case.reports] == [Label.SPAM, Label.HAM]


def test_a_wrong_key_is_the_clients_own_error(make_client):
    client = make_client(UNKNOWN_KEY)

    with pytest.raises(akismet.APIKeyError):
        client.comment_check(user_ip="203.0.113.7", comment_content=SPAM)
    with pytest.raises(akismet.APIKeyError):
        client.submit_spam(user_ip="203.0.113.7", comment_content=SPAM)


def test_the_async_client_gets_the_same_answers(redirect, key, services):
    async def to_us(request: httpx.Request) -> None:
        redirect(request)

    async def ask(with_key: str):
        hooks = {"request": [to_us]}
        async with httpx.AsyncClient(headers=AGENT, timeout=5.0, event_hooks=hooks) as http:
            client = akismet.AsyncClient(
                config=akismet.Config(key=with_key, url=BLOG), http_client=http
            )
            valid = await client.verify_key()
            if not valid:
                with pytest.raises(akismet.APIKeyError):
                    await client.comment_check(user_ip="203.0.113.7", comment_content=SPAM)
                return valid, ()
            return valid, (
                await client.comment_check(user_ip="203.0.113.7", comment_content=SPAM),
                await client.comment_check(user_ip="203.0.113.7", comment_content=HAM),
                await client.submit_spam(user_ip="203.0.113.7", comment_content=HAM),
                await client.submit_ham(user_ip="203.0.113.7", comment_content=SPAM),
            )

    right, wrong = asyncio.run(ask(key)), asyncio.run(ask(UNKNOWN_KEY))

    check = akismet.CheckResponse
    assert right == (True, (check.SPAM, check.HAM, True, True))
    assert wrong == (False, ())
    assert len(kept_cases(services)) == 2
