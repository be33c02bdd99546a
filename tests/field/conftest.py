"""Lends the reports' tests the application of the functional ones."""

from __future__ import annotations

from tests.functional.conftest import (  # noqa: F401  # fixtures
    api,
    app,
    classifier,
    clock,
    config,
    services,
    site_key,
)
