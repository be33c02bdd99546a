"""At least three comments that each detector fires on, and three on which it is silent."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.contract.detector_examples import author, form, history
from tests.contract.detector_examples.example import Example, Examples


def _read(told: list[str | dict[str, Any]]) -> tuple[Example, ...]:
    return tuple(Example(one) if isinstance(one, str) else Example(**one) for one in told)


_TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
EXAMPLES: Mapping[str, Examples] = {
    **{name: Examples(**{key: _read(told[key]) for key in told}) for name, told in _TEXTS.items()},
    **author.EXAMPLES,
    **form.EXAMPLES,
    **history.EXAMPLES,
}
