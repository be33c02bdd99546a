"""Histories lie beside the queue, or where their own URL says, on a cluster too."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from service.settings import Settings
from service.start_error import StartError
from service.stores.valkey.history import ValkeyHistoryStore
from service.wiring import open_history
from tests.servers import free_port


@pytest.mark.parametrize("url", ["nonsense", "http://h/0", "+cluster://h", "redis+cluster://"])
def test_another_url_is_refused_by_name_and_not_repeated(url):
    with pytest.raises(StartError, match="HISTORY_URL cannot be used") as refused:
        open_history(Settings(history_url=SecretStr(url)), "redis://h")

    assert url not in str(refused.value)


def test_nothing_is_opened_before_the_first_call():
    store = open_history(
        Settings(history_url=SecretStr(f"redis+cluster://h:{free_port()}")), "redis://h"
    )

    assert isinstance(store, ValkeyHistoryStore)
    store.close()
