"""Tells how people ruled on others of a sender's ring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.campaigns.acts import who_sent
from service.domain.comment import Comment, Sender
from service.domain.history import History
from service.domain.ring import track_record_beside
from service.ports.services import ClustersPorts


def with_rings(
    comments: Sequence[Comment], histories: Sequence[History], clusters: ClustersPorts
) -> list[History]:
    """Return histories that know how other senders of the same ring were ruled on."""
    beside = clusters.rings.rulings_beside({who for one in comments for who in _known(one.sender)})
    if not beside:
        return list(histories)
    found = []
    for comment, history in zip(comments, histories, strict=True):
        rulings = next((beside[who] for who in _known(comment.sender) if who in beside), {})
        found.append(replace(history, ring=track_record_beside(rulings, comment.site_id)))
    return found


def _known(sender: Sender) -> list[str]:
    """Return a sender's key, and the one before a rotation."""
    keys = (who_sent(one) for one in (sender, sender.before_rotation or Sender()))
    return [key for key in keys if key is not None]
