"""Every setting stands in `.env.example` with its true default."""

from __future__ import annotations

import re
from pathlib import Path

from service.settings import ENV_PREFIX, Settings

EXAMPLE = Path(__file__).resolve().parents[2] / ".env.example"


def test_every_setting_is_in_the_example_environment_with_its_true_default():
    lines = EXAMPLE.read_text().splitlines()
    pairs = [re.fullmatch(rf"#({ENV_PREFIX}\w+)=(.*)", line) for line in lines]
    true = {}
    for name, field in Settings.model_fields.items():
        given = field.get_default(call_default_factory=True)
        default = "" if given is None else str(given)
        default = default.lower() if isinstance(given, bool) else default
        if isinstance(given, tuple):
            default = ",".join(str(item) for item in given)
        true[f"{ENV_PREFIX}{name.upper()}"] = default

    assert {pair[1]: pair[2] for pair in pairs if pair} == true
