"""Holds every comment store to finding comments by their sites' own ids."""

from __future__ import annotations

from service.domain.comment import SiteId
from tests.factories import NOW, SITE, keep_all, make_comment

OTHER_SITE = SiteId("site-2")


def keep(stores, **changes):
    comment = make_comment(**changes)
    keep_all(stores.comments, comment)
    return comment.id


def test_comments_are_found_by_the_ids_that_their_site_gave_them(stores):
    first = keep(stores, site_comment_id="w-1")
    second = keep(stores, site_comment_id="w-1@2")
    keep(stores, site_comment_id=None)

    found = stores.comments.find_by_site_ids(SITE, ["w-1", "w-1@2", "w-1@3", "w-1"])

    assert found == {"w-1": first, "w-1@2": second}


def test_another_site_s_equal_id_is_another_comment(stores):
    theirs = keep(stores, site_id=OTHER_SITE, site_comment_id="w-1")

    assert stores.comments.find_by_site_ids(SITE, ["w-1"]) == {}
    assert stores.comments.find_by_site_ids(OTHER_SITE, ["w-1"]) == {"w-1": theirs}


def test_a_withdrawn_comment_is_found_too(stores):
    gone = keep(stores, site_comment_id="w-1")
    stores.comments.withdraw(gone, at=NOW)

    assert stores.comments.find_by_site_ids(SITE, ["w-1"]) == {"w-1": gone}
