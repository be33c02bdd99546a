"""What `slopsieve up` can be called with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """The options of `slopsieve up`; None leaves a setting as the environment has it."""

    host: str | None = None
    port: int | None = None
    data_dir: Path | None = None
    workers: int = 1
    as_json: bool = False
