"""Tells an operator where to look when a store is away."""

from __future__ import annotations

from service.domain.errors import StoreUnavailableError


def describe_unavailable(error: StoreUnavailableError) -> str:
    """Return one line: what is away, then the settings that say where it should be."""
    return (
        f"{error}; check that it runs, and that SLOPSIEVE_DATABASE_URL and SLOPSIEVE_VALKEY_URL, "
        "where they are set, are right."
    )
