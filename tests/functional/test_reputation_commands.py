"""The commands about reputation lists, as an operator types them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from service.cli import cli, main
from service.domain.comment import Lane
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, NotFoundError
from service.moderation.intake.senders import with_sender
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.wiring import open_services
from tests.factories import make_comment, make_verdict
from tests.fakes import make_site

NOW = datetime.now(UTC)


@pytest.fixture
def run(tmp_path):
    """Run a command on a data folder of its own; return its output, or its JSON lines."""

    def run(*words: str, given: bytes | None = None):
        done = CliRunner().invoke(cli, [*words, "--data-dir", str(tmp_path)], input=given)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if "--json" in words:
            return [json.loads(line) for line in done.stdout.splitlines()]
        return done.output

    return run


def listings(tmp_path, address: str):
    with open_services(data_dir=str(tmp_path)) as services:
        comment = make_comment(received_at=NOW)
        return with_sender(
            comment, address=address, email=None, reputation=services.reputation
        ).sender.listings


def test_an_imported_list_is_looked_up_at_intake(run, tmp_path):
    words = ("import", "-", "--name", "abuse", "--kind", "networks", "--source", "a friend")

    told = run("reputation", *words, given=b"192.0.2.0/24\n198.51.100.7\n")

    (row,) = run("reputation", "lists", "--json")
    (listing,) = listings(tmp_path, "192.0.2.9")
    assert "2 entries" in told
    assert (row["name"], row["entries"], row["state"]) == ("abuse", 2, "fresh")
    assert row["source"] == "a friend"
    assert (listing.list_name, listing.age_days) == ("abuse", 0.0)


def test_a_gzipped_list_is_unpacked(run, tmp_path):
    packed = tmp_path / "abuse.ipset.gz"
    packed.write_bytes(gzip.compress(b"192.0.2.1\n"))

    run("reputation", "import", str(packed), "--name", "abuse", "--kind", "networks")

    assert listings(tmp_path, "192.0.2.1")


def test_an_old_list_is_imported_and_said_to_be_expired(run, tmp_path):
    words = ("import", "-", "--name", "abuse", "--kind", "networks", "--date", "2020-01-31")

    told = run("reputation", *words, given=b"192.0.2.1\n")

    assert "The list is expired" in told
    assert "expired" in run("reputation", "lists")
    assert listings(tmp_path, "192.0.2.1") == ()


def test_a_longer_expiry_keeps_an_old_list(run, tmp_path):
    words = ("import", "-", "--name", "tor", "--kind", "networks", "--date", "2020-01-31")

    told = run("reputation", *words, "--expires-days", "36500", given=b"192.0.2.1\n")

    (listing,) = listings(tmp_path, "192.0.2.1")
    assert "The list is stale" in told
    assert listing.age_days > 2_000


def test_wrong_lines_are_told_by_number(run):
    words = ("import", "-", "--name", "abuse", "--kind", "networks")

    told = run("reputation", *words, given=b"192.0.2.1\n<b>\n192.0.2.2\n")

    assert "1 lines were wrong" in told
    assert "line 2: it is no IP address" in told
    assert "<b>" not in told


def test_a_refused_file_leaves_the_earlier_list_in_place(run, tmp_path):
    words = ("reputation", "import", "-", "--name", "abuse", "--kind", "networks")
    run(*words, given=b"192.0.2.1\n")

    with pytest.raises(InvalidInputError, match="wrong lines"):
        run(*words, given=b"<html>\nnot found\n")

    assert listings(tmp_path, "192.0.2.1")


def test_everything_wrong_with_the_options_is_named_at_once(run):
    words = ("--name", "../x", "--kind", "networks", "--date", "soon", "--source", "\x1b[2J")

    with pytest.raises(InvalidInputError) as caught:
        run("reputation", "import", "-", *words, given=b"192.0.2.1\n")

    assert [problem.field for problem in caught.value.problems] == ["name", "--date", "--source"]


@pytest.mark.parametrize("date", ["9999-12-31", "2999-01-01T00:00:00+00:00"])
def test_a_list_of_the_future_is_refused(run, date):
    words = ("import", "-", "--name", "abuse", "--kind", "networks", "--date", date)

    with pytest.raises(InvalidInputError, match="lies in the future"):
        run("reputation", *words, "--expires-days", "36500", given=b"192.0.2.1\n")


def test_a_header_that_dates_a_list_in_the_future_does_not_keep_it_young(run, tmp_path):
    words = ("import", "-", "--name", "abuse", "--kind", "networks")

    told = run("reputation", *words, given=b"# Date: 9999-12-31\n192.0.2.1\n")

    assert "9999" not in told
    assert listings(tmp_path, "192.0.2.1")


def test_a_file_that_ends_in_the_middle_is_refused(run, tmp_path):
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"192.0.2.1\n" * 500)[:-9])

    with pytest.raises(InvalidInputError, match="cannot be read"):
        run("reputation", "import", str(cut), "--name", "a", "--kind", "networks")


def test_a_removed_list_is_gone(run, tmp_path):
    run("reputation", "import", "-", "--name", "a", "--kind", "networks", given=b"192.0.2.1\n")

    run("reputation", "remove", "a")

    assert "no lists" in run("reputation", "lists")
    assert listings(tmp_path, "192.0.2.1") == ()
    with pytest.raises(NotFoundError):
        run("reputation", "remove", "a")


def test_a_refusal_is_one_line_each_on_standard_error(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reputation", "remove", "A B", "--data-dir", str(tmp_path)])

    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("name: cannot be a list's name; use ")


def test_senders_are_keyed_as_before_until_a_secret_of_their_own_is_set(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY", "s" * 32)
    with open_services(data_dir=str(tmp_path)) as services:
        present, sites = services.reputation.sender_secrets, services.reputation.sender_secret
    assert present.present == sites
    assert present.before is None

    monkeypatch.setenv("SLOPSIEVE_SENDER_SECRET", "n" * 32)
    monkeypatch.setenv("SLOPSIEVE_SENDER_SECRET_BEFORE", "s" * 32)
    with open_services(data_dir=str(tmp_path)) as services:
        assert services.reputation.sender_secret == sites
        assert services.reputation.sender_secrets.before == present.present
        assert services.reputation.sender_secrets.present != present.present


def test_a_list_starts_by_its_basis_and_shows_its_hits_and_what_decisions_made_of_it(run, tmp_path):
    words = ("import", "-", "--name", "exits", "--kind", "networks", "--basis", "tor")
    run("reputation", *words, given=b"192.0.2.0/24\n")
    (before,) = run("reputation", "lists", "--json")

    with open_services(data_dir=str(tmp_path)) as services:
        services.common.sites.add(make_site())
        for n in range(6):
            comment = make_comment(f"Buy valves, number {n}.", received_at=NOW)
            comment = with_sender(
                comment, address="192.0.2.9", email=None, reputation=services.reputation
            )
            services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
            services.judging.verdicts.add([make_verdict(comment.id)], audit=frozenset())
            if n < 5:
                ruling = Ruling.REJECT if n else Ruling.APPROVE
                decide_comment(comment.id, ruling, services, decided_by="import")
    (after,) = run("reputation", "lists", "--json")

    assert (before["basis"], before["hits"], before["weight_now"]) == ("tor", 0, 0.3)
    assert (after["hits"], after["hits_approved"], after["hits_rejected"]) == (6, 1, 4)
    assert (after["set_weight"], after["learnt_from"]) == (0.3, 5)
    assert 0.3 < after["weight_now"] <= 1.5
