"""What every test of the training starts from."""

from pathlib import Path

import pytest

from tests.unit.training.decided import begin_anew

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these first: the last tests are shared among processes, and each would train anew."""
    items.sort(key=lambda item: _HERE not in item.path.parents)


@pytest.fixture(autouse=True)
def _draws_of_its_own():
    """Let no test's made-up words depend on which tests ran before it in the same process."""
    begin_anew()
