"""What is kept of a visitor's form, read out of database and Valkey as they stand."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
import redis
import sqlalchemy as sa
from altcha import Challenge, solve_challenge

from service.domain.comment import CommentId
from service.domain.inbound import Platform
from service.domain.site import Site, SiteSettings
from service.moderation.judging.judge import judge_batch
from service.moderation.privacy.erase import erase_person, export_person, find_person
from service.stores.migrations import migrate
from service.stores.sql import create_engine, sql_stores
from service.stores.sql.schema.tables import comments
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.spent_tokens import ValkeySpentTokens
from service.web.app import create_app
from tests.factories import NOW, SITE
from tests.fakes import make_services, with_ports
from tests.functional.webhooks.conftest import add_hook
from tests.servers import running_valkey

PAGE = "https://blog.example/radiators/"
OWN = {"Origin": "https://blog.example"}
EMAIL = "mara@zebrafish.example"
# No other number of the run is like these.
KEYS, POINTER = 48_271, 59_363
FORM_COLUMNS = {
    "form_seconds_on_page",
    "form_honeypot_filled",
    "form_behaviour",
    "form_token",
}


@pytest.fixture
def engine(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'form.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def kept():
    """Give a Valkey of this test alone, to be read whole."""
    with running_valkey() as server, redis.Redis.from_url(server.url) as client:
        yield server.url, client


@pytest.fixture
def services(engine, kept):
    url, _ = kept
    stores = sql_stores(engine)
    of_sql = {f.name: getattr(stores, f.name) for f in fields(stores)}
    history, spent = ValkeyHistoryStore(url), ValkeySpentTokens(url)
    history.mark_filled()
    of_valkey = {"history": history, "spent_tokens": spent}
    services = with_ports(make_services(judges=False), **of_sql, **of_valkey)
    services.common.sites.add(Site(id=SITE, name="Radiator blog", created_at=NOW))
    services.common.sites.change_settings(
        SITE, lambda _: SiteSettings(blog="https://blog.example/")
    )
    yield services
    history.close()
    spent.close()


@pytest.fixture
def sent(services, config):
    """Send a comment with everything that a form can tell; give its hidden field."""
    client = create_app(services, config, {}).test_client()
    hook = add_hook(services, Platform.STATIC_FORM, secret="")
    challenge = client.get(f"/public/{hook}/form-token?page={PAGE}", headers=OWN).get_json()
    members = {
        "challenge": challenge,
        "solution": {"derivedKey": solve_challenge(Challenge.from_dict(challenge)).derived_key},
        "behaviour": {"keys": KEYS, "pointer": POINTER, "driven": False, "rhythm": [91, 120, 88]},
    }
    form = {
        "text": "My zebrafish likes a warm radiator.",
        "name": "Mara Zebrafish",
        "email": EMAIL,
        "post_url": PAGE,
        "homepage": "filled by her browser",
        "slopsieve_form": base64.b64encode(json.dumps(members).encode()).decode(),
    }
    assert client.post(f"/hooks/{hook}", data=form, headers=OWN).status_code == 202
    person = find_person(services.reputation, email=EMAIL)
    [row] = [one for one in export_person(person, services) if one["kind"] == "comment"]
    judge_batch([CommentId(row["comment"]["id"])], services)
    return form["slopsieve_form"]


def in_database(engine) -> str:
    """Return every value of every table."""
    with engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        return "\n".join(
            repr(tuple(row))
            for table in tables
            for row in connection.execute(sa.text(f'SELECT * FROM "{table}"'))  # noqa: S608  # its own tables
        )


def in_valkey(client) -> dict[str, tuple[str, int]]:
    """Return every key with its value and the seconds it has to live."""
    found = {}
    for key in client.scan_iter():
        value = client.get(key) if client.type(key) == b"string" else client.dump(key)
        found[key.decode()] = (repr(value), client.ttl(key))
    return found


def of_forms(client) -> dict[str, tuple[str, int]]:
    return {key: one for key, one in in_valkey(client).items() if ":form:" in key}


def test_a_forms_counts_lie_in_its_comments_row_and_nowhere_else(sent, engine, kept):
    _, client = kept
    with engine.connect() as connection:
        row = dict(connection.execute(sa.select(comments)).mappings().one())

    assert row["form_behaviour"] == {
        "seconds": 0.0,
        "keys": KEYS,
        "pointer": POINTER,
        "driven": False,
    }
    assert (row["form_honeypot_filled"], row["form_token"]) == (True, "valid")
    assert in_database(engine).count(str(KEYS)) == 1
    assert not re.search(f"{KEYS}|{POINTER}", repr(in_valkey(client)))
    everything = in_database(engine) + repr(in_valkey(client))
    for never in (sent, "rhythm", "filled by her browser", "derivedKey", "nonce"):
        assert never not in everything


def test_valkey_keeps_two_digests_of_a_token_for_a_day_and_names_nobody(sent, engine, kept):
    _, client = kept

    forms = of_forms(client)

    [token] = [key for key in forms if ":token:" in key]
    assert forms.keys() == {token, f"slopsieve:form:site:{SITE}"}
    assert re.fullmatch(r"slopsieve:form:token:[0-9a-f]{32}", token)
    use, seconds = forms[token]
    assert re.fullmatch(r"b'[0-9a-f]{32}'", use)
    assert 0 < seconds <= 86_400
    assert 0 < forms[f"slopsieve:form:site:{SITE}"][1] <= 7 * 86_400
    # Nothing in the database leads to them, nor they to anything there.
    rows = in_database(engine)
    assert token.rpartition(":")[2] not in rows
    assert use.strip("b'") not in rows


def test_all_of_it_leaves_with_a_persons_data(sent, services):
    [row] = [
        one
        for one in export_person(find_person(services.reputation, email=EMAIL), services)
        if one["kind"] == "comment"
    ]

    form = row["comment"]["form"]
    assert (form["behaviour"]["keys"], form["token"], form["honeypot_filled"]) == (
        KEYS,
        "valid",
        True,
    )


def test_erasing_the_person_empties_it(sent, services, engine, kept):
    _, client = kept

    erased = erase_person(find_person(services.reputation, email=EMAIL), services, by="test")

    assert erased == 1
    with engine.connect() as connection:
        row = dict(connection.execute(sa.select(comments)).mappings().one())
    assert {row[name] for name in FORM_COLUMNS} == {None}
    everything = in_database(engine) + repr(in_valkey(client))
    for gone in (str(KEYS), str(POINTER), "zebrafish", "Zebrafish"):
        assert gone not in everything


def test_the_table_of_what_is_kept_has_every_column_and_key():
    table = (Path(__file__).parents[3] / "service" / "PRIVACY.md").read_text()

    columns = {c.name for c in comments.columns if c.name.startswith("form_")}

    assert columns == FORM_COLUMNS
    for named in (*columns, "slopsieve:form:token:", "slopsieve:form:site:"):
        assert f"`{named}" in table
