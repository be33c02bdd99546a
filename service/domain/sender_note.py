"""What a moderator wrote down about a sender, for whoever meets them next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.domain.comment import Sender, SiteId


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderNote:
    """A few words about a sender, told beside their comments at one site.

    `key` is the keyed hash that the sender is recognised by. A removed note says since when and by
    whom, and may be put back.
    """

    id: str
    site_id: SiteId
    key: str
    text: str
    by: str
    at: datetime
    removed_at: datetime | None = None
    removed_by: str | None = None


def note_key(sender: Sender) -> str | None:
    """Return what a sender is best recognised by: e-mail, else address, else name; None for none.

    Many share a name, so it comes last.
    """
    return sender.email_key or sender.address_key or sender.name_key


def note_keys(sender: Sender) -> tuple[str, ...]:
    """Return every key by which a note may be about this sender, those before a rotation too."""
    known = (sender, sender.before_rotation or Sender())
    found = (key for one in known for key in (one.email_key, one.address_key, one.name_key))
    return tuple(dict.fromkeys(key for key in found if key))
