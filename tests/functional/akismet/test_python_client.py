"""The PyPI client `akismet`, unmodified but for the host that it calls."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import akismet
import httpx
import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNKNOWN_KEY
from tests.functional.webhooks.conftest import all_cases

AGENT = {"User-Agent": "akismet.py/25.10.1 | Python/3"}


def test_the_client_gets_its_answers(address, key, services):
    async def to_us(request: httpx.Request) -> None:
        host, port = address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)

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
    assert len(all_cases(services)) == 2
