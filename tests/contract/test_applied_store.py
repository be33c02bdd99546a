"""Holds every store of what was hidden at platforms to its contract."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import SiteId
from service.domain.delivery import Applied
from service.domain.errors import NotFoundError
from tests.factories import SITE

KEY = "github:IC_kwDO7"
HIDDEN = Applied(site_id=SITE, site_comment_id=KEY)


def test_what_is_hidden_is_known_as_it_was_kept_last_until_it_is_forgotten(stores):
    certain = replace(HIDDEN, certain=True)
    for one in (HIDDEN, certain):
        stores.applied.put(one)
    known = stores.applied.get(SITE, KEY)
    others = [
        stores.applied.get(SITE, f"{KEY}8"),
        stores.applied.get(SiteId("site-2"), KEY),
    ]

    for _ in range(2):
        stores.applied.remove(SITE, KEY)

    assert known == certain
    assert others == [None, None]
    assert stores.applied.get(SITE, KEY) is None


def test_of_an_unknown_site_nothing_is_kept(stores):
    with pytest.raises(NotFoundError):
        stores.applied.put(replace(HIDDEN, site_id=SiteId("no")))
