"""Reading lists as they are published, files that only look like one, and looking up."""

import ipaddress
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import ListKind
from service.domain.errors import InvalidInputError
from service.domain.text import normal_domain
from service.reputation.lists import MAX_LINE_BYTES, parse_list
from service.reputation.ranges import EntryCollector

IPSET = b"""#
# abuse_7d
#
# ipv4 hash:ip ipset
#
# Source File Date: Mon Jan 24 11:16:31 UTC 2022
# Entries         : 3 unique IPs
#
192.0.2.7
192.0.2.9

198.51.100.0/24
"""
RBLDNSD = b"""$SOA 3600 ns.example.org admin.example.org 0 600 300 86400 300
:127.0.0.2:see the site
192.0.2.7
192.0.2.128/25 :3:
198.51.100.1-198.51.100.9 :127.0.0.4:
"""
OTHERS = b"""\xef\xbb\xbf192.0.2.7 # a remark
192.0.2.8;another
"192.0.2.9","5","2026-01-02"
192.0.2.10\t4
192.0.2.20 - 192.0.2.25
2001:db8::/32
2001:DB9::1
2001:dba::1-2001:dba::5
::ffff:203.0.113.5\r
// nothing
; nothing
"""


def networks(raw: bytes):
    return parse_list(BytesIO(raw), ListKind.NETWORKS)


def holds(parsed, address: str) -> bool:
    given_ = ipaddress.ip_address(address)
    return parsed.compiled.holds(given_.version, int(given_))


@pytest.mark.parametrize(
    ("raw", "entries", "held", "not_held"),
    [
        (IPSET, 3, ("192.0.2.9", "198.51.100.255"), "192.0.2.8"),
        (RBLDNSD, 3, ("192.0.2.7", "192.0.2.200", "198.51.100.5"), "198.51.100.10"),
        (
            OTHERS,
            9,
            (
                *(f"192.0.2.{n}" for n in (7, 8, 9, 10, 20, 25)),
                *("2001:db8:ffff::", "2001:db9::1", "2001:dba::3", "203.0.113.5"),
            ),
            "2001:dba::6",
        ),
    ],
    ids=["ipset", "rbldnsd", "others"],
)
def test_a_list_is_read_however_it_is_published(raw, entries, held, not_held):
    parsed = networks(raw)

    assert (parsed.entries, parsed.wrong) == (entries, 0)
    assert all(holds(parsed, address) for address in held)
    assert not holds(parsed, not_held)
    if raw is IPSET:
        assert parsed.dated == datetime(2022, 1, 24, 11, 16, 31, tzinfo=UTC)


def test_wrong_lines_are_counted_and_the_first_named_without_their_content():
    wrong = b"256.1.1.1\n1.2.3.4/33\n1.2.3\n01.2.3.4\n0.0.0.0/0\n9.9.9.9-1.1.1.1\n!1.2.3.4\n"
    right = b"".join(b"192.0.2.%d\n" % n for n in range(10))

    parsed = networks(right + wrong)

    assert (parsed.entries, parsed.wrong) == (10, 7)
    assert [line.number for line in parsed.first_wrong] == [11, 12, 13, 14, 15]
    assert all("1.2.3" not in line.problem for line in parsed.first_wrong)


@pytest.mark.parametrize(
    ("raw", "kind", "named"),
    [
        (b"<script>alert(1)</script>\n<p>not found\n", ListKind.NETWORKS, "2 wrong lines"),
        (b"192.0.2.1\n192.0.2.2\n", ListKind.DOMAINS, "2 wrong lines"),
        (b"shop.example\n", ListKind.NETWORKS, "line 1: it is no IP address"),
        (b"# nothing but a remark\n", ListKind.NETWORKS, "has no entry"),
        (b"", ListKind.MAIL_DOMAINS, "has no entry"),
    ],
)
def test_a_file_that_is_mostly_wrong_is_refused_whole(raw, kind, named):
    with pytest.raises(InvalidInputError) as caught:
        parse_list(BytesIO(raw), kind)

    assert named in str(caught.value)
    assert "script" not in str(caught.value)


def test_a_line_without_end_is_one_wrong_line():
    parsed = networks(b"192.0.2.1\n" + b"7" * (3 * MAX_LINE_BYTES) + b"\n192.0.2.2\n192.0.2.3")

    assert (parsed.entries, parsed.wrong) == (3, 1)
    assert parsed.first_wrong[0].number == 2


@pytest.mark.parametrize(
    "line",
    [
        "Shop.Example",
        "shop.example.",
        "*.shop.example",
        "||shop.example^",
        "0.0.0.0 shop.example",
        "shop.example :127.0.0.2:text",
    ],
)
def test_a_domain_is_one_however_it_is_listed(line):
    parsed = parse_list(BytesIO(line.encode() + b"\n"), ListKind.DOMAINS)

    assert parsed.compiled.holds_domain("shop.example")


def test_a_domain_in_another_script_is_its_ascii_form():
    parsed = parse_list(BytesIO("магазин.example\n".encode()), ListKind.DOMAINS)

    assert parsed.compiled.holds_domain("xn--80aairftm.example")
    assert normal_domain("МАГАЗИН.example") == "xn--80aairftm.example"


_PIECES = st.sampled_from(
    [b"1.2.3.4", b"/", b"33", b"-", b" ", b"\n", b"\r", b"::", b"ffff", b"%eth0", b"#", b"# Date: ",
     b"||", b"^", b"*.", b"xn--", b".example", b"\xff", b"\0", b"!", b":2:", b"$SOA", b"999999999"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.binary(max_size=300), st.lists(_PIECES, max_size=30).map(b"".join)),
    st.sampled_from(ListKind),
)
def test_no_file_raises_anything_but_a_refusal(raw, kind):
    try:
        parsed = parse_list(BytesIO(raw), kind)
    except InvalidInputError:
        return

    assert parsed.entries > parsed.wrong


@settings(max_examples=200, deadline=None)
@given(st.ip_addresses(), st.integers(8, 128), st.booleans())
def test_a_network_is_read_as_the_standard_library_reads_it(address, bits, long):
    bits = min(bits, 32) if address.version == 4 else max(bits, 16)
    if address.version == 6 and address.ipv4_mapped and bits >= 96:
        # Written so, too, no network of IPv4 is wider than /8.
        bits = max(bits, 96 + 8)
    network = ipaddress.ip_network((address, bits), strict=False)
    written = address.exploded if long else str(address)

    entries = networks(f"{written}/{bits}\n".encode()).compiled

    columns = [column[0] if len(column) else None for column in entries.columns]
    if address.version == 4:
        found = tuple(columns[:2])
    elif address.ipv4_mapped and bits >= 96:
        found = tuple(0xFFFF << 32 | end for end in columns[:2])
    else:
        found = (columns[2] << 64 | columns[3], columns[4] << 64 | columns[5])
    assert found == (int(network[0]), int(network[-1]))


TOP4, TOP6 = 2**32 - 1, 2**128 - 1


def spans(top: int):
    """Return lists of ranges that often touch, overlap and lie at both ends."""
    point = st.one_of(
        st.integers(0, 40),
        st.integers(top - 40, top),
        st.integers(0, top),
        st.sampled_from([2**64 - 1, 2**64, 2**64 + 1]).map(lambda n: min(n, top)),
    )
    size = st.one_of(st.integers(0, 5), st.integers(0, top))
    return st.lists(st.builds(lambda a, n: (a, min(a + n, top)), point, size), max_size=30)


def edges(ranges, top):
    """Return every address at which an answer may change, and its neighbours."""
    near = {0, top} | {edge + by for span in ranges for edge in span for by in (-1, 0, 1)}
    return sorted(address for address in near if 0 <= address <= top)


@pytest.mark.parametrize("version", [4, 6])
@settings(deadline=None)
@given(data=st.data())
def test_look_ups_agree_with_the_naive_way(version, data):
    top = TOP4 if version == 4 else TOP6
    ranges = data.draw(spans(top))
    entries = EntryCollector()
    for start, end in ranges:
        entries.add(version, start, end)

    compiled = entries.compiled()

    asked = edges(ranges, top)
    truth = [any(start <= address <= end for start, end in ranges) for address in asked]
    assert [compiled.holds(version, address) for address in asked] == truth


@given(st.sets(st.text("abc.", max_size=6)), st.text("abc.", max_size=6))
def test_domains_are_found_exactly(listed, asked):
    entries = EntryCollector()
    for domain in listed:
        entries.add_domain(domain)

    assert entries.compiled().holds_domain(asked) is (asked in listed)
