"""The order of the review queue: the comment that costs most while it waits comes first."""

from datetime import datetime, timedelta

from service.domain.comment import Label
from service.domain.decision import Action, Mode, choose_action
from service.domain.verdict import Outcome, SecondOpinion

# A comment that certainly stands wrong goes before one that came in this much earlier and certainly
# stands right. Half a day: within a moderator's shift doubt decides, over night age does, so that
# nobody's comment waits for ever behind doubtful ones that keep coming in.
MAX_HEAD_START = timedelta(hours=12)
# What a site's word that a verdict is wrong is worth at least: some clients report whenever any
# reader clicks a flag, so it is no more than a coin's.
_DISPUTED = 0.5


def review_at(
    received_at: datetime,
    *,
    mode: Mode,
    outcome: Outcome | None,
    p_spam: float,
    reported_as: Label | None = None,
    opinion: SecondOpinion | None = None,
) -> datetime:
    """Return the moment by which a waiting comment stands in line: the earliest comes first.

    It is when the comment came in, less a head start of `MAX_HEAD_START` times the probability
    that what its site does with it now is wrong. Of a comment that is held or rejected that is the
    probability of ham, as a sincere person waits; of one that is published it is the probability
    of spam, as an advertisement is on display. Without a verdict there is no head start.
    The `opinion` of a second judge counts as much as the verdict's own probability.
    """
    if outcome is None:
        return received_at
    if opinion is not None:
        p_spam = (p_spam + (opinion.outcome is Outcome.SPAM)) / 2
    is_published = choose_action(mode, outcome, None) is Action.PUBLISH
    p_wrong = p_spam if is_published else 1.0 - p_spam
    if reported_as is not None and reported_as.value != outcome.value:
        p_wrong = max(p_wrong, _DISPUTED)
    return received_at - MAX_HEAD_START * p_wrong
