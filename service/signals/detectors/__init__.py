"""All detectors. A detector that is defined in a family's module is run and tested."""

from service.domain.comment import Comment
from service.domain.sender import History
from service.domain.verdict import Signal
from service.signals.detector import Detector
from service.signals.detectors import author, form, history, links, seam, words, writing

DETECTORS: tuple[Detector, ...] = tuple(
    found
    for family in (links, author, writing, seam, words, form, history)
    for found in vars(family).values()
    if isinstance(found, Detector)
)


def detect_all(
    comment: Comment, history: History, sent: Comment | None = None
) -> tuple[Signal, ...]:
    """Return the signals of all detectors for a comment, in the order of `DETECTORS`.

    Text that nobody sees is looked for in all that was `sent`, a mail's footer included.
    Never raises, whatever the text: each detector is tested on hostile and random texts.
    """
    whole = {words.unseen_text: sent or comment}
    found = (detect(whole.get(detect, comment), history) for detect in DETECTORS)
    return tuple(signal for signal in found if signal is not None)
