"""The command that shows who did what."""

from __future__ import annotations

from dataclasses import asdict

import click

from service.commands.opening import with_json_services
from service.commands.output import print_rows
from service.ports.services import Services


@click.command("audit")
@click.option("--subject", help="Only acts on this comment, site, key or user.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@with_json_services
def audit_command(services: Services, subject: str | None, limit: int) -> None:
    """List the newest acts of moderators and operators."""
    entries = services.audit_log.recent(subject=subject, limit=limit)
    print_rows([asdict(entry) for entry in entries], empty="Nothing has been done yet.")
