"""The command that shows who did what."""

from __future__ import annotations

from dataclasses import asdict

import click

from service.commands.opening import open_services
from service.commands.output import data_dir_option, json_option, print_rows


@click.command("audit")
@click.option("--subject", default=None, help="Only acts on this comment, site, key or user.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@data_dir_option
@json_option
def audit_command(subject: str | None, limit: int, data_dir: str | None, *, as_json: bool) -> None:
    """List the newest acts of moderators and operators."""
    with open_services(data_dir=data_dir) as services:
        entries = services.common.audit_log.recent(subject=subject, limit=limit)
        rows = [asdict(entry) for entry in entries]
    print_rows(rows, as_json=as_json, empty="Nothing has been done yet.")
