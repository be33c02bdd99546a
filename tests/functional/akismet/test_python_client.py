"""The PyPI client `akismet`, sync and async, unmodified but for the host that it calls."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import akismet
import httpx
import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNKNOWN_KEY, kept_cases

AGENT = {"User-Agent": "akismet.py/25.10.1 | Python/3"}


@pytest.fixture
def redirect(address):
    """A hook that sends what is meant for the vendor's host to our server."""

    def to_us(request: httpx.Request) -> None:
        host, port = address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)

    return to_us


def test_a_client_validates_its_configuration(redirect, key):
    with httpx.Client(headers=AGENT, event_hooks={"request": [redirect]}) as http:
        good = akismet.Config(key=key, url=BLOG)
        bad = akismet.Config(key=UNKNOWN_KEY, url=BLOG)

        client = akismet.SyncClient.validated_client(config=good, http_client=http)

        assert client.verify_key() is True
        with pytest.raises(akismet.APIKeyError):
            akismet.SyncClient.validated_client(config=bad, http_client=http)


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

    # A browser's tests may keep a loop running in this thread.
    with ThreadPoolExecutor(1) as other_thread:
        right, wrong = other_thread.map(lambda one: asyncio.run(ask(one)), (key, UNKNOWN_KEY))

    check = akismet.CheckResponse
    assert right == (True, (check.SPAM, check.HAM, True, True))
    assert wrong == (False, ())
    assert len(kept_cases(services)) == 2
