"""No hostile address leads to a forbidden place: a listener there stays silent."""

import ipaddress

import pytest

from service.outbound.exchange import system_resolver
from service.outbound.guard import OutboundRules, RefusedError, is_public, parse_target
from service.outbound.sender import HttpSiteNotifier
from service.settings import load_settings
from service.start_error import SettingsError
from service.wiring import outbound_rules
from tests.sites import Site, running_site, with_status
from tests.unit.outbound.conftest import ENDPOINT, make_delivery, make_notifier, was_silent
from tests.unit.outbound.hostile import FORBIDDEN_ADDRESSES, NAMES, ODD_PORTS, OWN_NAMES, UNREADABLE

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
OTHER = [ipaddress.ip_network("127.0.0.2/32")]


def send(site: Site, url: str, **options):
    notifier = make_notifier(site, **options)
    return notifier.send(make_delivery(url.replace("{port}", str(site.port))), ENDPOINT)


@pytest.mark.parametrize("url", FORBIDDEN_ADDRESSES + UNREADABLE)
def test_a_hostile_address_is_refused_for_good_and_nobody_is_called(url, silent):
    outcome = send(silent, url)

    assert outcome.hopeless
    assert outcome.status is None
    assert outcome.problem.startswith("the address ")
    assert was_silent(silent)


@pytest.mark.parametrize("host", NAMES)
def test_a_name_that_stands_for_a_forbidden_address_is_not_called(host, silent):
    outcome = send(silent, f"http://{host}:{{port}}/", names=NAMES)

    assert outcome.status is None
    assert outcome.problem.startswith("the address ")
    assert not outcome.hopeless
    assert was_silent(silent)


@pytest.mark.parametrize("host", OWN_NAMES)
def test_the_machines_own_names_are_not_called(host, silent):
    outcome = send(silent, f"http://{host}:{{port}}/", resolve=system_resolver)

    assert not outcome.delivered
    assert was_silent(silent)


@pytest.mark.parametrize("port", ODD_PORTS)
def test_an_odd_port_is_refused(port):
    with pytest.raises(RefusedError, match="port"):
        parse_target(f"https://blog.example:{port}/", OutboundRules())


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/", "http://[::1]:{port}/"])
def test_the_silent_listener_would_have_answered(url, silent):
    outcome = send(silent, url, allow_networks=LOOPBACK)

    assert outcome.delivered
    assert not was_silent(silent)


def test_a_name_that_leads_elsewhere_the_second_time_is_looked_up_once(silent):
    asked = []

    def rebinding():
        asked.append(1)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    options = {"names": {"rebinding.test": rebinding}, "allow_networks": OTHER}
    with running_site(host="127.0.0.2", port=silent.port) as site:
        outcomes = [send(silent, "http://rebinding.test:{port}/", **options) for _ in range(2)]

    assert [outcome.delivered for outcome in outcomes] == [True, False]
    assert outcomes[1].problem == "the address leads to an address that is not public"
    assert len(asked) == 2
    assert [received.headers["host"] for received in site.received] == [
        f"rebinding.test:{silent.port}"
    ]
    assert was_silent(silent)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
def test_a_redirect_is_not_followed(status, silent):
    with running_site(host="127.0.0.2", port=silent.port) as site:
        site.answer = with_status(status, f"Location: http://127.0.0.1:{silent.port}/\r\n")
        outcome = send(silent, site.url(), allow_networks=OTHER)

    assert outcome.status == status
    assert outcome.problem == "the answer leads elsewhere, which is not followed"
    assert not outcome.delivered
    assert was_silent(silent)


def test_plain_http_is_refused_unless_allowed():
    assert HttpSiteNotifier(OutboundRules()).refuse("http://blog.example/") == "is not https"
    assert HttpSiteNotifier(OutboundRules()).refuse("https://blog.example/") is None


@pytest.mark.parametrize(
    ("url", "host", "authority", "path"),
    [
        ("https://blog.example", "blog.example", "blog.example", "/"),
        ("HTTPS://Blog.Example:443/a?b=c", "blog.example", "blog.example", "/a?b=c"),
        ("https://blog.example:8443/", "blog.example", "blog.example:8443", "/"),
        ("https://bücher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example", "/"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", "xn--bcher-kva.example", "/"),
        ("https://93.184.215.14/x", "93.184.215.14", "93.184.215.14", "/x"),
        ("https://[2606:4700::1111]/", "2606:4700::1111", "[2606:4700::1111]", "/"),
        ("https://b.example?rest_route=/akismet/v1/webhook", "b.example", "b.example", None),
        ("https://1and1.example/", "1and1.example", "1and1.example", "/"),
    ],
)
def test_an_honest_address_is_taken_apart(url, host, authority, path):
    target = parse_target(url, OutboundRules(ports=frozenset({443, 8443})))

    assert target.host == host
    assert target.authority == authority
    assert target.path == (path or "/?rest_route=/akismet/v1/webhook")


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "1.1.1.1", "223.255.255.1", "2606:4700::1111", "64:ff9b::5db8:d70e"],
)
def test_public_addresses_are_public(address):
    assert is_public(ipaddress.ip_address(address))


def test_what_the_standard_library_calls_private_is_not_public():
    networks = [
        *("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/29", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "100.64.0.0/10"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/128"),
        *("::1/128", "::ffff:0:0/96", "100::/64", "2001::/23", "2001:db8::/32", "fc00::/7"),
        *("fe80::/10", "fec0::/10", "ff00::/8", "2002::/16", "64:ff9b:1::/48"),
    ]

    ends = [
        end
        for network in map(ipaddress.ip_network, networks)
        for end in (network[0], network[-1], network[network.num_addresses // 3])
    ]

    assert [str(end) for end in ends if is_public(end)] == []


def test_an_allowed_host_may_lead_anywhere_and_no_other(silent):
    names = {"blog.lan": ["127.0.0.1"], "other.lan": ["127.0.0.1"]}

    allowed, other = (
        send(silent, f"http://{host}:{{port}}/", names=names, allow_hosts={"blog.lan"})
        for host in names
    )

    assert (allowed.delivered, other.delivered) == (True, False)
    assert silent.connections == 1


def test_an_allowed_network_allows_neither_its_mapped_form_nor_a_neighbour(silent):
    notifier = make_notifier(silent, allow_networks=OTHER)

    refusals = [
        notifier.refuse(f"http://{host}:{silent.port}/")
        for host in ("127.0.0.2", "[::ffff:127.0.0.2]", "127.0.0.3")
    ]

    assert refusals[0] is None
    assert all(refusals[1:])


def test_networks_and_names_are_told_apart():
    settings = load_settings(
        callback_allow="192.168.1.0/24, Blog.LAN,fd00::/8", callback_ports="443, 8443"
    )

    rules = outbound_rules(settings)

    assert rules.allow_hosts == {"blog.lan"}
    assert rules.allow_networks == (
        ipaddress.ip_network("192.168.1.0/24"),
        ipaddress.ip_network("fd00::/8"),
    )
    assert rules.ports == {443, 8443}


@pytest.mark.parametrize(
    "allow", ["192.168.1.1/24", "10.0.0", "a b", "http://x", "*.lan", "0x7f.1"]
)
def test_what_is_neither_is_refused_by_name(allow):
    with pytest.raises(SettingsError, match="SLOPSIEVE_CALLBACK_ALLOW"):
        load_settings(callback_allow=allow)


@pytest.mark.parametrize("wrong", [{"callback_ports": "0"}, {"callback_delays": "5,-1"}])
def test_impossible_ports_and_delays_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong)).upper()):
        load_settings(**wrong)
