"""Lends services over a database of their own, whose clock and classifier a test sets."""

import pytest

from service.ports.services import Services
from tests.fakes import FixedClassifier, FixedClock, make_services


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def classifier() -> FixedClassifier:
    return FixedClassifier()


@pytest.fixture
def services(clock: FixedClock, classifier: FixedClassifier) -> Services:
    return make_services(clock=clock, classifier=classifier)
