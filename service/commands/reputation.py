"""The commands about senders: histories, imported lists and erasure."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from service.commands import opening, output
from service.domain.comment import ListBasis, ListHits, ListKind, Sender
from service.domain.errors import InvalidInputError, NotFoundError, Problem, invalid_input
from service.imports.input_files import InputFile
from service.learning.evidence import LocalEvidence
from service.moderation import erasing
from service.moderation.acts import record_act
from service.moderation.remembering import rebuild_all
from service.ports.services import Services
from service.reputation import lists
from service.scoring.weights import MOST_SET
from service.signals.listings import WORTH, freshness
from service.stores.files.reputation_lists import ListFolder

_MAX_SOURCE_CHARS = 300
# At the list's maker the day may have begun already.
_CLOCKS_APART = timedelta(days=1)


def person_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name a person."""
    address = click.option("--address", help="An IP address that nobody else uses.")
    name = click.option("--name", help="A name that nobody else uses.")
    return address(name(click.option("--email", help="The person's e-mail address.")(command)))


@click.command("erase")
@person_options
@click.option(
    "--export", "exports", is_flag=True, help="Print all data about the person, erase nothing."
)
@click.option("--yes", is_flag=True, help="Do not ask; this cannot be undone.")
@opening.with_services
def erase_command(services: Services, /, *, exports: bool, yes: bool, **given: str | None) -> None:
    """Erase a person's comments: words, names, links, and what would recognise the sender.

    A comment that matches any of the given facts counts as theirs. Verdicts and decisions stay in
    the figures. The same command continues an interrupted run. `slopsieve reputation forget` keeps
    the words.
    """
    person = erasing.find_person(services, **given)
    if exports:
        record_act(services, actor=opening.ACTOR, act="export person", subject="person")
        for record in erasing.export_person(person, services):
            click.echo(json.dumps(record, default=datetime.isoformat))
        return
    held = sum(services.personal_data.count_by_site(person).values())
    question = f"{erasing.comments_in_words(held)} will be erased for good. Type their number"
    if held and not yes and click.prompt(question, type=int) != held:
        click.echo("Nothing was erased.")
        return
    with output.progress_bar("Erasing comments", held) as bar:
        erased = erasing.erase_person(
            person, services, by=opening.ACTOR, show=lambda n: bar.update(n - bar.pos)
        )
    if not erased:
        click.echo("No comment matches, and none was erased.")
        return
    have = "has" if erased == 1 else "have"
    words = erasing.comments_in_words(erased)
    click.echo(f"Erased; {words} {have} no words, names or links any more.")


reputation_group = click.Group("reputation")


@reputation_group.command("rebuild")
@opening.with_services
def reputation_rebuild(services: Services) -> None:
    """Learn every decision in the database again.

    For a Valkey that lost its data. The service does this by itself when it finds no data there,
    but slowly. Repeating it is harmless; an interrupted run is continued.
    """
    with output.progress_bar("Rebuilding from decisions") as bar:
        done = rebuild_all(services, show=lambda done: bar.update(done - bar.pos))
    click.echo(f"Histories know of all decisions in force; {done:,} were read.")


@reputation_group.command("forget")
@person_options
@opening.with_services
def reputation_forget(services: Services, /, **given: str | None) -> None:
    """Erase what would recognise a person again as the sender of comments.

    Their records and the sender keys of their comments are deleted. Words, names and links of the
    comments stay, as do verdicts and decisions.
    """
    person = erasing.find_person(services, **given)
    if person.sender == Sender():
        raise click.UsageError("Nobody is known by such a name; give --email or --address too.")
    erased = erasing.forget_sender(person.sender, services, by=opening.ACTOR)
    click.echo(f"Forgotten; {erasing.comments_in_words(erased)} lost the keys of their sender.")


@reputation_group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--name", required=True, help="The list's name; an earlier list is replaced.")
@click.option(
    "--kind",
    required=True,
    type=opening.ByValue(ListKind),
    help="The list's entries: networks, linked domains or domains of e-mail addresses.",
)
@click.option(
    "--basis",
    default=ListBasis.REPORTED.value,
    show_default=True,
    type=opening.ByValue(ListBasis),
    help="The reason for entries; it sets the weight until there are enough decisions here.",
)
@click.option(
    "--date",
    "date",
    type=opening.moment,
    help="When the list was made, as 2026-01-31; by default its header's date.",
)
@click.option("--expires-days", type=click.IntRange(1, 36_500), help="Days it has weight.")
@click.option("--source", default="", help="Where it comes from, for your records.")
@opening.data_dir_option
def reputation_import(
    *, file: str, date: datetime | None, expires_days: int | None, **given: Any
) -> None:
    """Import FILE, plain or gzipped, - for standard input; running servers see it in a second.

    One entry a line: addresses, networks (CIDR), ranges, ipset and netset files, rbldnsd zones;
    domains plain, with a leading dot or as ||domain^. Nothing of a refused file is imported.
    """
    now, kind, source = datetime.now(UTC), given["kind"], given["source"]
    problems = []
    if not lists.LIST_NAME.fullmatch(given["name"]):
        remedy = "use up to 64 of a-z, 0-9, - and _, a letter or digit first"
        problems.append(Problem("name", "cannot be a list's name", remedy))
    if date is not None and date > now + _CLOCKS_APART:
        problems.append(Problem("--date", "lies in the future", "give the day the list was made"))
    if len(source) > _MAX_SOURCE_CHARS or not source.isprintable():
        remedy = f"give at most {_MAX_SOURCE_CHARS} printable characters"
        problems.append(Problem("--source", "is too long or not printable", remedy))
    if problems:
        raise InvalidInputError(problems)
    with InputFile(file) as opened:
        parsed = lists.parse_list(opened.stream, kind)
        if opened.is_damaged:
            raise invalid_input("file", "cannot be read to its end", "fetch it again")
    # A date in the future is a mistake; the list must still age.
    listed_at = date or min(parsed.dated or now, now)
    days = expires_days or lists.default_expiry_days(kind)
    about = lists.AboutList(
        **given,
        listed_at=listed_at,
        expires_at=listed_at + timedelta(days=days),
        entries=parsed.entries,
        wrong_lines=parsed.wrong,
    )
    _folder().put(about, parsed.compiled)
    click.echo(
        f"{about.name}: {parsed.entries:,} entries of {about.listed_at:%Y-%m-%d}, "
        f"counting until {about.expires_at:%Y-%m-%d}."
    )
    if parsed.wrong:
        click.echo(f"{parsed.wrong:,} lines were wrong and left out:", err=True)
        for line in parsed.first_wrong:
            click.echo(f"  line {line.number}: {line.problem}", err=True)
    if about.state(now) is not lists.ListState.FRESH:
        click.echo(
            f"The list is {about.state(now)}: {about.age_days(now):,.0f} days old. "
            "Import a newer one, or set --expires-days if it still holds.",
            err=True,
        )


@reputation_group.command("lists")
@opening.with_json_services
def reputation_lists(services: Services) -> None:
    """List the imported lists, their hits and their present weights.

    A list's weight comes from its basis until there are enough decisions here, and decreases with
    its age: a stale list has lost half, an expired one all. Hits count kept comments, and decisions
    in force.
    """
    hits, evidence = services.comments.count_listings(), services.learned().evidence
    rows = [
        _row(about, services.clock(), hits.get(about.name, ListHits()), evidence)
        for about in services.reputation_lists.all()
    ]
    output.print_rows(rows, empty="There are no lists; `slopsieve reputation import FILE`.")
    for name in services.reputation_lists.damaged():
        click.echo(f"The list {name} is damaged and left out: import it again.", err=True)


@reputation_group.command("remove")
@click.argument("name")
@opening.data_dir_option
def reputation_remove(name: str) -> None:
    """Remove the list called NAME."""
    if not lists.LIST_NAME.fullmatch(name) or not _folder().remove(name):
        raise NotFoundError(f"There is no list called {name}")
    click.echo(f"The list {name} is removed.")


def _folder() -> ListFolder:
    return ListFolder(opening.find_installation(opening.command_settings()).lists_folder)


def _row(
    about: lists.AboutList, now: datetime, hits: ListHits, evidence: LocalEvidence
) -> dict[str, object]:
    learnt = evidence.weight_of_list(about.name, about.basis)
    set_at = WORTH[about.basis] * MOST_SET
    is_expired = about.state(now) is lists.ListState.EXPIRED
    counts = 0.0 if is_expired else freshness(about.age_days(now), about.kind)
    return {
        **output.columns(about, "name", "kind", "entries", "wrong_lines", "listed_at"),
        "age_days": round(about.age_days(now), 1),
        "expires_at": about.expires_at,
        "state": about.state(now),
        **output.columns(about, "source", "basis"),
        "hits": hits.comments,
        "hits_approved": hits.approved,
        "hits_rejected": hits.rejected,
        "set_weight": round(counts * set_at, 2),
        "weight_now": round(counts * (learnt.weight if learnt else set_at), 2),
        "learnt_from": learnt.decisions if learnt else 0,
    }
