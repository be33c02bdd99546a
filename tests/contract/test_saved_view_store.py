"""Holds every store of saved views to its contract."""

from __future__ import annotations

from dataclasses import replace

from service.domain.saved_view import SavedView
from tests.factories import NOW


def make_view(view_id="v1", **changes):
    values = {
        "id": view_id,
        "owner_id": "u1",
        "name": "Loans \x00\ud800",
        "query": 'loans "no deposit"',
        "shared": False,
        "created_at": NOW,
    }
    return SavedView(**(values | changes))


def test_a_view_comes_back_as_it_was_kept(stores):
    view = make_view()

    stores.saved_views.put(view)

    assert stores.saved_views.get("v1") == view
    assert stores.saved_views.get("v2") is None


def test_own_and_shared_views_are_listed_by_name(stores):
    own, shared = make_view(), make_view("v2", owner_id="u2", name="A", shared=True)
    for view in (own, shared, make_view("v3", owner_id="u2")):
        stores.saved_views.put(view)

    assert stores.saved_views.visible_to("u1") == [shared, own]


def test_a_view_can_be_replaced_and_removed_and_removed_again(stores):
    stores.saved_views.put(make_view())
    renamed = replace(make_view(), name="Other")

    stores.saved_views.put(renamed)
    kept = stores.saved_views.visible_to("u1")
    stores.saved_views.remove("v1")
    stores.saved_views.remove("v1")

    assert kept == [renamed]
    assert stores.saved_views.visible_to("u1") == []


def test_every_accounts_views_can_be_read(stores):
    views = [make_view("v2", owner_id="u2"), make_view("v1")]
    for view in views:
        stores.saved_views.put(view)

    assert stores.saved_views.all() == views[::-1]
