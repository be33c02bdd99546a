"""The command that posts labelled comments to a running Slopsieve and shows its verdicts."""

import json
import random
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from service.commands import opening, output
from service.domain.comment import CommentId
from service.domain.verdict import Outcome, Verdict
from service.moderation.sites import add_site, issue_key, revoke_key
from service.ports.services import Services
from service.settings import load_settings

_CORPUS = Path(__file__).resolve().parents[2] / "data"
_ACTOR = "demo"
_POSTED_AT_ONCE = 50
# Every run posts the same comments, so a second run shows that repeats are harmless.
_SEED = 2026
_TEXT_SHOWN = 70
_COLOURS = {Outcome.SPAM: "red", Outcome.UNSURE: "yellow", Outcome.HAM: "green"}
_ABOUT_THE_CORPUS = (
    "These comments are written to be hard: each kind of spam has ham that looks like it, so more "
    "wait for a person than on a blog. The classifier has learnt from nearly all of them: deciding "
    "those teaches a retraining nothing. README.md has the figures for comments that it never saw."
)

Row = Mapping[str, Any]


@click.command("demo")
@click.option(
    "--count",
    type=click.IntRange(1, 10_000),
    default=400,
    show_default=True,
    help="How many comments to post; the same ones at every run.",
)
@click.option("--url", help="Where Slopsieve runs, if not at its configured address.")
@opening.with_services
def demo_command(services: Services, count: int, url: str | None) -> None:
    """Post labelled comments over HTTP, show their verdicts.

    Slopsieve must be running on this data folder. The table gives the weightiest reason of each
    verdict, and at the end how the verdicts agree with the labels.
    """
    settings = load_settings()
    base_url = (url or f"http://{settings.host}:{settings.port}").rstrip("/")
    if not base_url.startswith(("http://", "https://")):
        raise click.UsageError("--url must begin with http:// or https://.")
    files = sorted(_CORPUS.glob("authored-*.jsonl"))
    rows = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    if not rows:
        msg = f"there are no comments in {_CORPUS}; run this from a checkout of the project"
        raise click.ClickException(msg)
    rows = random.Random(_SEED).sample(rows, min(count, len(rows)))  # noqa: S311  # no secret
    # Before a site or a key is made.
    with _answering(base_url, as_what="Slopsieve"):
        urllib.request.urlopen(f"{base_url}/livez", timeout=30).close()  # noqa: S310  # checked
    site = next((one for one in services.sites.all() if one.name == "demo"), None)
    if site is None:
        _, [issued] = add_site("demo", services, actor=_ACTOR)
    else:
        issued = issue_key(site.id, services, actor=_ACTOR)
    started = time.monotonic()
    try:
        ids: list[CommentId] = []
        with output.progress_bar("Posted comments", len(rows)) as bar:
            for start in range(0, len(rows), _POSTED_AT_ONCE):
                ids += _post(rows[start : start + _POSTED_AT_ONCE], base_url, issued.secret)
                bar.update(len(ids) - bar.pos)
        verdicts = _await_verdicts(ids, services)
    finally:
        revoke_key(issued.key.id, services, actor=_ACTOR)
    _show(rows, verdicts, seconds=time.monotonic() - started, base_url=base_url)


@contextmanager
def _answering(base_url: str, *, as_what: str) -> Iterator[None]:
    """Raise `ClickException` if a request in the block fails; `as_what` should have answered."""
    try:
        yield
    except urllib.error.HTTPError as error:
        msg = f"{base_url} answered {error.code}; is this {as_what}?"
        raise click.ClickException(msg) from None
    except OSError:
        raise click.ClickException(
            f"nothing answers at {base_url}; start it with `slopsieve up`, or name its address "
            "with --url or SLOPSIEVE_PORT"
        ) from None


def _post(rows: Sequence[Row], base_url: str, secret: str) -> list[CommentId]:
    """Post some comments through the API, and return their ids in the same order."""
    request = urllib.request.Request(  # noqa: S310  # the scheme was checked
        f"{base_url}/v1/comments/batch",
        data=json.dumps({"comments": [_request_of(row) for row in rows]}).encode(),
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
    )
    with (
        _answering(base_url, as_what="the same data folder"),
        urllib.request.urlopen(request, timeout=30) as response,  # noqa: S310  # likewise
    ):
        return [CommentId(one["id"]) for one in json.load(response)["results"]]


def _await_verdicts(ids: Sequence[CommentId], services: Services) -> list[Verdict]:
    verdicts: list[Verdict] = []
    deadline = time.monotonic() + 120
    with output.progress_bar("Judged comments", len(ids)) as bar:
        for comment_id in ids:
            while (verdict := services.cases.get(comment_id).verdict) is None:
                if time.monotonic() > deadline:
                    msg = "some comments are still not judged; `/readyz` says which part is away"
                    raise click.ClickException(msg)
                time.sleep(0.3)
            verdicts.append(verdict)
            bar.update(1)
    return verdicts


def _request_of(row: Row) -> dict[str, object]:
    """Return the fields that a site would send: never the label or anything derived from it."""
    return {
        "site_comment_id": row["id"],
        "text": row["text"],
        "post": {
            "url": f"https://blog.example/{row['post_id']}",
            "title": row["post_title"],
            "excerpt": row["post_excerpt"],
        },
        "author": {name: row[f"author_{name}"] for name in ("name", "email", "url")},
        "address": row["user_ip"],
        "language": row["lang"],
    }


def _show(
    rows: Sequence[Row], verdicts: Sequence[Verdict], *, seconds: float, base_url: str
) -> None:
    click.secho("Some of the verdicts", bold=True)
    judged = list(zip(rows, verdicts, strict=True))
    for outcome, colour in _COLOURS.items():
        chosen = [one for one in judged if one[1].outcome is outcome]
        for row, verdict in chosen[:5]:
            styled = click.style(f"{outcome:<6}", fg=colour)
            text = output.one_line(row["text"])
            text = text if len(text) <= _TEXT_SHOWN else f"{text[: _TEXT_SHOWN - 1]}…"
            click.echo(f"{styled} {verdict.p_spam:.3f}  {text}\n{'':14}{_reason(verdict)}")
    counted = Counter((row["label"], verdict.outcome) for row, verdict in judged)
    click.secho("\nLabels against verdicts", bold=True)
    output.print_rows(
        [
            {"label": label, **{outcome: counted[label, outcome] for outcome in Outcome}}
            for label in ("ham", "spam")
        ]
    )
    degraded = sum(verdict.degraded for verdict in verdicts)
    click.echo(f"{len(verdicts)} comments judged in {seconds:.1f} s, {degraded} degraded.")
    click.echo(_ABOUT_THE_CORPUS)
    click.echo(f"Now look at {base_url}/review (the unsure ones) and {base_url}/docs (the API).")


def _reason(verdict: Verdict) -> str:
    """Return the weightiest signal's reason, or that of the words alone."""
    towards_spam = [one for one in verdict.signals if one.contribution > 0]
    if towards_spam and verdict.outcome is not Outcome.HAM:
        return towards_spam[0].signal.reason
    if verdict.model_p_spam is None:
        return "the classifier did not answer"
    return f"the words alone give {verdict.model_p_spam:.1%}"
