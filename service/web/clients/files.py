"""Where the clients lie, by the language they are written in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).parent
PYTHON = _HERE / "slopsieve_client.py"
JAVASCRIPT = _HERE / "slopsieve-client.mjs"
TEMPLATES: Mapping[Path, str] = {
    PYTHON: "slopsieve_client.py.j2",
    JAVASCRIPT: "slopsieve-client.mjs.j2",
}
"""What each client is written from, beside the OpenAPI document."""
