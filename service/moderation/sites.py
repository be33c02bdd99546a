"""Adds sites, and issues, rotates, revokes and verifies their keys."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from service.domain.comment import SiteId
from service.domain.errors import ConflictError, NotAuthenticatedError, NotFoundError, invalid_input
from service.domain.rules import SiteRules
from service.domain.site import AKISMET_KEY_ID, Site, SiteKey, SiteSettings
from service.domain.unseen import is_printable
from service.moderation.acts import make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services

_KEY_PREFIX = "slop_"
_MAX_NAME_CHARS = 100
# In one transaction, during which SQLite has no other writer.
_PLACED_AT_ONCE = 500
# Enough for each installation of a large site, and a limit for a client that issues keys in a loop.
_MAX_VALID_KEYS = 50
# Long enough to change the key in every plugin and deploy it.
DEFAULT_OVERLAP = timedelta(days=7)
# WordPress accepts no other keys: its form strips other characters, its check counts to twelve.
_AKISMET_KEY = re.compile(r"[0-9a-f]{12}")
_AKISMET_KEY_CHARS = 12
_MAX_BLOG_CHARS = 2_048
_ISSUE = {False: "issue key", True: "issue Akismet key"}
_INVALID_KEY = "this key is unknown, expired or revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey:
    """A new key with its secret, which is shown only once and not stored."""

    key: SiteKey
    secret: str


def add_site(
    name: str, services: Services, *, actor: str, akismet: bool = False
) -> tuple[Site, list[IssuedKey]]:
    """Create a site with a key and one for Akismet. Raises `InvalidInputError`, `ConflictError`."""
    name = name.strip()
    if not name or len(name) > _MAX_NAME_CHARS or not is_printable(name):
        remedy = f"give 1 to {_MAX_NAME_CHARS} printable characters"
        raise invalid_input("name", "is empty, too long or has unprintable characters", remedy)
    site = Site(id=SiteId(services.new_id("site")), name=name, created_at=services.clock())
    issued = [_new_key(site.id, services, is_akismet=one) for one in sorted({False, akismet})]
    done = [("add site", site.id), *((_ISSUE[one.key.is_akismet], one.key.id) for one in issued)]
    acts = [make_act(services, actor=actor, act=act, subject=subject) for act, subject in done]
    services.sites.add(site, keys=[one.key for one in issued], acts=acts)
    return site, issued


def issue_key(
    site_id: SiteId,
    services: Services,
    *,
    actor: str,
    expiring: Mapping[str, datetime] | None = None,
    is_akismet: bool = False,
) -> IssuedKey:
    """Issue a key and let others expire. Raises `NotFoundError`, `ConflictError` with 50 keys."""
    valid = sum(key.is_valid(services.clock()) for key in services.sites.list_keys(site_id))
    if valid >= _MAX_VALID_KEYS:
        msg = f"this site has {valid} valid keys; revoke those that are no longer used"
        raise ConflictError(msg)
    issued = _new_key(site_id, services, is_akismet=is_akismet)
    acts = [
        make_act(services, actor=actor, act=_ISSUE[is_akismet], subject=issued.key.id),
        *(make_act(services, actor=actor, act="expire key", subject=one) for one in expiring or ()),
    ]
    services.sites.add_key(issued.key, expiring=expiring, acts=acts)
    return issued


def _new_key(site_id: SiteId, services: Services, *, is_akismet: bool) -> IssuedKey:
    # Late verdicts contain an Akismet key, so it is derived from its id. 48 bits need a keyed hash.
    key_id = services.new_id(AKISMET_KEY_ID if is_akismet else "key")
    secret = akismet_secret(key_id, services) if is_akismet else _KEY_PREFIX + services.new_secret()
    key = SiteKey(
        id=key_id,
        site_id=site_id,
        # Every shown character makes an Akismet key easier to guess.
        hint=secret[: 2 if is_akismet else len(_KEY_PREFIX) + 4],
        secret_sha256=_akismet_hash(secret, services) if is_akismet else _hash(secret),
        created_at=services.clock(),
    )
    return IssuedKey(key=key, secret=secret)


def akismet_secret(key_id: str, services: Services) -> str:
    """Return the Akismet key of this id: 12 lower-case hexadecimal digits."""
    digest = hmac.new(services.sender_secret, f"akismet key:{key_id}".encode(), hashlib.sha256)
    return digest.hexdigest()[:_AKISMET_KEY_CHARS]


def rotate_keys(
    site_id: SiteId, services: Services, *, actor: str, overlap: timedelta = DEFAULT_OVERLAP
) -> IssuedKey:
    """Issue a new key; the other keys, except Akismet's, end after the overlap."""
    now = services.clock()
    expiring = {
        key.id: min(key.expires_at or now + overlap, now + overlap)
        for key in services.sites.list_keys(site_id)
        if key.is_valid(now) and not key.is_akismet
    }
    return issue_key(site_id, services, actor=actor, expiring=expiring)


def revoke_key(
    key_id: str, services: Services, *, actor: str, site_id: SiteId | None = None
) -> SiteKey:
    """End a key at once. Raises `NotFoundError` for an unknown one.

    With `site_id` it must be a key of that site, and `ConflictError` is raised if it is the last
    valid one, so that a caller cannot lock itself out.
    """
    act = make_act(services, actor=actor, act="revoke key", subject=key_id)

    def refuse_lockout(all_keys: Sequence[SiteKey]) -> None:
        keys = {key.id: key for key in all_keys if key.site_id == site_id}
        if key_id not in keys:
            raise NotFoundError("this site has no key of this id")
        others = [key for key in keys.values() if key.id != key_id and not key.is_akismet]
        if not keys[key_id].is_akismet and not any(key.is_valid(act.at) for key in others):
            raise ConflictError("this is the site's last valid key; issue another one first")

    check = None if site_id is None else refuse_lockout
    return services.sites.end_key(key_id, revoked_at=act.at, act=act, check=check)


def change_site_settings(
    site_id: SiteId, how: Callable[[SiteSettings], SiteSettings], services: Services, *, actor: str
) -> Site:
    """Replace a site's settings by the result of `how`, in one transaction.

    Another mode re-sorts the site's waiting comments; setting the mode again completes an
    interrupted change. Raises `NotFoundError`, and errors of `how`.
    """

    def act(before: SiteSettings, after: SiteSettings) -> AuditEntry:
        detail = "; ".join(_changes(before, after))
        return make_act(
            services, actor=actor, act="change settings", subject=site_id, detail=detail
        )

    before, after = services.sites.change_settings(site_id, how, act=act)
    if before.settings.mode is not after.settings.mode or before == after:
        put = services.comments.reposition(site_id, after=None, limit=_PLACED_AT_ONCE)
        while put is not None:
            put = services.comments.reposition(site_id, after=put, limit=_PLACED_AT_ONCE)
    return after


def forget_taught(site_id: SiteId, services: Services, *, actor: str) -> Site:
    """Forget what earlier decisions taught; they stay in force. Raises `NotFoundError`."""
    now = services.clock()
    return change_site_settings(
        site_id, lambda present: replace(present, learns_since=now), services, actor=actor
    )


def _changes(before: SiteSettings | SiteRules, after: SiteSettings | SiteRules) -> Iterator[str]:
    for one in fields(before):
        old, new = getattr(before, one.name), getattr(after, one.name)
        if isinstance(old, SiteRules):
            yield from _changes(old, new)
        elif isinstance(old, tuple):
            yield from (f"{one.name}: +{value}" for value in new if value not in old)
            yield from (f"{one.name}: -{value}" for value in old if value not in new)
        elif old != new:
            shown = ["none" if value is None else value for value in (old, new)]
            yield "{}: {} to {}".format(one.name, *shown)


def authenticate_site(secret: str, services: Services) -> Site:
    """Return the site of a valid key. Raises `NotAuthenticatedError` otherwise."""
    return _authenticate(_hash(secret), services)[0]


def authenticate_akismet(secret: str, services: Services) -> tuple[Site, SiteKey]:
    """Return the site of a valid Akismet key. Raises `NotAuthenticatedError` otherwise."""
    if not _AKISMET_KEY.fullmatch(secret):
        raise NotAuthenticatedError(_INVALID_KEY)
    return _authenticate(_akismet_hash(secret, services), services)


def _authenticate(secret_sha256: str, services: Services) -> tuple[Site, SiteKey]:
    found = services.sites.find_key(secret_sha256)
    if found is None or not found[0].is_valid(services.clock()):
        raise NotAuthenticatedError(_INVALID_KEY)
    return found[1], found[0]


def is_blog(given: str) -> bool:
    given = given.strip()
    if len(given) > _MAX_BLOG_CHARS or not given.isprintable() or " " in given:
        return False
    try:
        parts = urlsplit(given)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def register_blog(site: Site, blog: str, services: Services, *, actor: str) -> Site:
    """Store the first `blog` sent with a valid key as the site's own; later ones are ignored."""
    if site.settings.blog is not None:
        return site

    def register(present: SiteSettings) -> SiteSettings:
        return present if present.blog else replace(present, blog=blog)

    return change_site_settings(site.id, register, services, actor=actor)


def _akismet_hash(secret: str, services: Services) -> str:
    key = f"akismet hash:{secret}".encode()
    return hmac.new(services.sender_secret, key, hashlib.sha256).hexdigest()


def _hash(secret: str) -> str:
    # Keys have 256 random bits, so that a plain hash is as safe as a slow one.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
