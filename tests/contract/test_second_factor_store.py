"""Holds every store of second factors to its contract."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from service.domain.user import SecondFactor
from tests.contract.test_user_store import make_user
from tests.factories import NOW

FACTOR = SecondFactor(user_id="u-Ada", seed="5eed", since=NOW, last_step=7)


@pytest.fixture(autouse=True)
def _accounts(stores):
    for name in ("Ada", "Grace"):
        stores.users.add(make_user(name))


def test_a_second_factor_comes_back_as_it_was(stores):
    stores.second_factors.put(FACTOR, recovery_digests=["a", "b"])

    assert stores.second_factors.get("u-Ada") == FACTOR
    assert stores.second_factors.get("u-Grace") is None
    assert stores.second_factors.user_ids() == {"u-Ada"}
    assert "5eed" not in repr(FACTOR)


def test_a_new_one_takes_the_place_of_the_old_one_and_its_codes(stores):
    stores.second_factors.put(FACTOR, recovery_digests=["a", "b"])

    stores.second_factors.put(replace(FACTOR, seed="other"), recovery_digests=["c"])

    assert stores.second_factors.get("u-Ada").seed == "other"
    assert stores.second_factors.count_recovery("u-Ada") == 1
    assert not stores.second_factors.use_recovery("u-Ada", "a")


def test_a_step_is_used_once_and_none_before_it_any_more(stores):
    stores.second_factors.put(FACTOR, recovery_digests=[])

    told = [stores.second_factors.use_step("u-Ada", step) for step in (7, 9, 9, 8, 10)]

    assert told == [False, True, False, False, True]
    assert not stores.second_factors.use_step("u-Grace", 1)


def test_of_many_with_one_code_at_once_one_gets_in(stores):
    stores.second_factors.put(FACTOR, recovery_digests=["a"])

    with ThreadPoolExecutor(4) as pool:
        steps = list(pool.map(lambda _: stores.second_factors.use_step("u-Ada", 8), range(8)))
        codes = list(pool.map(lambda _: stores.second_factors.use_recovery("u-Ada", "a"), range(8)))

    assert sum(steps) == 1
    assert sum(codes) == 1


def test_a_recovery_code_is_its_accounts_alone(stores):
    stores.second_factors.put(FACTOR, recovery_digests=["a"])
    stores.second_factors.put(replace(FACTOR, user_id="u-Grace"), recovery_digests=["g"])

    assert not stores.second_factors.use_recovery("u-Grace", "a")
    assert stores.second_factors.count_recovery("u-Ada") == 1


def test_a_removed_one_is_gone_with_its_codes(stores):
    stores.second_factors.put(FACTOR, recovery_digests=["a"])

    told = [stores.second_factors.remove("u-Ada") for _ in range(2)]

    assert told == [True, False]
    assert stores.second_factors.get("u-Ada") is None
    assert stores.second_factors.count_recovery("u-Ada") == 0
