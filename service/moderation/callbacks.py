"""Sets sites' endpoints and secrets, and replays messages."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from service.domain.comment import SiteId
from service.domain.delivery import Delivery, DeliveryForm, DeliveryState, Endpoint, EventKind
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError, Problem
from service.domain.webhook_secret import make_webhook_secret
from service.moderation.acts import counting_act, make_act
from service.moderation.announcing import wake_deliverers
from service.ports.audit import AuditEntry
from service.ports.services import Services

# During a rotation messages are signed with each secret; two are enough.
MAX_SECRETS = 2
# The limit of tokens: characters that cannot end a header.
_TOKEN = re.compile(r"[\x21-\x7e]{8,500}")
_KNOWN_ADDRESSES = {DeliveryForm.GITHUB: "https://api.github.com/graphql"}
APPLIED_EVENTS = (EventKind.VERDICT, EventKind.DECISION)


def set_callback(
    site_id: SiteId,
    url: str,
    services: Services,
    *,
    actor: str,
    events: Sequence[EventKind] = tuple(EventKind),
) -> Endpoint:
    """Set a site's callback with a new secret, which is returned only here.

    Raises `InvalidInputError` for the URL, the events or another form, `NotFoundError`.
    """
    endpoint = Endpoint(
        site_id=site_id,
        url=url,
        secrets=(make_webhook_secret(services.new_secret()),),
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
    """Apply a site's decisions at its platform, whose API is at `url`; None is GitHub's own.

    Messages that waited for a new token are sent. It is never shown. Raises as `set_callback`.
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
    """Rebuild a site when the comments that it shows have changed, once a minute at most.

    Some hosts, such as GitHub, need a `token`; it is never shown. Raises as `set_callback`.
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
    """Resume a platform or build hook that refused. Raises `NotFoundError` if there is none."""

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
    """Change a callback's URL or events, not its secrets; return it.

    Waiting messages go to the new URL. Raises as `set_callback` and `signed_callback`.
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
    """Sign with a new secret in addition to the newest one, until the next rotation.

    It is the first of the endpoint, which is returned only here. Raises as `signed_callback`.
    """
    secret = make_webhook_secret(services.new_secret())

    def rotated(old: Endpoint | None) -> Endpoint:
        signed = signed_callback(old)
        return replace(signed, secrets=(secret, *signed.secrets)[:MAX_SECRETS])

    act = make_act(services, actor=actor, act="rotate callback secret", subject=site_id)
    return _change(site_id, rotated, act, services)


def remove_callback(site_id: SiteId, services: Services, *, actor: str) -> None:
    """Remove a site's endpoint. Waiting messages are given up when they are due."""
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
    """Try given-up messages again with all attempts; return their number.

    `ids` None stands for all, at most the newest 10,000, or for those of one site.
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
    found: list[Delivery] = []
    for site_id in (None,) if site_ids is None else site_ids:
        found += services.deliveries.recent(state=state, site_id=site_id, limit=limit)
    return sorted(found, key=lambda one: one.seq, reverse=True)[:limit]


def get_delivery(
    delivery_id: str, services: Services, *, site_id: SiteId | None = None
) -> Delivery:
    """Return a message. Raises `NotFoundError` if it is unknown or another site's."""
    delivery = services.deliveries.get(delivery_id)
    if site_id is not None and delivery.site_id != site_id:
        raise NotFoundError("this site has no message of this id")
    return delivery


def signed_callback(endpoint: Endpoint | None) -> Endpoint:
    """Return a callback. Raises `NotFoundError` without one, `ConflictError` for a platform."""
    if endpoint is None:
        raise NotFoundError("this site has no callback")
    if endpoint.form.is_call:
        raise ConflictError(
            f"this site has no callback but, in its place, {endpoint.form.value}; "
            "whoever runs the server changes that with `slopsieve callbacks`"
        )
    return endpoint


def _keep(
    endpoint: Endpoint, act: AuditEntry, services: Services, *, token: str | None = None
) -> Endpoint:
    def kept(present: Endpoint | None) -> Endpoint:
        _refuse(endpoint, present, services, token=token)
        return endpoint

    return _change(endpoint.site_id, kept, act, services)


def _change(
    site_id: SiteId, how: Callable[[Endpoint | None], Endpoint], act: AuditEntry, services: Services
) -> Endpoint:
    """Replace a site's endpoint by the result of `how`, and send messages that waited for it."""
    endpoint = services.endpoints.change(site_id, how, act=act)
    if endpoint.form.is_call:
        wake_deliverers(services)
    return endpoint


def _refuse(
    endpoint: Endpoint, present: Endpoint | None, services: Services, *, token: str | None = None
) -> None:
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
