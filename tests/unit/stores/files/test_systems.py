"""Autonomous systems from a database in MaxMind's format, which the test writes itself."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from service.start_error import StartError
from service.stores.files.systems import open_systems

_MARKER = b"\xab\xcd\xefMaxMind.com"


def encoded(value: object) -> bytes:
    """Return a value in the format's data section (MaxMind DB specification 2.0)."""
    if isinstance(value, dict):
        pairs = (encoded(key) + encoded(member) for key, member in value.items())
        return bytes([7 << 5 | len(value)]) + b"".join(pairs)
    if isinstance(value, str):
        return bytes([2 << 5 | len(value)]) + value.encode()
    if isinstance(value, list):
        return bytes([len(value), 11 - 7]) + b"".join(map(encoded, value))
    assert isinstance(value, int)
    return bytes([6 << 5 | 4]) + value.to_bytes(4, "big")


def write_systems(path: Path, networks: dict[str, object]) -> None:
    """Write a database of IPv6 networks, as wide as a tree of records of 32 bits can be."""
    data, offsets = b"", []
    for value in networks.values():
        offsets.append(len(data))
        data += encoded(value)
    nodes: list[list[int | None]] = [[None, None]]
    leaves: dict[tuple[int, int], int] = {}
    for written, offset in zip(networks, offsets, strict=True):
        network, at = ipaddress.IPv6Network(written), 0
        bits = f"{int(network.network_address):0128b}"[: network.prefixlen]
        for bit in map(int, bits[:-1]):
            if nodes[at][bit] is None:
                nodes.append([None, None])
                nodes[at][bit] = len(nodes) - 1
            at = nodes[at][bit]
        leaves[at, int(bits[-1])] = offset
    tree = b""
    for number, node in enumerate(nodes):
        for bit, below in enumerate(node):
            leaf = leaves.get((number, bit))
            record = len(nodes) if below is None else below
            record = record if leaf is None else len(nodes) + 16 + leaf
            tree += record.to_bytes(4, "big")
    about = {
        "node_count": len(nodes),
        "record_size": 32,
        "ip_version": 6,
        "binary_format_major_version": 2,
        "binary_format_minor_version": 0,
        "database_type": "Systems",
        "build_epoch": 1,
        "languages": ["en"],
        "description": {"en": "systems"},
    }
    path.write_bytes(tree + bytes(16) + data + _MARKER + encoded(about))


@pytest.fixture
def find_system(tmp_path):
    path = tmp_path / "systems.mmdb"
    networks = {
        "2001:db8::/32": {"autonomous_system_number": 64_500},
        # IPv4 addresses stand in the lowest 32 bits.
        "::192.0.2.0/120": {"autonomous_system_number": 64_501},
        "2001:db9::/32": {"autonomous_system_number": "many"},
        "2001:dba::/32": 64_502,
    }
    write_systems(path, networks)
    return open_systems(path)


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
