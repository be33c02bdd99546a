"""Autonomous systems from a database in MaxMind's format; its package reads the file."""

import ipaddress

import maxminddb
import pytest

from service.start_error import StartError
from service.stores.files.systems import open_systems

NETWORKS = {
    "2001:db8::/32": {"autonomous_system_number": 64_500},
    "192.0.2.0/24": {"autonomous_system_number": 64_501},
    "2001:db9::/32": {"autonomous_system_number": "many"},
    "2001:dba::/32": 64_502,
}


class Reader:
    """Finds what NETWORKS say of an address; see `maxminddb.Reader`."""

    def get(self, address):
        found = (said for one, said in NETWORKS.items() if address in ipaddress.ip_network(one))
        return next(found, None)


@pytest.fixture
def find_system(tmp_path, monkeypatch):
    monkeypatch.setattr(maxminddb, "open_database", lambda *_: Reader())
    return open_systems(tmp_path / "systems.mmdb")


@pytest.mark.parametrize(
    ("address", "number"),
    [
        ("2001:db8::7", 64_500),
        ("192.0.2.9", 64_501),
        ("::ffff:192.0.2.9", 64_501),
        ("198.51.100.1", None),
        ("2001:db9::1", None),
        ("2001:dba::1", None),
    ],
)
def test_an_address_leads_to_the_number_of_its_system(find_system, address, number):
    assert find_system(address) == number


@pytest.mark.parametrize("content", [None, b"", b"not a database"])
def test_a_file_that_is_no_database_stops_the_start_with_one_line(tmp_path, content):
    path = tmp_path / "systems.mmdb"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(StartError, match="SLOPSIEVE_SYSTEMS_FILE"):
        open_systems(path)
