"""A listener that must stay silent, and notifiers that may call all but forbidden addresses."""

import contextlib
import ssl

import pytest
import trustme

from service.domain.comment import CommentId
from service.domain.delivery import Delivery, Endpoint
from service.outbound.guard import OutboundRules
from service.outbound.sender import HttpSiteNotifier
from tests import factories
from tests.factories import SITE
from tests.sites import Site, running_site

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
# Of the first the key is 0x00 to 0x17; the second is in the convention's own libraries.
VECTORS = [
    (
        SECRET,
        "msg_example_0001",
        1767600000,
        (
            b'{"type":"comment.verdict","timestamp":"2026-01-05T08:00:00Z",'
            b'"data":{"id":"c-1","verdict":"spam"}}'
        ),
        "v1,6hgwiHbDCS4RcdyCeA9TPxJmhuc5tzHTlDQBtggxeOk=",
    ),
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
]
ENDPOINT = Endpoint(site_id=SITE, url="https://blog.example/hook", secrets=(SECRET,))


def make_delivery(url: str, **changes) -> Delivery:
    return factories.make_delivery(CommentId("c1"), url=url, **changes)


def make_notifier(
    site: Site | None = None, *, port=None, names=None, allow_networks=(), allow_hosts=(), **options
) -> HttpSiteNotifier:
    """Return a notifier that may use plain HTTP and the site's port, so addresses alone decide."""
    table = names or {}

    def resolve(host: str, _port: int) -> list[str]:
        found = table[host]
        return found() if callable(found) else found

    rules = OutboundRules(
        ports=frozenset({80, 443, port or (site.port if site else 80)}),
        plain_http=True,
        allow_networks=tuple(allow_networks),
        allow_hosts=frozenset(allow_hosts),
    )
    return HttpSiteNotifier(rules, **({"resolve": resolve} | options))


@pytest.fixture
def silent():
    """A site on the loopback addresses of both kinds, at one port."""
    with contextlib.ExitStack() as stack:
        site = stack.enter_context(running_site())
        other = stack.enter_context(running_site(host="::1", port=site.port))
        site.also = other
        yield site


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


def certified(authority: trustme.CA, name: str) -> ssl.SSLContext:
    """Return a server's context with a certificate for this name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def trusting(authority: trustme.CA | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority is not None:
        authority.configure_trust(context)
    return context


def was_silent(site: Site) -> bool:
    return site.connections == 0 and site.also.connections == 0
