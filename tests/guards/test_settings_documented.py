"""Every setting stands in `.env.example` with its true default."""

import re
from pathlib import Path

from service import ENV_PREFIX
from service.settings import Settings

EXAMPLE = Path(__file__).resolve().parents[2] / ".env.example"


def test_every_setting_is_in_the_example_environment_with_its_true_default():
    documented = re.findall(rf"^#({ENV_PREFIX}\w+)=(.*)$", EXAMPLE.read_text(), re.MULTILINE)
    true = {}
    for name, field in Settings.model_fields.items():
        given = field.get_default(call_default_factory=True)
        items = given if isinstance(given, tuple) else () if given is None else (given,)
        words = (str(one).lower() if isinstance(one, bool) else str(one) for one in items)
        true[f"{ENV_PREFIX}{name.upper()}"] = ",".join(words)

    assert dict(documented) == true
