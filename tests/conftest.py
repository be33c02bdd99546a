"""Rules for the whole test run."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from service.ports.services import Services
from tests.applications import make_applications_cheap
from tests.databases import databases_given_back
from tests.fakes import FixedClassifier, FixedClock, Seconds, make_services
from tests.fast import (  # noqa: F401  # hooks of pytest
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_ignore_collect,
)
from tests.networks import (  # noqa: F401  # as below
    tiny_engine,
    tiny_network,
    tokeniser,
    tokeniser_json,
    write_tiny,
)
from tests.servers import postgresql, valkey  # noqa: F401  # fixtures for every room

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("untimed", parent=settings.default, deadline=None)
settings.load_profile("untimed")
make_applications_cheap()
# Modules and tests stay until the end: to look through all of them again and again for garbage took
# half of the run (2026-11-23, an application and a page of it: 107 ms, without 55, like this 64).
gc.disable()


def pytest_collection_finish() -> None:
    """From here on look for garbage, seldom, among what the tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def _databases_end_with_their_test() -> Iterator[None]:
    with databases_given_back():
        yield


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def classifier() -> FixedClassifier:
    return FixedClassifier()


@pytest.fixture
def services(clock: FixedClock, classifier: FixedClassifier) -> Services:
    """Services whose queue judges inline; with its `judges` False comments wait."""
    return make_services(clock=clock, classifier=classifier)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a skipped test count as a failed one in CI: what did not run was not tested."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("CI") and skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
