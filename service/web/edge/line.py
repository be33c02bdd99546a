"""Keeps a comment in the lane where its verdict comes in time, out of the way of others if not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from service.domain.comment import Lane
from service.ports.comments import Added, AddOutcome, NewComment
from service.web.edge.verdict_waiter import VerdictWaiter

Submit = Callable[[NewComment], Added]
"""Keeps one comment and queues it, together with whatever else comes in at that moment."""

# Nobody holds the line for its verdict, yet somebody has just sent it: it goes with those who wait
# while that keeps none of them waiting.
UNWAITED_SECONDS = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of a comment; `in_time` if it may have its verdict in the time that it has.

    `is_repeat` if it is kept already, so that its verdict may be there whatever the line.
    """

    added: Added
    in_time: bool
    is_repeat: bool


def keep_in_line(new: NewComment, submit: Submit, waiter: VerdictWaiter, *, seconds: float) -> Kept:
    """Keep a comment that may be waited for `seconds`; raises what `submit` raises.

    What cannot be judged until then is kept for the bulk lane: it is told later in any case, and
    those who come after it may still be told in time.
    """
    comment_id = new.comment.id
    in_time = waiter.join(comment_id, new.comment.site_id, seconds=seconds)
    try:
        added = submit(new if in_time else replace(new, lane=Lane.BULK))
    except Exception:
        waiter.leave(comment_id)
        raise
    is_repeat = added.comment_id != comment_id
    if is_repeat or added.outcome is AddOutcome.DELETED:
        waiter.leave(comment_id)
    return Kept(added=added, in_time=in_time, is_repeat=is_repeat)
