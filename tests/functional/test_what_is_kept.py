"""What lies in database and Valkey of a visitor after a run, and after the person was erased."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
import redis
import sqlalchemy as sa

from models.inputs import ModelOutput
from service.domain.comment import Author, Comment, FormEvidence, Post, Sender
from service.domain.decision import Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.site import Site
from service.moderation.accounts import add_user
from service.moderation.campaigns import GroupingMemory, group_fresh
from service.moderation.decisions import decide_comment
from service.moderation.erasing import erase_person, export_person, find_person
from service.moderation.intake import issue_token, with_sender, with_token
from service.moderation.judging import judge_batch
from service.moderation.lists import NewEntry, add_entry
from service.moderation.queue import claim_comment
from service.moderation.sites import add_site
from service.ports.services import Services
from service.stores.sql.tables import metadata
from service.wiring import open_services
from tests.factories import make_comment
from tests.fakes import FixedClassifier, make_model, submit_to
from tests.functional.webhooks.test_form_token import encode, solved
from tests.servers import running_valkey

MARA, NAME, ACCOUNT, ADDRESS = "mara@example.org", "Mara Quill", "acct-1731", "203.0.113.9"
# Each of these stands in the run once, where a person wrote or a browser counted it.
WORDS = ("zebrafish", "pangolin")
KEYS, POINTER = 48_271, 59_363
PAGE = "https://blog.example/radiators/"
# By the letter that a key in Valkey begins with, after the prefix: days it is kept at most.
KEPT_DAYS = {"seen": 2, "d2": 180, "s": 2, "c": 400, "o": 400, "decision2": 180, "sites": 180}


@pytest.fixture
def valkey_url(monkeypatch):
    """Give a server of its own to the test, and its address to the service."""
    with running_valkey() as server:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", server.url)
        yield server.url


@pytest.fixture
def services(tmp_path, valkey_url):
    with open_services(data_dir=str(tmp_path)) as opened:
        classifier = FixedClassifier()
        classifier.answer = ModelOutput(p_spam=0.5, embedding=(0.6, 0.8))
        yield replace(opened, current_model=lambda: make_model(classifier))


@pytest.fixture
def sender(services) -> Sender:
    """Have Mara write with an account and without, and everybody do what is done about it."""
    site, _ = add_site("Garden", services, actor="test")
    owner, _ = add_user("Ola", services, actor="test")
    add_user("Bo", services, actor="test", role=owner.role)
    written = [
        of_mara(services, site, f"I measured {number} bars, and my {WORDS[0]} hummed.", account)
        for number, account in enumerate((ACCOUNT, ACCOUNT, None, ACCOUNT, ACCOUNT))
    ]
    submit_to(services, *written)
    judge_batch([one.id for one in written], services)
    services.search.index_due(limit=100)
    group_fresh(services, GroupingMemory("test"), should_continue=lambda: True)
    approved, claimed, *_ = written
    claim_comment(services.cases.get(claimed.id), owner, services)
    note = f"the {WORDS[1]} again"
    decide_comment(approved.id, Ruling.APPROVE, services, decided_by="Ola", note=note)
    known = NewEntry(effect=Effect.ALLOW, kind=EntryKind.EMAIL, value=MARA, reason=f"is {NAME}")
    add_entry(known, services, by="Ola")
    return approved.sender


def of_mara(services: Services, site: Site, text: str, account_id: str | None) -> Comment:
    comment = make_comment(
        text,
        site_id=site.id,
        author=Author(name=NAME, account_id=account_id, account_age_days=40, trust_level=1),
        form=FormEvidence(seconds_on_page=61.0, honeypot_filled=False),
        post=Post(url=PAGE, title="Bleeding"),
        received_at=services.clock(),
    )
    comment = with_sender(comment, services, address=ADDRESS, email=MARA)
    behaviour = {"keys": KEYS, "pointer": POINTER, "driven": False, "rhythm": [91, 120, 88]}
    token = solved(dict(issue_token(site, PAGE, services)), **behaviour)
    return with_token(comment, encode(token), services)


def in_valkey(url: str) -> Mapping[str, tuple[str, float]]:
    """Return every key with its value as text and the days it still lives."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        return {
            key: (_value(client, key), client.ttl(key) / timedelta(days=1).total_seconds())
            for key in client.scan_iter()
        }


def _value(client: redis.Redis, key: str) -> str:
    read = {
        "string": client.get,
        "hash": client.hgetall,
        "set": client.smembers,
        "list": lambda name: client.lrange(name, 0, -1),
        "zset": lambda name: client.zrange(name, 0, -1),
    }
    return str(read[str(client.type(key))](key))


def in_database(tmp_path) -> Mapping[str, str]:
    """Return every value of every table as text, by the table's name."""
    engine = sa.create_engine(f"sqlite:///{next(tmp_path.glob('*.db'))}")
    with engine.connect() as connection:
        found = {
            name: "\n".join(
                str(value)
                for row in connection.execute(sa.text(f'SELECT * FROM "{name}"'))  # noqa: S608  # names of its own tables
                for value in row
            )
            for name in sa.inspect(connection).get_table_names()
        }
    engine.dispose()
    return found


def keys_of(sender: Sender) -> set[str]:
    """Return the keyed hashes that are the person's alone."""
    found = (sender.address_key, sender.email_key, sender.name_key, sender.account_key)
    return {key for key in found if key is not None}


def tells_of_mara(text: str, sender: Sender) -> list[str]:
    """Return the person's data, and the words about them, that a text contains."""
    told = (MARA, NAME, "Quill", "quill", ACCOUNT, ADDRESS, *WORDS, *keys_of(sender))
    counted = (str(KEYS), str(POINTER))
    # As numbers of their own: moments and hashes have the same digits by chance.
    return [one for one in told if one in text] + [
        one for one in counted if re.search(rf"(?<![\w.]){one}(?![\w.])", text)
    ]


def test_of_a_person_keyed_hashes_are_kept_all_are_told_and_all_are_erased(
    services, sender, tmp_path, valkey_url
):
    kept = in_valkey(valkey_url)
    database = in_database(tmp_path)
    words = "\n".join(f"{key} {value}" for key, (value, _) in kept.items())

    assert set(tells_of_mara(words, sender)) == keys_of(sender)
    assert len(keys_of(sender)) == 4
    # What is looked through are all tables there are.
    assert {one.name for one in metadata.sorted_tables} <= database.keys()
    rows = "\n".join(database.values())
    for never in (MARA, ADDRESS, "rhythm", "derivedKey", "nonce"):
        assert never not in rows + words
    for key, (_, days) in kept.items():
        kind = key.partition("}:")[2].partition(":")[0]
        if kind in KEPT_DAYS:
            assert 0 < days <= KEPT_DAYS[kind], key
    # The ledger itself: one of the account, one of the name with the e-mail.
    assert sum("}:c:account:" in key for key in kept) == 2
    # What a form left there: that its token was used, and that the site's forms have some.
    tokens = {key: days for key, (_, days) in kept.items() if ":form:token:" in key}
    assert len(tokens) == 5
    assert 0 < max(tokens.values()) <= 1

    person = find_person(services, email=MARA)
    told = list(export_person(person, services))

    assert [one["kind"] for one in told].count("comment") == 5
    assert {one["kind"] for one in told} == {"comment", "account", "list_entry", "end"}
    assert told[0]["comment"]["form"]["behaviour"]["keys"] == KEYS

    mara = find_person(services, email=MARA, address=ADDRESS, name=NAME)
    assert erase_person(mara, services, by="operator") == 5

    remembered = in_valkey(valkey_url)
    left = in_database(tmp_path) | {key: f"{key} {one}" for key, (one, _) in remembered.items()}
    assert {name: tells_of_mara(text, sender) for name, text in left.items()} == {
        name: [] for name in left
    }
    assert not any("}:c:" in key or "}:o:" in key for key in remembered)
