"""At least three comments that each detector fires on, and three on which it is silent."""

from __future__ import annotations

from collections.abc import Mapping

from tests.contract.detector_examples import (
    author,
    form,
    history,
    links,
    seam,
    words,
    writing,
)
from tests.contract.detector_examples.example import Examples

EXAMPLES: Mapping[str, Examples] = {
    name: examples
    for family in (links, author, words, writing, seam, form, history)
    for name, examples in family.EXAMPLES.items()
}
