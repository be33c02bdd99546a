"""Installations with real servers, one a test."""

import contextlib

import pytest

from tests.integration.installation import Installation
from tests.servers import running_valkey


@pytest.fixture
def install(tmp_path):
    """Return a function that makes an installation; without a URL it gets a Valkey of its own."""
    with contextlib.ExitStack() as stack:

        def make(*, valkey_url=None, **options):
            url = valkey_url or stack.enter_context(running_valkey()).url
            installation = Installation(tmp_path / "data", url, **options)
            stack.callback(installation.close)
            return installation

        yield make
