"""The commands that import, show and remove reputation lists."""

from __future__ import annotations

import gzip
import zlib
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, cast

import click

from service.commands.opening import find_installation, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.reputation import reputation_group
from service.domain.comment import ListBasis, ListHits, ListKind
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.learning.evidence import LocalEvidence
from service.reputation.about_list import LIST_NAME, AboutList, ListState, default_expiry_days
from service.reputation.lists import ParsedList, parse_date, parse_list
from service.scoring.set_weights import MOST_OF_A_LIST
from service.settings import load_settings
from service.signals.listings import WORTH, freshness
from service.stores.files.reputation_lists import ListFolder

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_SOURCE_CHARS = 300
_MAX_EXPIRY_DAYS = 36_500
# Where the list was made the day may have begun already.
_CLOCKS_APART = timedelta(days=1)


@reputation_group.command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--name", required=True, help="What to call the list; an earlier one is replaced.")
@click.option(
    "--kind",
    required=True,
    type=click.Choice([kind.value for kind in ListKind]),
    help="Whether it names networks, linked domains or domains of e-mail addresses.",
)
@click.option(
    "--basis",
    default=ListBasis.REPORTED.value,
    show_default=True,
    type=click.Choice([basis.value for basis in ListBasis]),
    help="Why an entry is listed; how much the list counts until decisions here tell.",
)
@click.option("--date", "date", help="When the list was made, as 2026-01-31; else its header says.")
@click.option("--expires-days", type=click.IntRange(1, _MAX_EXPIRY_DAYS), help="Days it counts.")
@click.option("--source", default="", help="Where it comes from, for whoever asks later.")
@data_dir_option
def import_command(
    file: BinaryIO,
    name: str,
    kind: str,
    basis: str,
    date: str | None,
    expires_days: int | None,
    source: str,
    data_dir: str | None,
) -> None:
    """Import FILE, plain or gzipped, - for standard input; running servers see it in a second.

    One entry a line: addresses, networks (CIDR), ranges, ipset and netset files, rbldnsd zones;
    domains plain, with a leading dot or as ||domain^. Nothing of a refused file is imported.
    """
    now = datetime.now(UTC)
    given = _checked(name, date, source, now)
    list_kind = ListKind(kind)
    parsed = _parse(file, list_kind)
    # A header's date that lies ahead is somebody's slip; the list must not stay young for it.
    listed_at = given or min(parsed.dated or now, now)
    days = expires_days or default_expiry_days(list_kind)
    about = AboutList(
        name=name,
        kind=list_kind,
        source=source,
        listed_at=listed_at,
        imported_at=now,
        expires_at=listed_at + timedelta(days=days),
        entries=parsed.entries,
        wrong_lines=parsed.wrong,
        basis=ListBasis(basis),
    )
    _folder(data_dir).put(about, parsed.compiled)
    _tell(about, parsed, now)


@reputation_group.command("lists")
@data_dir_option
@json_option
def lists_command(data_dir: str | None, *, as_json: bool) -> None:
    """List what was imported, how often comments hit it, and what it weighs now.

    A list weighs by its basis until decisions here tell, and less the older it is: a stale one has
    lost half, an expired one all. Hits are of kept comments, and of decisions in force.
    """
    folder = _folder(data_dir)
    now = datetime.now(UTC)
    lists = folder.all()
    rows = []
    if lists:
        with open_services(data_dir=data_dir) as services:
            hits, evidence = (
                services.intake.comments.count_listings(),
                services.learning.taught().evidence,
            )
        rows = [_row(about, now, hits.get(about.name, ListHits()), evidence) for about in lists]
    print_rows(
        rows,
        as_json=as_json,
        empty="There are no lists; `slopsieve reputation import FILE`.",
    )
    for name in folder.damaged():
        click.echo(f"The list {name} is damaged and left out: import it again.", err=True)


@reputation_group.command("remove")
@click.argument("name")
@data_dir_option
def remove_command(name: str, data_dir: str | None) -> None:
    """Remove the list called NAME."""
    _check_name(name)
    if not _folder(data_dir).remove(name):
        msg = f"There is no list called {name}"
        raise NotFoundError(msg)
    click.echo(f"The list {name} is removed.")


def _folder(data_dir: str | None) -> ListFolder:
    settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    return ListFolder(find_installation(settings).lists_folder)


def _checked(name: str, date: str | None, source: str, now: datetime) -> datetime | None:
    """Return the date. Raises `InvalidInputError` with everything wrong with these options."""
    problems = _name_problems(name)
    moment = parse_date(date) if date else None
    if date and moment is None:
        problems.append(_problem("--date", "is no date", "write it as 2026-01-31"))
    if moment is not None and moment > now + _CLOCKS_APART:
        problems.append(_problem("--date", "lies in the future", "give the day the list was made"))
    if len(source) > _MAX_SOURCE_CHARS or not source.isprintable():
        remedy = f"give at most {_MAX_SOURCE_CHARS} printable characters"
        problems.append(_problem("--source", "is too long or not printable", remedy))
    if problems:
        raise InvalidInputError(problems)
    return moment


def _check_name(name: str) -> None:
    problems = _name_problems(name)
    if problems:
        raise InvalidInputError(problems)


def _name_problems(name: str) -> list[Problem]:
    if LIST_NAME.fullmatch(name):
        return []
    remedy = "use up to 64 of a-z, 0-9, - and _, a letter or digit first"
    return [_problem("name", "cannot be a list's name", remedy)]


def _problem(field: str, problem: str, remedy: str) -> Problem:
    return Problem(field=field, problem=problem, remedy=remedy)


def _parse(file: BinaryIO, kind: ListKind) -> ParsedList:
    """Read the list, unpacked where it begins like a gzipped file."""
    with ExitStack() as stack:
        start = file.peek(2)[:2] if hasattr(file, "peek") else b""
        if start == _GZIP_MAGIC:
            file = cast("BinaryIO", stack.enter_context(gzip.GzipFile(fileobj=file)))
        try:
            return parse_list(file, kind)
        except (EOFError, OSError, zlib.error):
            remedy = "fetch it again"
            raise InvalidInputError(
                [_problem("file", "cannot be read to its end", remedy)]
            ) from None


def _tell(about: AboutList, parsed: ParsedList, now: datetime) -> None:
    click.echo(
        f"{about.name}: {parsed.entries:,} entries of {about.listed_at:%Y-%m-%d}, "
        f"counting until {about.expires_at:%Y-%m-%d}."
    )
    if parsed.wrong:
        click.echo(f"{parsed.wrong:,} lines were wrong and left out:", err=True)
        for line in parsed.first_wrong:
            click.echo(f"  line {line.number}: {line.problem}", err=True)
    if about.state(now) is not ListState.FRESH:
        click.echo(
            f"The list is {about.state(now)}: {about.age_days(now):,.0f} days old. "
            "Import a newer one, or set --expires-days if it still holds.",
            err=True,
        )


def _row(
    about: AboutList, now: datetime, hits: ListHits, evidence: LocalEvidence
) -> dict[str, object]:
    learnt = evidence.weight_of_list(about.name, about.basis)
    fresh = freshness(about.age_days(now), about.kind)
    set_at = WORTH[about.basis] * MOST_OF_A_LIST
    counts = 0.0 if about.state(now) is ListState.EXPIRED else fresh
    return {
        "name": about.name,
        "kind": about.kind.value,
        "entries": about.entries,
        "wrong_lines": about.wrong_lines,
        "listed_at": about.listed_at,
        "age_days": round(about.age_days(now), 1),
        "expires_at": about.expires_at,
        "state": about.state(now).value,
        "source": about.source,
        "basis": about.basis.value,
        "hits": hits.comments,
        "hits_approved": hits.approved,
        "hits_rejected": hits.rejected,
        "set_weight": round(counts * set_at, 2),
        "weight_now": round(counts * (learnt.weight if learnt else set_at), 2),
        "learnt_from": learnt.decisions if learnt else 0,
    }
