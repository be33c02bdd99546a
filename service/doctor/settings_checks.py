"""Checks the settings: all that is wrong, what is misspelt, what does not go together."""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterator, Mapping

from service.domain.finding import Finding, fail, warn, well
from service.settings import ENV_PREFIX, VARIABLES, Settings

_WIDE_PREFIX = {4: 16, 6: 48}


def wrong_settings(message: str) -> list[Finding]:
    """Return a finding for each line of a `SettingsError`."""
    remedy = "Put it right in the environment; .env.example explains every setting."
    return [fail("settings", line, remedy) for line in message.splitlines()]


def check_names(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Find variables with our prefix that no setting has: most are misspelt."""
    given = {name for name, value in environment.items() if value and name.startswith(ENV_PREFIX)}
    for name in sorted(given - VARIABLES):
        close = difflib.get_close_matches(name, VARIABLES, n=1)
        meant = f"Did you mean {close[0]}?" if close else "Take it out of the environment."
        yield warn("settings", f"{name} is no setting and changes nothing", meant)
    if given <= VARIABLES:
        yield well("settings", f"{len(given)} set, all known" if given else "all defaults")


def check_combinations(settings: Settings) -> Iterator[Finding]:
    """Find settings that are right by themselves and do harm together, or let callbacks do so."""
    if settings.trusted_proxies and not settings.https_only_cookies:
        yield warn(
            "settings",
            "behind a proxy, and session cookies may go over plain HTTP",
            f"Set {ENV_PREFIX}HTTPS_ONLY_COOKIES=true if the proxy speaks TLS.",
        )
    if settings.database_url is not None and settings.secret_key is None:
        yield warn(
            "settings",
            "the database may serve several machines, the secret key lies in one data folder",
            f"Set {ENV_PREFIX}SECRET_KEY, the same on every machine.",
        )
    if settings.metrics_address and settings.metrics_token is None:
        host = settings.metrics_address.rpartition(":")[0].strip("[]")
        if not ipaddress.ip_address(host).is_loopback:
            yield warn(
                "settings",
                f"metrics are served at {settings.metrics_address} to whoever reaches it",
                f"Set {ENV_PREFIX}METRICS_TOKEN, or keep strangers off that network.",
            )
    wide = [allowed for allowed in settings.callback_allow if _is_wide(allowed)]
    if wide:
        yield warn(
            "outbound",
            f"callbacks may go to whole networks that are not public: {', '.join(wide)}",
            f"Name the hosts alone in {ENV_PREFIX}CALLBACK_ALLOW.",
        )
    if settings.callback_plain_http:
        yield warn(
            "outbound",
            "callbacks may go over plain HTTP, where everybody on the way can read them",
            f"Unset {ENV_PREFIX}CALLBACK_PLAIN_HTTP once no site needs it.",
        )
    if not wide and not settings.callback_plain_http:
        ports = ", ".join(str(port) for port in settings.callback_ports)
        yield well("outbound", f"callbacks go over https to public addresses, ports {ports}")


def _is_wide(allowed: str) -> bool:
    try:
        network = ipaddress.ip_network(allowed)
    except ValueError:
        return False
    return network.prefixlen < _WIDE_PREFIX[network.version]
