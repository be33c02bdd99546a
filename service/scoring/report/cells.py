"""Writes the parts that every report in Markdown is made of: sections, tables, harmless cells."""

from __future__ import annotations

from collections.abc import Sequence

from service.scoring.figures import Share

NO_FIGURE = "—"
# The last three would let an address become a live link.
_MARKUP = frozenset("\\`*_[]<>|#&!~:.@")


def section(title: str, *parts: str) -> str:
    """Return a section of the second level; empty parts are left out."""
    return "\n\n".join([f"## {title}", *(part for part in parts if part)])


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> str:
    """Return a table whose first columns are text; figures stand flush right."""
    if not rows:
        return ""
    marks = ["---"] * text_columns + ["---:"] * (len(header) - text_columns)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, marks, *rows))


def counted(n: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def rate_in_percent(rate: float) -> str:
    """Return a false-positive rate as it was asked for."""
    return f"{rate * 100:g} %"


def percent(share: float | None) -> str:
    """Return a share in percent, a dash for none."""
    if share is None:
        return NO_FIGURE
    # Near the ends one more digit, so that no rare mistake reads as none.
    return (
        f"{share * 100:.2f} %" if 0 < share < 0.02 or 0.98 < share < 1 else f"{share * 100:.1f} %"
    )


def percent_of(share: Share | None) -> str:
    """Return the share alone."""
    return percent(share.share if share else None)


def percent_with_interval(share: Share) -> str:
    """Return the share with its interval."""
    if share.share is None or share.low is None or share.high is None:
        return NO_FIGURE
    return f"{share.share * 100:.2f} % [{share.low * 100:.2f}, {share.high * 100:.2f}]"


def full_share(share: Share) -> str:
    """Return the share with its interval and what it was counted from."""
    return f"{percent_with_interval(share)}, {share.count:,} of {share.n:,}"


def found_on(share: Share) -> str:
    """Return the count, then the share."""
    return f"{share.count:,} ({percent_of(share)})" if share.n else NO_FIGURE


def percent_or_none(count: int, n: int) -> str:
    """Return a share of counts, a dash where there is nothing to count."""
    return percent(count / n) if n else NO_FIGURE


def cell(text: str) -> str:
    """Return text from a data file as one harmless table cell."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return "".join(f"\\{c}" if c in _MARKUP else c for c in printable)


def code(text: str) -> str:
    """Return text from a data file so that it can stand between back-ticks in a table."""
    return "".join(c if c.isprintable() and c not in "`|" else "?" for c in text)[:200]
