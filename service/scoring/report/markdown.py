"""Writes an evaluation as Markdown, by the template `report.md.j2`, and as JSON."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.scoring.period import MIN_COUNT, Share
from service.scoring.report.measuring import FALSE_POSITIVE_RATES, Measurements
from service.scoring.report.spans import BoundaryTally, SpanTally
from service.scoring.weights import Cutoffs

# Longer lists are read by nobody; the JSON report holds them whole.
MAX_LISTED = 100
NO_FIGURE = "—"
# The last three would let an address become a live link.
_MARKUP = frozenset("\\`*_[]<>|#&!~:.@")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """One file that was evaluated. `n_broken` lines were reported and left out.

    `trained_on` says that the version has learnt from this very file.
    """

    name: str
    sha256: str
    trained_on: bool
    n_comments: int
    n_broken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    model_version: str
    cutoffs: Cutoffs
    made_at: datetime
    files: tuple[FileSummary, ...]
    measurements: Measurements
    spans: tuple[SpanTally, ...]
    boundaries: tuple[BoundaryTally, ...]


def evaluation_to_json(evaluation: Evaluation) -> dict[str, object]:
    """Return all results; a missing figure is None."""
    return {
        "model_version": evaluation.model_version,
        "made_at": evaluation.made_at.isoformat(timespec="seconds"),
        "cutoffs": asdict(evaluation.cutoffs),
        "files": [asdict(file) for file in evaluation.files],
        **asdict(evaluation.measurements),
        "spans": [{**asdict(tally), "token_f1": tally.f1} for tally in evaluation.spans],
        "boundaries": [asdict(tally) for tally in evaluation.boundaries],
    }


def render_markdown(evaluation: Evaluation) -> str:
    """Return the report as Markdown; every table has a row of what it counts."""
    # Not as HTML: its escapes are none in Markdown, and `cell` and `code` make text harmless.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters |= {
        "area": lambda a: f"{a.auc:.4f} [{a.low:.4f}, {a.high:.4f}]" if a else NO_FIGURE,
        "cell": _cell,
        "code": _code,
        "count": "{:,}".format,
        "count_of": _count_of,
        "counted": lambda n, noun: f"{n:,} {noun}{'' if n == 1 else 's'}",
        "decimals": lambda n, places: NO_FIGURE if n is None else f"{n:.{places}f}",
        "found_on": lambda s: f"{s.count:,} ({_percent(s)})" if s.n else NO_FIGURE,
        "full_share": lambda share: f"{_with_interval(share)}, {_count_of(share)}",
        "percent": _percent,
        "total": lambda counts: sum(counts.values()),
        "with_interval": _with_interval,
    }
    return environment.get_template("report.md.j2").render(
        evaluation=evaluation,
        rates=FALSE_POSITIVE_RATES,
        min_count=MIN_COUNT,
        most_listed=MAX_LISTED,
    )


def _cell(text: str) -> str:
    """Return text from a data file as one harmless table cell."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return "".join(f"\\{c}" if c in _MARKUP else c for c in printable)


def _code(text: str) -> str:
    """Return text from a data file so that it can stand between back-ticks in a table."""
    return "".join(c if c.isprintable() and c not in "`|" else "?" for c in text)[:200]


def _percent(share: Share | float | None, n: int = 1) -> str:
    """Return a share, or a count of `n`, in percent; a dash for none and without `n`."""
    part = share.share if isinstance(share, Share) else share
    if part is None or not n:
        return NO_FIGURE
    part /= n
    # Near the ends one more digit, so that no rare mistake reads as none.
    return f"{part * 100:.2f} %" if 0 < part < 0.02 or 0.98 < part < 1 else f"{part * 100:.1f} %"


def _with_interval(share: Share) -> str:
    if share.share is None or share.low is None or share.high is None:
        return NO_FIGURE
    return f"{share.share * 100:.2f} % [{share.low * 100:.2f}, {share.high * 100:.2f}]"


def _count_of(share: Share) -> str:
    return f"{share.count:,} of {share.n:,}"
