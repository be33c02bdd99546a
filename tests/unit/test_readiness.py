"""The database is ready when it takes a write, which is not asked of it at every question."""

from __future__ import annotations

import pytest

from service.domain.errors import StoreUnavailableError
from service.readiness import WriteProof


class Database:
    """Counts what it is asked for; refuses writes on demand."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.takes_writes = True
        self.seconds = 0.0

    def read(self) -> None:
        self.asked.append("read")

    def write(self) -> None:
        self.asked.append("write")
        if not self.takes_writes:
            raise StoreUnavailableError("the disk is full")


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def proof(database: Database) -> WriteProof:
    return WriteProof(
        ping=database.read, prove_write=database.write, monotonic=lambda: database.seconds
    )


def test_whoever_asks_often_causes_few_writes(database, proof):
    for database.seconds in (0, 1, 4.9, 5, 6):
        proof.renew()

    assert database.asked == ["write", "read", "read", "write", "read"]


def test_a_write_that_fails_is_told_each_time_and_healing_is_seen_at_once(database, proof):
    database.takes_writes = False

    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            proof.renew()
    database.takes_writes = True
    proof.renew()

    assert database.asked == ["write"] * 3
