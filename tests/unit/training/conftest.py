"""What every test of the training starts from."""

from __future__ import annotations

import pytest

from tests.unit.training.decided import begin_anew


@pytest.fixture(autouse=True)
def _draws_of_its_own():
    """Let no test's made-up words depend on which tests ran before it in the same process."""
    begin_anew()
