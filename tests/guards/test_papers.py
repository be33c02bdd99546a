"""Guards over the papers: links, paths and commands that exist, figures of the shipped version."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from service.cli import cli as main_group

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ROOT / "models" / "artifacts"

_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://)([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_SPAN = re.compile(r"`[^`]+`|^ {4}[^\n]*", re.MULTILINE)
_CALL = re.compile(r"(?<!-n )\bslopsieve ([a-z](?:\\\n|[^\n`#|;])*)")
# Of a path in backticks only what names one file or folder: no pattern, no placeholder.
_PATH = re.compile(r"`((?:service|models|training|data|docker|tests)/[\w./-]+)`")


def _papers() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    # The cards of versions are written by training and stay as they were.
    return [path for path in tracked if not path.is_relative_to(VERSIONS)]


def _prose(path: Path) -> str:
    return _FENCE.sub("", path.read_text("utf-8"))


def _anchors(path: Path) -> set[str]:
    """Return the anchors of its headings, as forges make them of Markdown."""
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in _HEADING.findall(_prose(path)))
    return {title.strip().replace(" ", "-") for title in kept}


def test_every_link_of_the_papers_leads_somewhere():
    astray = []
    for paper in _papers():
        for link in _LINK.findall(_prose(paper)):
            place, _, anchor = link.partition("#")
            target = (paper.parent / place).resolve() if place else paper
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                astray.append((paper.relative_to(ROOT), link))

    assert astray == []


def test_every_path_in_the_papers_is_there():
    astray = [
        (paper.relative_to(ROOT), path)
        for paper in _papers()
        for path in _PATH.findall(_prose(paper))
        if not (ROOT / path).exists()
    ]

    assert astray == []


def _calls(text: str) -> list[str]:
    spans = (" ".join(span.split()) for span in _SPAN.findall(_FENCE.sub("", text)))
    return [call for code in (*_FENCE.findall(text), *spans) for call in _CALL.findall(code)]


def test_every_command_of_the_papers_has_the_options_that_it_needs_and_no_others():
    papers = [paper for paper in _papers() if paper.name != "CHANGELOG.md"]
    called = [(one.name, call) for one in papers for call in _calls(one.read_text("utf-8"))]
    wrong = []
    for paper, call in called:
        group, name = [*call.split(), ""][:2]
        command: Any = main_group.get_command(click.Context(main_group), group)
        if isinstance(command, click.Group) and name:
            command = command.commands.get(name)
        options = [one for one in getattr(command, "params", ()) if isinstance(one, click.Option)]
        known = {name for one in options for name in (*one.opts, *one.secondary_opts)}
        given = set(re.findall(r"--[a-z][\w-]*", call)) - {"--help"}
        lacks = [one for one in options if one.required and not given & set(one.opts)]
        if not command or given - known or lacks:
            wrong.append((paper, call))

    assert len(called) > 130
    assert wrong == []


def _percent(hits: int, count: int) -> str:
    return f"{100 * hits / count:.0f}"


def _recalls(row: dict[str, dict[str, dict[str, int]]]) -> str:
    rates = [row["recall"][rate] for rate in ("0.001", "0.005", "0.01")]
    return ", ".join(_percent(found["hits"], found["count"]) for found in rates)


@pytest.fixture(scope="module")
def card():
    version = (VERSIONS / "CURRENT").read_text("utf-8").strip()
    return json.loads((VERSIONS / version / "card.json").read_text("utf-8"))


def test_the_readme_states_the_figures_of_the_version_that_is_shipped(card):
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    rows = {row["way"]: row for row in card["evidence_table"] if row["source"] == "blogs alone"}
    ours, filter_of_words = rows["all evidence"], rows["TF-IDF"]
    ham, spam, unsure = (ours[key] for key in ("ham_called_spam", "spam_called_ham", "unsure"))
    kept, missed = (card["cutoffs"][key] for key in ("ham_called_spam", "spam_called_ham"))
    slices = card["parts"]["out of fold"]["hard_slices"]
    caught = [
        (hard["recall_at_false_positive_rate"]["0.01"]["spam_caught"], hard["n_spam"])
        for hard in (slices["machine-written, from public sources"], slices["authored"])
    ]

    expected = [
        f"(models/artifacts/{card['version']}/card.md)",
        f"{ham['count']:,} ham and {spam['count']:,} spam",
        f"| `{card['version']}` |",
        f"called spam (promised: at most 0.1 %) | {kept['hits']} of {kept['count']:,} |",
        f"called ham (promised: at most 2.5 %) | {missed['hits']} of {missed['count']:,} |",
        f"ARCHITECTURE.md)) | {spam['hits']} of {spam['count']:,} |",
        f"| left to a person | {_percent(unsure['hits'], unsure['count'])} % |",
        f"| {_recalls(ours)} % (a TF-IDF filter: {_recalls(filter_of_words)} %) |",
        f"| {', '.join(f'{_percent(*hard)} % of {hard[1]:,}' for hard in caught)} |",
    ]

    assert [line for line in expected if line not in readme] == []
