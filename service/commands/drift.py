"""The command that tells whether what comes in is still as it was."""

from __future__ import annotations

import click

from service.commands.opening import open_services
from service.commands.output import data_dir_option
from service.commands.sites import find_site
from service.moderation.insight.drift import read_drift
from service.scoring.drift import Drift, Level, Period
from service.web.api.drift_answers import DriftAnswer
from service.web.api.drift_words import ALARM_WORDS

_LEVELS = {Level.WATCH: "watch", Level.ACT: "act"}


@click.command("drift")
@click.option("--site", default=None, help="Only this site, by its name or id; all without it.")
@data_dir_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
def drift_command(site: str | None, data_dir: str | None, *, as_json: bool) -> None:
    """Compare the last seven days with the version's first ones and with the weeks before.

    Alarms are part of what is printed; the exit code says nothing of them.
    """
    with open_services(data_dir=data_dir) as services:
        site_ids = (find_site(site, services.common).id,) if site else None
        drift = read_drift(
            services.judging, services.insight, site_ids=site_ids, now=services.common.clock()
        ).drift
    if as_json:
        click.echo(DriftAnswer.of(drift).model_dump_json())
        return
    click.echo(_compared(drift))
    for alarm in drift.alarms:
        words = ALARM_WORDS[alarm.of]
        name = f": {alarm.name}" if alarm.name else ""
        click.echo(f"\n{_LEVELS[alarm.level]}: {words.title}{name} ({alarm.value:.2f})")
        click.echo(f"  {words.says}\n  {words.do}")
    if not drift.alarms:
        click.echo("Nothing has moved by more than chance, and far enough to matter.")


def _compared(drift: Drift) -> str:
    lines = [
        f"All versions: {_days(drift.before)}, against {_days(drift.recent)}.",
    ]
    if drift.own and drift.own_recent:
        lines.append(
            f"Version {drift.version}: {_days(drift.own)}, against {_days(drift.own_recent)}."
        )
    else:
        lines.append(
            f"Version {drift.version} has judged too little to be compared with itself yet."
        )
    if drift.score:
        lines.append(
            f"Scores: population stability index {drift.score.psi:.3f}, by chance below "
            f"{drift.score.noise:.3f} in 999 of 1,000 cases."
        )
    lines += [f"{one.of}: {one.reference:.1%}, now {one.recent:.1%}." for one in drift.rises]
    return "\n".join(lines)


def _days(period: Period) -> str:
    return f"{period.first} to {period.last} ({period.verdicts} verdicts)"
