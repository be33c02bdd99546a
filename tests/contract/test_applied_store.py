"""Holds every store of what was hidden at platforms to its contract."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.applying import Applied
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from tests.factories import SITE

KEY = "github:IC_kwDO7"
HIDDEN = Applied(site_id=SITE, site_comment_id=KEY)


def test_what_is_hidden_comes_back_as_it_was_kept_last(stores):
    stores.applied.put(HIDDEN)
    certain = replace(HIDDEN, certain=True)

    stores.applied.put(certain)

    assert stores.applied.get(SITE, KEY) == certain


def test_of_another_comment_or_site_nothing_is_known(stores):
    stores.applied.put(HIDDEN)

    assert stores.applied.get(SITE, f"{KEY}8") is None
    assert stores.applied.get(SiteId("site-2"), KEY) is None


def test_it_can_be_forgotten_more_than_once(stores):
    stores.applied.put(HIDDEN)

    for _ in range(2):
        stores.applied.remove(SITE, KEY)

    assert stores.applied.get(SITE, KEY) is None


def test_of_an_unknown_site_nothing_is_kept(stores):
    with pytest.raises(NotFoundError):
        stores.applied.put(replace(HIDDEN, site_id=SiteId("no")))
