"""What every test of the training starts from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.training.decided import begin_anew


@pytest.fixture(autouse=True)
def _draws_of_its_own():
    """Let no test's made-up words depend on which tests ran before it in the same process."""
    begin_anew()


@pytest.fixture(scope="session")
def tiny_versions(tmp_path_factory, tiny_network, tokeniser_json) -> Path:
    """Return a folder of versions whose only one, `tiny`, is current. It is not to be changed."""
    # Seconds of imports, which only the tests that ask for it are to pay.
    from tests.tiny_version import write_tiny_version

    folder = tmp_path_factory.mktemp("versions")
    write_tiny_version(folder, tiny_network, tokeniser_json)
    return folder
