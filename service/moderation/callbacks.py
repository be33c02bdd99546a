"""Sets where a site is told of its comments, with which secret, and sends messages again."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from service.domain.comment import SiteId
from service.domain.delivery import Delivery, DeliveryForm, DeliveryState, Endpoint, EventKind
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError, Problem
from service.moderation.acts import counting_act, make_act
from service.moderation.announcing import wake_deliverers
from service.ports.audit import AuditEntry
from service.ports.services import Services

# During a rotation messages carry a signature by each secret; two are enough to change one.
MAX_SECRETS = 2
_SECRET_PREFIX = "whsec_"  # noqa: S105  # a prefix, not a secret
# A platform's own words of what it takes for a token; nothing that could end a header.
_TOKEN = re.compile(r"[\x21-\x7e]{8,500}")
_KNOWN_ADDRESSES = {DeliveryForm.GITHUB: "https://api.github.com/graphql"}
APPLIED_EVENTS = (EventKind.VERDICT, EventKind.DECISION)
"""What can be applied at a platform."""


def set_callback(
    site_id: SiteId,
    url: str,
    services: Services,
    *,
    actor: str,
    events: Sequence[EventKind] = tuple(EventKind),
) -> Endpoint:
    """Call this address, with a new secret in place of all earlier ones, which is shown this once.

    Raises `InvalidInputError` for an address that is never called, for no events and where the site
    has an endpoint of another form, and `NotFoundError` for an unknown site.
    """
    endpoint = Endpoint(
        site_id=site_id,
        url=url,
        secrets=(_new_secret(services),),
        events=tuple(dict.fromkeys(events)),
    )
    act = make_act(services, actor=actor, act="set callback", subject=site_id)
    return _keep(endpoint, act, services)


def set_applier(
    site_id: SiteId,
    form: DeliveryForm,
    token: str,
    services: Services,
    *,
    actor: str,
    url: str | None = None,
    events: Sequence[EventKind] = APPLIED_EVENTS,
) -> Endpoint:
    """Have a site's decisions applied at its platform.

    `url` is the address of its API, None for the known one of GitHub. What waited for a new token
    goes out. The token is never shown again. Raises as `set_callback`.
    """
    endpoint = Endpoint(
        site_id=site_id,
        url=(url or _KNOWN_ADDRESSES.get(form, "")).rstrip("/"),
        secrets=(token.strip(),),
        events=tuple(dict.fromkeys(events)),
        form=form,
    )
    act = make_act(services, actor=actor, act="set applier", subject=site_id, detail=form.value)
    return _keep(endpoint, act, services, token=token)


def set_build_hook(
    site_id: SiteId, url: str, services: Services, *, actor: str, token: str | None = None
) -> Endpoint:
    """Have a site built anew when what it shows changes.

    `url` is called once for all changes of a minute; `token` is for a host that asks for one, as
    GitHub does, and is shown to nobody any more. Raises as `set_callback`.
    """
    endpoint = Endpoint(
        site_id=site_id,
        url=url,
        secrets=(token.strip() if token else url,),
        events=APPLIED_EVENTS,
        form=DeliveryForm.BUILD_HOOK,
    )
    act = make_act(services, actor=actor, act="set build hook", subject=site_id)
    return _keep(endpoint, act, services, token=token)


def resume_applier(site_id: SiteId, services: Services, *, actor: str) -> Endpoint:
    """Try a platform or a build hook again that refused, and return the endpoint as it is then.

    Raises `NotFoundError` if the site has neither.
    """

    def resumed(old: Endpoint | None) -> Endpoint:
        if old is None or not old.form.is_call:
            msg = "this site's decisions are applied at no platform, and it has no build hook"
            raise NotFoundError(msg)
        return replace(old, refused_at=None, rests_until=None)

    act = make_act(services, actor=actor, act="resume applier", subject=site_id)
    return _change(site_id, resumed, act, services)


def change_callback(
    site_id: SiteId,
    services: Services,
    *,
    actor: str,
    url: str | None = None,
    events: Sequence[EventKind] | None = None,
) -> Endpoint:
    """Change a callback's address or events and leave its secrets; return it as it is then.

    What still waits, and what is replayed, goes to the new address. Raises as `set_callback`,
    `NotFoundError` if the site has no callback, and `ConflictError` for one at a platform.
    """

    def changed(old: Endpoint | None) -> Endpoint:
        signed = signed_callback(old)
        endpoint = replace(
            signed,
            url=signed.url if url is None else url,
            events=signed.events if events is None else tuple(dict.fromkeys(events)),
        )
        _refuse(endpoint, old, services)
        return endpoint

    act = make_act(services, actor=actor, act="change callback", subject=site_id)
    return _change(site_id, changed, act, services)


def rotate_secret(site_id: SiteId, services: Services, *, actor: str) -> Endpoint:
    """Sign with a new secret beside the newest one so far, until the next rotation.

    It is the first of the endpoint that is returned, and is shown this once. Rotating twice ends
    the old one. Raises `NotFoundError` if the site has no callback, and `ConflictError` for one at
    a platform, which has a token and no secret.
    """
    secret = _new_secret(services)

    def rotated(old: Endpoint | None) -> Endpoint:
        signed = signed_callback(old)
        return replace(signed, secrets=(secret, *signed.secrets)[:MAX_SECRETS])

    act = make_act(services, actor=actor, act="rotate callback secret", subject=site_id)
    return _change(site_id, rotated, act, services)


def remove_callback(site_id: SiteId, services: Services, *, actor: str) -> None:
    """Tell a site nothing more; what still waits is given up when its turn comes."""
    act = make_act(services, actor=actor, act="remove callback", subject=site_id)
    services.endpoints.remove(site_id, act=act)


def get_callback(site_id: SiteId, services: Services) -> Endpoint:
    """Return a site's callback. Raises `NotFoundError` if it has none."""
    endpoint = services.endpoints.get(site_id)
    if endpoint is None:
        raise NotFoundError("this site has no callback")
    return endpoint


def replay_deliveries(
    services: Services,
    *,
    actor: str,
    ids: Sequence[str] | None = None,
    site_id: SiteId | None = None,
) -> int:
    """Let given-up messages be tried again from the start; return how many there were.

    `ids` None means all of them, at most the newest 10,000, of one site if given.
    """
    if ids is None:
        dead = services.deliveries.recent(state=DeliveryState.DEAD, site_id=site_id, limit=10_000)
        ids = [one.id for one in dead]
    subject = ids[0] if len(ids) == 1 else site_id or "deliveries"
    act = counting_act(services, actor=actor, act="replay", subject=subject)
    replayed = services.deliveries.replay(ids, at=services.clock(), act=act)
    if replayed:
        wake_deliverers(services)
    return replayed


def newest_deliveries(
    state: DeliveryState, services: Services, *, site_ids: Collection[SiteId] | None, limit: int
) -> list[Delivery]:
    """Return the newest messages in this state of these sites, of all for None."""
    found: list[Delivery] = []
    for site_id in (None,) if site_ids is None else site_ids:
        found += services.deliveries.recent(state=state, site_id=site_id, limit=limit)
    return sorted(found, key=lambda one: one.seq, reverse=True)[:limit]


def get_delivery(
    delivery_id: str, services: Services, *, site_id: SiteId | None = None
) -> Delivery:
    """Return a message. Raises `NotFoundError` for one of nobody or of another site."""
    delivery = services.deliveries.get(delivery_id)
    if site_id is not None and delivery.site_id != site_id:
        raise NotFoundError("this site has no message of this id")
    return delivery


def signed_callback(endpoint: Endpoint | None) -> Endpoint:
    """Return a site's endpoint if it is a callback that is signed.

    Raises `NotFoundError` if it has none, `ConflictError` for one at a platform.
    """
    if endpoint is None:
        raise NotFoundError("this site has no callback")
    if endpoint.form.is_call:
        msg = (
            f"this site has no callback but, in its place, {endpoint.form.value}; "
            "whoever runs the server changes that with `slopsieve callbacks`"
        )
        raise ConflictError(msg)
    return endpoint


def _keep(
    endpoint: Endpoint, act: AuditEntry, services: Services, *, token: str | None = None
) -> Endpoint:
    def kept(present: Endpoint | None) -> Endpoint:
        _refuse(endpoint, present, services, token=token)
        return endpoint

    return _change(endpoint.site_id, kept, act, services)


def _change(
    site_id: SiteId,
    how: Callable[[Endpoint | None], Endpoint],
    act: AuditEntry,
    services: Services,
) -> Endpoint:
    """Keep what `how` makes of a site's endpoint, and send what waited for a platform."""
    endpoint = services.endpoints.change(site_id, how, act=act)
    if endpoint.form.is_call:
        wake_deliverers(services)
    return endpoint


def _refuse(
    endpoint: Endpoint, present: Endpoint | None, services: Services, *, token: str | None = None
) -> None:
    """Raise `InvalidInputError` for whatever is wrong with the endpoint and its token."""
    problems = []
    if token is not None and not _TOKEN.fullmatch(token.strip()):
        problem = "is no token: it has other than 8 to 500 printable ASCII characters"
        remedy = "give the token alone, as the platform showed it"
        problems.append(Problem("token", problem, remedy))
    if refusal := services.notifier.refuse(endpoint.url):
        remedy = "give the https URL of a public host, at its usual port"
        problems.append(Problem("url", refusal, remedy))
    if not endpoint.events:
        known = ", ".join(event.value for event in EventKind)
        problems.append(Problem("events", "names none", f"name some of {known}"))
    if present is not None and present.form is not endpoint.form:
        problem = f"is told by {present.form.value} already, and one way is all it can have"
        remedy = "end that with `slopsieve callbacks remove SITE`, or add a site of its own"
        problems.append(Problem("site", problem, remedy))
    if problems:
        raise InvalidInputError(problems)


def _new_secret(services: Services) -> str:
    """Return a Standard Webhooks secret: a prefix and the base64 of 32 bytes."""
    key = hashlib.sha256(services.new_secret().encode()).digest()
    return _SECRET_PREFIX + base64.b64encode(key).decode("ascii")
