"""What lies in the database and in Valkey after a run, and after a person was erased."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

import pytest
import redis
import sqlalchemy as sa

from service.domain.comment import Author, Comment, Lane, Sender
from service.domain.decision import Ruling
from service.moderation.admin.sites import add_site
from service.moderation.intake.senders import with_sender
from service.moderation.intake.submit import submit_comments
from service.moderation.privacy.erase import erase_person, find_person
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.sql.schema.tables import metadata
from service.wiring import open_services
from tests.factories import make_comment
from tests.servers import running_valkey

MARA, NAME, ACCOUNT, ADDRESS = "mara@example.org", "Mara Quill", "acct-1731", "203.0.113.9"
# By the letter that a key in Valkey begins with, after the prefix: days it is kept at most.
KEPT_DAYS = {"seen": 2, "d2": 180, "s": 2, "c": 400, "o": 400, "decision2": 180, "sites": 180}


@pytest.fixture
def valkey_url(monkeypatch):
    """Give a server of its own to the test, and its address to the service."""
    with running_valkey() as server:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", server.url)
        yield server.url


def of_mara(services: Services, site_id: str, text: str, account_id: str | None) -> Comment:
    author = Author(name=NAME, account_id=account_id, account_age_days=40, trust_level=1)
    comment = make_comment(text, site_id=site_id, author=author)
    return with_sender(comment, address=ADDRESS, email=MARA, services=services)


def run(services: Services) -> Comment:
    """Have Mara write with an account and without, be judged by histories, and be approved."""
    site, _ = add_site("Garden", services, actor="test")
    written = [
        of_mara(services, site.id, f"I measured {number} bars at the third valve.", account)
        for number, account in enumerate((ACCOUNT, ACCOUNT, None))
    ]
    submit_comments([NewComment(comment=one, lane=Lane.BULK) for one in written], services)
    services.history.gather(written, now=services.clock())
    for one in written:
        decide_comment(one.id, Ruling.APPROVE, services, decided_by="mod")
    return written[0]


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


def in_database(tmp_path) -> Iterator[str]:
    """Yield every value in every table as text, but for the indexes of the search."""
    engine = sa.create_engine(f"sqlite:///{next(tmp_path.glob('*.db'))}")
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(sa.text(f'SELECT * FROM "{table.name}"')):  # noqa: S608  # names of our own tables
                yield from map(str, row)
    engine.dispose()


def keys_of(sender: Sender) -> set[str]:
    found = (sender.address_key, sender.email_key, sender.name_key, sender.account_key)
    return {key for key in found if key is not None}


def test_what_is_kept_of_an_account_is_keyed_expires_and_is_erased(tmp_path, valkey_url):
    with open_services(data_dir=str(tmp_path)) as services:
        sender = run(services).sender
        kept = in_valkey(valkey_url)
        rows = "\n".join(in_database(tmp_path))

        mara = find_person(services, email=MARA, address=ADDRESS)
        erase_person(mara, services, by="operator")

        left = in_valkey(valkey_url)
        rows_left = "\n".join(in_database(tmp_path))

    words = "\n".join(f"{key} {value}" for key, (value, _) in kept.items())
    for clear in (MARA, NAME, ACCOUNT, ADDRESS):
        assert clear not in words
    assert MARA not in rows
    assert ADDRESS not in rows
    for key, (_, days) in kept.items():
        kind = key.partition("}:")[2].partition(":")[0]
        if kind in KEPT_DAYS:
            assert 0 < days <= KEPT_DAYS[kind], key
    # The ledger itself: one of the account, one of the name with the e-mail.
    assert sum("}:c:account:" in key for key in kept) == 2

    assert len(keys_of(sender)) == 4
    words_left = "\n".join(f"{key} {value}" for key, (value, _) in left.items())
    for keyed in keys_of(sender):
        assert keyed in words
        assert keyed not in words_left
        assert keyed not in rows_left
    assert not any("}:c:" in key or "}:o:" in key for key in left)
    for clear in (NAME, ACCOUNT):
        assert clear not in rows_left
