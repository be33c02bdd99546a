"""The commands about reputation lists, as an operator types them."""

import gzip
from datetime import UTC, datetime

import pytest

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.moderation.decisions import decide_comment
from service.moderation.intake import with_sender
from service.wiring import open_services
from tests.factories import make_comment
from tests.fakes import make_site
from tests.functional.moderators import keep

NOW = datetime.now(UTC)


def listings(tmp_path, address: str):
    with open_services(data_dir=str(tmp_path)) as services:
        comment = make_comment(received_at=NOW)
        return with_sender(comment, services, address=address, email=None).sender.listings


def test_an_imported_list_is_looked_up_at_intake(run, tmp_path):
    words = ("import", "-", "--name", "abuse", "--kind", "networks", "--source", "a friend")

    told = run("reputation", *words, typed=b"192.0.2.0/24\n198.51.100.7\n")

    (row,) = run("reputation", "lists", "--json")
    (listing,) = listings(tmp_path, "192.0.2.9")
    assert "2 entries" in told
    assert (row["name"], row["entries"], row["state"]) == ("abuse", 2, "fresh")
    assert row["source"] == "a friend"
    assert (listing.list_name, listing.age_days) == ("abuse", 0.0)


def test_an_old_list_is_expired_and_a_refused_file_leaves_the_earlier_list(run, tmp_path):
    words = ("reputation", "import", "-", "--kind", "networks", "--name")
    old = run(*words, "old", "--date", "2020-01-31", typed=b"198.51.100.7\n")
    run(*words, "abuse", typed=b"192.0.2.1\n")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"192.0.2.1\n" * 500)[:-9])

    with pytest.raises(InvalidInputError, match="wrong lines"):
        run(*words, "abuse", typed=b"<html>\nnot found\n")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        run("reputation", "import", str(cut), "--name", "abuse", "--kind", "networks")

    assert "The list is expired" in old
    assert "expired" in run("reputation", "lists")
    assert listings(tmp_path, "198.51.100.7") == ()
    assert listings(tmp_path, "192.0.2.1")


def test_everything_wrong_with_the_options_is_named_at_once(run):
    words = ("--name", "../x", "--kind", "networks", "--date", "2999-01-01", "--source", "\x1b[2J")

    with pytest.raises(InvalidInputError) as caught:
        run("reputation", "import", "-", *words, typed=b"192.0.2.1\n")

    assert [problem.field for problem in caught.value.problems] == ["name", "--date", "--source"]


def test_senders_are_keyed_as_before_until_a_secret_of_their_own_is_set(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY", "s" * 32)
    with open_services(data_dir=str(tmp_path)) as services:
        present, sites = services.sender_secrets, services.sender_secret
    assert present.present == sites
    assert present.before is None

    monkeypatch.setenv("SLOPSIEVE_SENDER_SECRET", "n" * 32)
    monkeypatch.setenv("SLOPSIEVE_SENDER_SECRET_BEFORE", "s" * 32)
    with open_services(data_dir=str(tmp_path)) as services:
        assert services.sender_secret == sites
        assert services.sender_secrets.before == present.present
        assert services.sender_secrets.present != present.present


def test_a_list_starts_by_its_basis_and_shows_its_hits_and_what_decisions_made_of_it(run, tmp_path):
    words = ("import", "-", "--name", "exits", "--kind", "networks", "--basis", "tor")
    run("reputation", *words, typed=b"192.0.2.0/24\n")
    (before,) = run("reputation", "lists", "--json")

    with open_services(data_dir=str(tmp_path)) as services:
        services.sites.add(make_site())
        for n in range(6):
            comment = make_comment(f"Buy valves, number {n}.", received_at=NOW)
            comment = with_sender(comment, services, address="192.0.2.9", email=None)
            keep(services, comment)
            if n < 5:
                ruling = Ruling.REJECT if n else Ruling.APPROVE
                decide_comment(comment.id, ruling, services, decided_by="import")
    (after,) = run("reputation", "lists", "--json")

    assert (before["basis"], before["hits"], before["weight_now"]) == ("tor", 0, 0.3)
    assert (after["hits"], after["hits_approved"], after["hits_rejected"]) == (6, 1, 4)
    assert (after["set_weight"], after["learnt_from"]) == (0.3, 5)
    assert 0.3 < after["weight_now"] <= 1.5
