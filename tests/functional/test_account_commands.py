"""The commands about accounts and personal data: the way out when everything else is lost."""

import json
from datetime import UTC, datetime

import pytest

from service.domain.comment import Author, Sender
from service.domain.decision import Ruling
from service.domain.user import SecondFactor
from service.moderation.decisions import decide_comment
from service.moderation.erasing import find_person
from service.wiring import open_services
from tests.factories import keep_all, make_comment
from tests.servers import running_valkey

MARA, JO = "mara@example.org", "jo@example.org"


@pytest.fixture
def opened(tmp_path):
    """Open the services of that data folder."""
    return lambda: open_services(data_dir=str(tmp_path))


def accounts(run):
    return {row["name"]: row for row in run("users", "list", "--json")}


def test_the_first_account_is_the_owners_and_others_get_role_and_sites(run):
    run("sites", "add", "Garden")
    run("users", "add", "olive")
    run("users", "add", "mara", "--role", "reader", "--site", "Garden")
    seen = [accounts(run)["olive"], accounts(run)["mara"]]
    assert (seen[0]["last_seen_at"], "never" in run("users", "list")) == (None, True)

    for change in (["--role", "moderator"], ["--all-sites"], ["--role", "owner"]):
        run("users", "set", "mara", *change)
        seen.append(accounts(run)["mara"])

    roles = ["owner", "reader", "moderator", "moderator", "owner"]
    assert [row["role"] for row in seen] == roles
    assert [row["sites"] == "all" for row in seen] == [True, False, False, True, True]


def test_a_lost_second_factor_is_turned_off(run, opened):
    run("users", "add", "olive")
    with opened() as services:
        [user] = services.users.all()
        factor = SecondFactor(user_id=user.id, seed="5eed", since=datetime.now(UTC))
        services.second_factors.put(factor, recovery_digests=["a"])
    before = accounts(run)["olive"]["second_factor"]

    run("users", "set", "olive", "--no-second-factor")

    assert (before, accounts(run)["olive"]["second_factor"]) == (True, False)
    assert run("audit", "--json")[0]["act"] == "turn off second factor"


def test_a_person_is_printed_erased_once_the_number_is_typed_or_forgotten(run, opened, monkeypatch):
    [site] = run("sites", "add", "Garden", "--json")
    with opened() as services:
        mara, jo = (find_person(services, email=email).sender for email in (MARA, JO))
        made = [
            make_comment(site_id=site["site_id"], sender=sender, author=Author(name="Mara"))
            for sender in (mara, mara, mara, jo)
        ]
        keep_all(services.comments, *made)
    with running_valkey() as server:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", server.url)
        with opened() as services:
            decide_comment(made[-1].id, Ruling.REJECT, services, decided_by="mod")

        exported = run("erase", "--email", MARA, "--export").splitlines()
        refused = run("erase", "--email", MARA, typed="2\n")
        erased = run("erase", "--email", MARA, typed="3\n")
        nothing_left = run("erase", "--email", MARA, "--yes")
        forgotten = run("reputation", "forget", "--email", JO.upper())
        run("reputation", "rebuild")

        with opened() as services:
            [history] = services.history.gather([make_comment(sender=jo)], now=services.clock())
            left = services.cases.get(made[-1].id).comment.sender
    lines = [json.loads(line) for line in exported]
    assert [line["kind"] for line in lines] == ["comment"] * 3 + ["end"]
    assert lines[0]["comment"]["author"]["name"] == "Mara"
    assert "Nothing was erased." in refused
    assert "Erased; 3 comments" in erased
    assert "No comment matches, and none was erased." in nothing_left
    assert forgotten == "Forgotten; 1 comment lost the keys of their sender.\n"
    assert (history.email.everywhere.rejected, left) == (0, Sender())
    log = json.dumps(run("audit", "--json"))
    assert "forget sender" in log
    assert log.count("erase person") == 1
    assert not any(name in log for name in (MARA, JO))
