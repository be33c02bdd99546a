"""What every test of the training starts from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.training.decided import begin_anew

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these first: the last tests are shared among processes, and each would train again."""
    items.sort(key=lambda item: _HERE not in item.path.parents)


@pytest.fixture(autouse=True)
def _draws_of_its_own():
    """Let no test's made-up words depend on which tests ran before it in the same process."""
    begin_anew()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Let torch use one thread: for so small a network, more only wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
