"""The commands for what is allowed and blocked, as an operator types them."""

from __future__ import annotations


def test_entries_are_added_listed_and_removed(run):
    (site,) = run("sites", "add", "Garden", "--json")
    words = ("lists", "add", "block", "domain", "pills-direct.shop", "--reason", "Sells pills")
    (here,) = run(*words, "--site", "Garden", "--days", "7", "--json")
    (everywhere,) = run(*words, "--json")

    listed = run("lists", "list", "--json")
    said = run("lists", "remove", here["entry_id"])

    assert [row["entry_id"] for row in listed] == [everywhere["entry_id"], here["entry_id"]]
    assert (here["site_id"], everywhere["site_id"]) == (site["site_id"], "all")
    assert here["expires_at"]
    assert everywhere["expires_at"] is None
    assert "is removed" in said
    (left,) = run("lists", "list", "--json")
    (ended,) = run("lists", "list", "--ended", "--json")
    assert (left["entry_id"], ended["entry_id"]) == (everywhere["entry_id"], here["entry_id"])
