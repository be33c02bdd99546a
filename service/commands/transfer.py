"""The commands that import comments from other systems, and export verdicts."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import click

from service.commands import opening, output
from service.domain.case import Case, CaseFilter, Order
from service.domain.comment import CommentId, Lane
from service.domain.decision import IMPORT, Action, Ruling
from service.domain.delivery import platform_of
from service.domain.errors import InvalidInputError, Problem, invalid_input
from service.domain.page import all_items
from service.domain.published import MAX_POST_CHARS, PublishedComment, as_published
from service.domain.site import Site
from service.domain.text import csv_line, encode_address, normal_address
from service.imports.disqus import read_disqus
from service.imports.imported import Entry, Imported
from service.imports.input_files import Broken, InputFile
from service.imports.isso import read_isso
from service.imports.remark42 import read_remark42
from service.imports.rows import read_csv, read_jsonl
from service.imports.wxr import read_wxr
from service.moderation.decisions import take_over_rulings
from service.moderation.intake import submit_comments
from service.moderation.published import link_replies
from service.ports.comments import AddOutcome, NewComment
from service.ports.services import Services
from service.web.api.intake import new_comment
from service.web.api.schemas import KeptRequest
from service.web.edge.errors import EdgeError
from service.web.edge.operation import validate
from service.web.webhooks.public import public_row

_READERS: Mapping[str, Callable[[InputFile], Iterator[Entry]]] = {
    "wxr": read_wxr,
    "wordpress": read_wxr,
    "disqus": read_disqus,
    "isso": read_isso,
    "remark42": read_remark42,
    "jsonl": read_jsonl,
    "csv": read_csv,
}
# The comments of one transaction, which an interruption loses.
_BATCH = 200
_PAGE = 500
_COUNTED = ("new", "repeats", "conflicts", "cut", "left_out", "broken", "decisions")
_OUTCOMES = {
    AddOutcome.NEW: "new",
    AddOutcome.REPEAT: "repeats",
    AddOutcome.CONFLICT: "conflicts",
    AddOutcome.DELETED: "left_out",
}


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(_READERS)),
    required=True,
    help="wxr and wordpress are the file of WordPress's Tools > Export.",
)
@click.option("--site", required=True, help="The site's name or id.")
@click.option(
    "--with-decisions",
    is_flag=True,
    help="Import FILE's approvals and spam marks as moderators' decisions.",
)
@click.option("--restart", is_flag=True, hidden=True, expose_value=False)  # scripts pass it
@opening.with_json_services
def import_command(
    services: Services, file: str, kind: str, site: Site, *, with_decisions: bool
) -> None:
    """Import the comments in FILE and have them judged, after all other waiting comments.

    After an interruption give the same command again: known comments are not judged twice. An entry
    that cannot be read is reported and left out; the command then ends with 1. Of a text over 64
    KiB the beginning and the end are kept; every field that is cut is reported.
    """
    importing, done = _Importing(services, site, with_decisions), 0
    with InputFile(file) as opened:
        if opened.is_archive:
            raise invalid_input("file", "is an archive", "unpack it and give the file inside")
        entries = output.with_progress(opened, _READERS[kind](opened), "Importing")
        try:
            for entry in entries:
                importing.add(entry)
                done += 1
        except InvalidInputError:
            importing.flush()
            if done:
                click.echo(f"The {done:,} entries before the fault are kept.", err=True)
            raise
    importing.flush()
    output.print_rows([importing.counts])
    if importing.counts["broken"] or importing.counts["conflicts"]:
        raise click.exceptions.Exit(1)


@dataclass
class _Importing:
    """One import into one site; `counts` are the entries by their outcome."""

    services: Services
    site: Site
    with_decisions: bool
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    waiting: list[tuple[NewComment, Imported]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Import an entry, at the latest with `flush`, or report that it cannot be imported."""
        if entry is None:
            self.counts["left_out"] += 1
        elif isinstance(entry, Broken):
            self._refuse(entry.number, entry.problems)
        elif new := self._read(entry):
            self.waiting.append((new, entry))
        if len(self.waiting) == _BATCH:
            self.flush()

    def flush(self) -> None:
        """Import the entries that wait for their transaction."""
        read, self.waiting = self.waiting, []
        added = submit_comments([new for new, _ in read], self.services) if read else []
        rulings: dict[CommentId, Ruling] = {}
        for (_, entry), answer in zip(read, added, strict=True):
            self.counts[_OUTCOMES[answer.outcome]] += 1
            if answer.outcome is AddOutcome.CONFLICT:
                self._tell(entry.number, "is known under its id with other content; left as it is")
            elif self.with_decisions and entry.ruling is not None:
                # Of two entries with one id the first is kept, with its ruling.
                rulings.setdefault(answer.comment_id, entry.ruling)
        if rulings:
            self.counts["decisions"] += take_over_rulings(
                rulings, self.services, site_id=self.site.id, decided_by=IMPORT
            )

    def _read(self, entry: Imported) -> NewComment | None:
        try:
            given = validate(KeptRequest, dict(entry.document))  # type: ignore[arg-type]  # `validate` refuses what is not JSON
            new = new_comment(given, self.site, self.services, lane=Lane.BULK, key=None)
        except (InvalidInputError, EdgeError) as refusal:
            self._refuse(entry.number, refusal.problems)
            return None
        if entry.cut:
            self.counts["cut"] += 1
            if self.counts["cut"] <= output.MAX_FAULTS_SHOWN:
                what = f"imported, but not all of it can be kept: {', '.join(entry.cut)}"
                click.echo(f"Entry {entry.number}: {what}.", err=True)
        return new

    def _refuse(self, number: int, problems: Sequence[Problem]) -> None:
        self.counts["broken"] += 1
        for one in problems:
            self._tell(number, f"{one.field} {one.problem}; {one.remedy}")

    def _tell(self, number: int, what: str) -> None:
        if self.counts["broken"] + self.counts["conflicts"] <= output.MAX_FAULTS_SHOWN:
            click.echo(f"Entry {number}: {what}.", err=True)


def _json_lines(rows: Iterator[Mapping[str, object]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, default=output.plain) + "\n"


def _enclosed(brackets: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a JSON array or object, with each item on its own line."""
    separator = brackets[0]
    for item in items:
        yield f"{separator}\n{item}"
        separator = ","
    yield f"{brackets}\n" if separator == brackets[0] else f"\n{brackets[1]}\n"


def _csv_lines(rows: Iterator[Mapping[str, object]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        if number == 0:
            yield csv_line(row)
        yield csv_line(map(output.plain, row.values()))


class Build(NamedTuple):
    """How a static site generator names a page.

    `below_blog`: paths are relative to the front page. `unquoted`: paths are percent-decoded.
    """

    below_blog: bool
    unquoted: bool


BUILDS = {
    "hugo": Build(below_blog=False, unquoted=False),  # .RelPermalink
    "jekyll": Build(below_blog=True, unquoted=False),  # page.url
    "eleventy": Build(below_blog=True, unquoted=True),  # page.url
}

# Jekyll reads JSON as YAML, which needs these characters escaped; otherwise the build fails.
_ESCAPED = {
    code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
}


def as_data_file(
    comments: Iterable[PublishedComment], blog: str | None, build: Build
) -> Iterator[str]:
    """Yield one JSON object: the comments of each post by its path, in thread order.

    Posts with longer URLs than the public feed accepts are left out.
    """
    posts: dict[str, list[PublishedComment]] = defaultdict(list)
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    home = _path(blog, build).rstrip("/") if build.below_blog else ""
    for one in comments:
        if len(one.post_url or "") > MAX_POST_CHARS:
            continue
        path = _path(one.post_url, build)
        if path == home or path.startswith(f"{home}/"):
            path = path[len(home) :]
        post = path.rstrip("/")
        posts[post].append(one)
        spellings[post][path or "/"] += 1

    def entries() -> Iterator[str]:
        for post, found in sorted(posts.items()):
            # The most frequent spelling: strangers may write a post's URL in another way.
            path = max(spellings[post].items(), key=lambda item: (item[1], item[0]))[0]
            rows = [{**public_row(one), "depth": depth} for one, depth in _threads(found)]
            yield f"{_json(path)}: {_json(rows)}"

    return _enclosed("{}", entries())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def _path(address: str | None, build: Build) -> str:
    """Return a URL's path. The host is ignored: imported comments may have an earlier one."""
    try:
        path = urlsplit(address or "").path
    except ValueError:
        return "/"
    path = normal_address(path if path.startswith("/") else f"/{path}")
    return unquote(path) if build.unquoted else encode_address(path)


def _threads(comments: Sequence[PublishedComment]) -> Iterator[tuple[PublishedComment, int]]:
    """Yield comments, the oldest first, each followed by its replies, with its depth."""
    ordered = sorted(comments, key=lambda one: (one.at, one.id))
    begun: set[str] = set()
    answers: dict[str | None, list[PublishedComment]] = defaultdict(list)
    for one in ordered:
        # A reply to a later or unknown comment begins a thread.
        answers[one.reply_to if one.reply_to in begun else None].append(one)
        begun.add(one.id)
    waiting = [(one, 0) for one in reversed(answers[None])]
    while waiting:
        one, depth = waiting.pop()
        yield one, depth
        waiting += [(answer, depth + 1) for answer in reversed(answers[one.id])]


_WRITERS: Mapping[str, Callable[[Iterator[Mapping[str, object]]], Iterator[str]]] = {
    "jsonl": _json_lines,
    # For programs that cannot read JSON lines.
    "json": lambda rows: _enclosed("[]", map(str.rstrip, _json_lines(rows))),
    "csv": _csv_lines,
}


@click.command("export")
@click.option("--site", required=True, help="The site's name or id.")
@output.out_option
@click.option(
    "--format",
    "kind",
    type=click.Choice([*_WRITERS, *BUILDS]),
    help="JSON lines; for names in .json and .csv, gzipped or not, one JSON array or CSV. For a "
    "build: the published comments, as one data file by post.",
)
@click.option(
    "--action",
    type=opening.ByValue(Action),
    help="Only comments that the site should publish, hold or reject.",
)
@click.option(
    "--published",
    is_flag=True,
    help="Only comments that the site shows under its posts, as in its public feed.",
)
@click.option("--with-text", is_flag=True, help="Add text, author and post of each comment.")
@opening.with_services
def export_command(
    services: Services,
    site: Site,
    out: str,
    kind: str | None,
    action: Action | None,
    *,
    published: bool,
    with_text: bool,
) -> None:
    """Write a site's verdicts and decisions, one comment a row, the newest first.

    `platform_id` is the comment's id at its platform, to apply the verdict there. Comments that
    were deleted at their site are left out. Hugo reads `--format hugo --out data/comments.json`,
    Jekyll and Eleventy read `_data/comments.json`: each post's comments by its path, in thread
    order; `depth` is a comment's depth in its thread.
    """
    build = BUILDS.get(kind or "")
    if (published or build) and (action or with_text):
        what = "--published" if published else f"--format {kind}"
        raise click.UsageError(f"{what} says what is written; leave --action and --with-text out")
    ending = Path(out.removesuffix(".gz")).suffix.removeprefix(".")
    if build:
        lines = as_data_file(_all_published(site, services), site.settings.blog, build)
    else:
        write = _WRITERS[kind or (ending if ending in _WRITERS else "jsonl")]
        lines = write(
            map(public_row, _all_published(site, services))
            if published
            else (
                _export_row(case, with_text=with_text)
                for case in _all_cases(site, services)
                if action in (None, case.action)
            )
        )
    with output.open_whole(out) as stream:
        for line in lines:
            stream.write(line.encode("utf-8", "replace"))


def _all_published(site: Site, services: Services) -> Iterator[PublishedComment]:
    shown = (one for case in _all_cases(site, services) if (one := as_published(case)))
    while batch := list(islice(shown, _PAGE)):
        yield from link_replies(batch, site, services)


def _all_cases(site: Site, services: Services) -> Iterator[Case]:
    criteria = CaseFilter(site_ids=(site.id,))
    find = partial(services.cases.page, criteria, order=Order.NEWEST, limit=_PAGE)
    for case in all_items(lambda cursor: find(cursor=cursor)):
        if case.withdrawn_at is None:
            yield case


def _export_row(case: Case, *, with_text: bool) -> dict[str, object]:
    comment, verdict, decision = case.comment, case.verdict, case.decision
    platform, platform_id = platform_of(comment.site_comment_id)
    row = {
        **output.columns(comment, "id", "site_comment_id"),
        "platform": platform,
        "platform_id": platform_id,
        **output.columns(comment, "received_at"),
        **output.columns(case, "state", "action"),
        **output.columns(verdict, "outcome", "p_spam", "degraded", "model_version"),
        **output.columns(decision, "ruling", "decided_by", "decided_at"),
    }
    if verdict:
        row["p_spam"] = round(verdict.p_spam, 6)
    if with_text:
        author = {"author_name": comment.author.name, "author_url": comment.author.url}
        row |= {"text": comment.text, **author, "post_url": comment.post.url}
        row |= output.columns(comment, "written_at", "reply_to")
    return row
