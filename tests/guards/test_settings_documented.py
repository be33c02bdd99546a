"""Every setting stands in `.env.example` with its true default."""

from __future__ import annotations

import re
from pathlib import Path

from service.settings import ENV_PREFIX, Settings

EXAMPLE = Path(__file__).resolve().parents[2] / ".env.example"


def _documented() -> dict[str, str]:
    lines = EXAMPLE.read_text().splitlines()
    pairs = [re.fullmatch(rf"#({ENV_PREFIX}\w+)=(.*)", line) for line in lines]
    return {pair[1]: pair[2] for pair in pairs if pair}


def test_every_setting_is_in_the_example_environment():
    documented = _documented()

    assert set(documented) == {f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_every_documented_default_is_the_true_one():
    documented = _documented()

    for name, field in Settings.model_fields.items():
        given = field.get_default(call_default_factory=True)
        default = "" if given is None else str(given)
        if isinstance(given, bool):
            default = default.lower()
        if isinstance(given, tuple):
            default = ",".join(str(item) for item in given)
        assert documented[f"{ENV_PREFIX}{name.upper()}"] == default
