"""Keeps what others wrote from being computed by a spreadsheet that opens an export."""

from __future__ import annotations

import re

# What a spreadsheet may take for a formula, the full-width signs too (OWASP, "CSV Injection").
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")


def as_text_cell(text: str) -> str:
    """Return the text, after an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
