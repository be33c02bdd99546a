"""A circuit breaker costs a caller nothing while a store is away, and finds out when it is back."""

from __future__ import annotations

import threading

import pytest

from service.domain.errors import StoreUnavailableError
from service.stores.valkey.client import Circuit


class Store:
    """Answers or fails as it is told, and counts how often it was asked."""

    def __init__(self) -> None:
        self.away = False
        self.asked = 0
        self.seconds = 0.0

    def ask(self) -> str:
        self.asked += 1
        if self.away:
            raise StoreUnavailableError("no answer in time")
        return "answer"


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def circuit(store: Store) -> Circuit:
    return Circuit("reading", monotonic=lambda: store.seconds)


def fail(circuit: Circuit, store: Store, times: int) -> None:
    for _ in range(times):
        with pytest.raises(StoreUnavailableError):
            circuit.call(store.ask)


def test_after_three_failures_in_a_row_the_store_is_asked_no_more(circuit, store):
    store.away = True

    fail(circuit, store, 10)

    counts = circuit.counts()
    assert store.asked == 3
    assert (counts.is_open, counts.opened, counts.refused) == (True, 1, 7)


def test_failures_that_are_not_in_a_row_open_nothing(circuit, store):
    for _ in range(4):
        store.away = True
        fail(circuit, store, 2)
        store.away = False
        circuit.call(store.ask)

    assert circuit.counts().opened == 0


def test_after_the_pause_one_call_tries_and_an_answer_closes_the_circuit(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    store.away = False
    store.seconds = 1.0

    answers = [circuit.call(store.ask) for _ in range(3)]

    assert answers == ["answer"] * 3
    assert not circuit.counts().is_open


def test_each_failed_try_doubles_the_pause_up_to_eight_seconds(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    tried_at = []

    for quarter in range(4 * 40):
        store.seconds = quarter / 4
        before = store.asked
        fail(circuit, store, 1)
        if store.asked > before:
            tried_at.append(store.seconds)

    assert tried_at == [1, 3, 7, 15, 23, 31, 39]


def test_of_many_threads_one_tries_and_the_others_are_refused_meanwhile(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    store.seconds = 1.0
    refused_before = circuit.counts().refused
    entered, may_answer = threading.Event(), threading.Event()

    def slow_answer() -> str:
        entered.set()
        assert may_answer.wait(10)
        return "slow answer"

    trying = threading.Thread(target=circuit.call, args=(slow_answer,))
    trying.start()
    assert entered.wait(10)
    fail(circuit, store, 5)
    may_answer.set()
    trying.join()
    store.away = False

    assert store.asked == 3
    assert circuit.counts().refused == refused_before + 5
    assert circuit.call(store.ask) == "answer"


def test_a_try_that_ends_for_another_reason_leaves_the_next_one_free_to_try(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    store.away = False
    store.seconds = 1.0

    def break_down() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        circuit.call(break_down)

    assert circuit.call(store.ask) == "answer"
