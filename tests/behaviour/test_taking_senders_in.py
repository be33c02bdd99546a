"""What intake learns of a sender while it still has the address."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest

from service.domain.comment import Author, ListKind
from service.domain.sender import SenderSecrets
from service.moderation.intake import with_sender
from service.reputation.lists import parse_list
from service.stores.files.reputation_lists import ListFolder
from tests.factories import make_comment
from tests.fakes import make_services
from tests.unit.stores.files.test_reputation_lists import about


@pytest.fixture
def lists(tmp_path):
    """Return a list of addresses and one of domains."""
    folder = ListFolder(tmp_path)
    folder.put(about("abuse"), parse_list(BytesIO(b"192.0.2.7\n"), ListKind.NETWORKS).compiled)
    domains = parse_list(BytesIO(b"shop.com\nloans.com\n"), ListKind.DOMAINS).compiled
    folder.put(about("spammers", ListKind.DOMAINS), domains)
    return folder


def test_the_authors_own_link_is_looked_up_too(lists):
    services = make_services(reputation_lists=lists)
    comment = make_comment("Nice", author=Author(name="Mara", url="http://loans.com/"))

    sent = with_sender(comment, services, address=None, email=None)

    assert [one.list_name for one in sent.sender.listings] == ["spammers"]


def test_the_system_that_announces_the_address_is_kept_as_a_number():
    services = make_services(find_system={"192.0.2.7": 64_500}.get)

    sent = with_sender(make_comment(), services, address="192.0.2.7", email=None)

    assert sent.sender.system == 64_500


def test_while_the_secret_rotates_the_keys_under_the_older_one_are_kept_too():
    services = make_services()
    before = with_sender(make_comment(), services, address="192.0.2.7", email="a@b.example")
    present = services.sender_secrets.present
    rotated = replace(services, sender_secrets=SenderSecrets(present=b"new", before=present))

    after = with_sender(make_comment(), rotated, address="192.0.2.7", email="a@b.example")

    assert after.sender.address_key != before.sender.address_key
    assert after.sender.before_rotation is not None
    assert after.sender.before_rotation.address_key == before.sender.address_key
    assert after.sender.before_rotation.name_key == before.sender.name_key
    assert after.fingerprint() == before.fingerprint()
