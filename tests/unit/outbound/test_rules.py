"""An operator's settings become the rules by which addresses are judged."""

from __future__ import annotations

import ipaddress

import pytest

from service.settings import load_settings
from service.start_error import SettingsError
from service.wiring import outbound_rules


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
