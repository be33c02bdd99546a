"""Names the keys that a person is known by."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.comment import Sender


def personal_keys(sender: Sender) -> Mapping[str, tuple[str, ...]]:
    """Return the keys that are one person's, by their name in `Sender`, older ones too.

    Left out is what others share: network, autonomous system and mail domain.
    """
    named = {
        name: tuple(key for one in sender.generations if (key := getattr(one, name)) is not None)
        for name in ("address_key", "email_key", "name_key")
    }
    return {name: keys for name, keys in named.items() if keys}
