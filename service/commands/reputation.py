"""The commands about what is remembered of senders, and about lists of them."""

from __future__ import annotations

import click


@click.group("reputation")
def reputation_group() -> None:
    """Import lists of known senders, and tend what is remembered of them."""
