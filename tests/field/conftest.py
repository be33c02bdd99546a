"""Lends the reports' tests the application of the functional ones and platforms that send to it."""

from tests.functional.conftest import (  # noqa: F401  # fixtures
    api,
    app,
    block,
    config,
    site_key,
    stranger,
    submit,
)
from tests.functional.webhooks.conftest import discourse, github, send  # noqa: F401  # fixtures
