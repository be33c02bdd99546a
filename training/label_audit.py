"""Says which comments of the test part carry a label that two readers found wrong.

Nothing is fitted on what they found, and the figures on the labels as they are come first: at few
false positives a handful of spam left among the ham decides what recall reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from training.corrections import TEST_LABEL_AUDIT, read_corrections
from training.dataset import Example

BoolArray = npt.NDArray[np.bool_]


def found_wrong(examples: Sequence[Example]) -> BoolArray:
    """Return of which comments the label was found wrong, by the file of ids and reasons.

    Raise `InvalidInputError` for a file that cannot be read; see `read_corrections`.
    """
    labels = {id_: one.was for id_, one in read_corrections(TEST_LABEL_AUDIT).items()}
    return np.array(
        [labels.get(e.comment.id) == ("spam" if e.is_spam else "ham") for e in examples],
        dtype=np.bool_,
    )
