"""Splits decisions into those that one call can make."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.decision import Decision

MAX_AT_ONCE = 500


def refuse_mixed(decisions: Sequence[Decision]) -> None:
    """Raise `ValueError` for decisions that are no single act, or are too many for one call."""
    if len(decisions) > MAX_AT_ONCE:
        msg = f"at most {MAX_AT_ONCE} decisions can be made in one call, got {len(decisions)}"
        raise ValueError(msg)
    acts = {(one.decided_by, one.decided_at, one.bulk_decision_id, one.ruling) for one in decisions}
    if len(acts) > 1 or len({one.comment_id for one in decisions}) < len(decisions):
        msg = "decisions of one call are one act, with one of a comment"
        raise ValueError(msg)
