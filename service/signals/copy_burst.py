"""Sees words, or a link's domain, that many other comments just brought, too."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import excess
from service.signals.uncommon_links import uncommon_links

# Who sees no answer presses the button again, and once more.
_COPIES_DAY = 2
# A project's page is passed around when there is news of it; many days have none of the kind.
_LINKS_HOUR, _LINKS_DAY = 5, 12


def copy_burst(comment: Comment, history: History) -> Signal | None:
    """Fire on near-copies, or on links to one domain, that come more often than by chance.

    Domains that readers commonly cite, and the site's own, are left out.
    """
    copies, links = history.content.everywhere, history.domains.everywhere
    found = [(excess(copies.seen_day, _COPIES_DAY), f"{copies.seen_day} near-copies", "a day")]
    if uncommon_links(comment):
        found += [
            (excess(seen, usual), f"{seen} others that link to the same domain", during)
            for seen, usual, during in (
                (links.seen_hour, _LINKS_HOUR, "an hour"),
                (links.seen_day, _LINKS_DAY, "a day"),
            )
        ]
    strength, what, during = max(found)
    if strength <= 0.0:
        return None
    return Signal(name="copy_burst", strength=strength, reason=f"came with {what} within {during}")


_TEXT = "Same here, the third valve was stuck."
_LINKED = "Same here, this helped: https://valves-and-more.example/stuck"


def _copies(day: int) -> History:
    return History(content=TrackRecord(everywhere=Record(seen_hour=day, seen_day=day)))


def _links(hour: int, day: int) -> History:
    return History(domains=TrackRecord(everywhere=Record(seen_hour=hour, seen_day=day)))


COPY_BURST = Detector(
    name="copy_burst",
    detect=copy_burst,
    fires_on=(
        Example(text=_TEXT, history=_copies(3)),
        Example(text=_TEXT, history=_copies(40)),
        Example(text=_LINKED, history=_links(9, 9)),
        Example(text=_LINKED, history=_links(1, 30)),
    ),
    silent_on=(
        Example(text=_TEXT),
        # Sent twice by an impatient hand.
        Example(text=_TEXT, history=_copies(2)),
        Example(text=_LINKED, history=_links(4, 8)),
        Example(text="See https://en.wikipedia.org/wiki/Valve", history=_links(60, 400)),
    ),
)
