"""Sees a sender of whom far more comments were just seen than people write."""

from __future__ import annotations

from typing import Any

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import excess, is_regular

# A heated discussion: a person answers every few minutes for an hour, and goes on all day.
_PERSON_HOUR, _PERSON_DAY = 10, 40
# An office, a class or a carrier puts many people behind one address; it may say half as much.
_ADDRESS_HOUR, _ADDRESS_DAY = 15, 60
_ADDRESS_SAYS = 0.5


def sender_burst(_comment: Comment, history: History) -> Signal | None:
    """Fire on an e-mail address or an address that sends more than people do.

    Silent for a regular, whose earlier comments moderators approved.
    """
    if is_regular(history):
        return None
    person, address = history.email.everywhere, history.address.everywhere
    strength, where, seen, during = max(
        (excess(person.seen_hour, _PERSON_HOUR), "e-mail address", person.seen_hour, "an hour"),
        (excess(person.seen_day, _PERSON_DAY), "e-mail address", person.seen_day, "a day"),
        (
            _ADDRESS_SAYS * excess(address.seen_hour, _ADDRESS_HOUR),
            "address",
            address.seen_hour,
            "an hour",
        ),
        (
            _ADDRESS_SAYS * excess(address.seen_day, _ADDRESS_DAY),
            "address",
            address.seen_day,
            "a day",
        ),
    )
    if strength <= 0.0:
        return None
    return Signal(
        name="sender_burst",
        strength=strength,
        reason=f"came with {seen} others from the same {where} within {during}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, hour: int = 0, day: int = 0, approved: float = 0.0) -> Example:
    record = Record(seen_hour=hour, seen_day=day, approved=approved)
    told: dict[str, Any] = {key: TrackRecord(everywhere=record)}
    return Example(text=_TEXT, history=History(**told))


SENDER_BURST = Detector(
    name="sender_burst",
    detect=sender_burst,
    fires_on=(
        _example("email", hour=12, day=12),
        _example("email", hour=3, day=60),
        _example("address", hour=90, day=90),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("email", hour=8, day=20),
        _example("email", hour=12, day=12, approved=9),
        # A class writes its comments in one lesson.
        _example("address", hour=14, day=14),
        _example("content", hour=90, day=90),
    ),
)
