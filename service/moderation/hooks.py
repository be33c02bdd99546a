"""Creates and revokes the URLs that platforms post to."""

from service.domain.comment import SiteId
from service.domain.delivery import InboundHook, Platform
from service.domain.errors import NotFoundError, invalid_input
from service.domain.webhook_secret import make_webhook_secret, webhook_key
from service.moderation.acts import make_act
from service.ports.services import Services

_MIN_SECRET_CHARS, _MAX_SECRET_CHARS = 12, 300


def add_hook(
    site_id: SiteId,
    platform: Platform,
    services: Services,
    *,
    actor: str,
    secret: str | None = None,
) -> InboundHook:
    """Create a hook of a site and return it with its secret, generated if none is given.

    Raises `NotFoundError`, and `InvalidInputError` for the secret, also if the platform makes it.
    """
    if secret is not None:
        secret = secret.strip()
        _check(secret, platform)
    elif platform is Platform.CORAL:
        raise invalid_input(
            "secret",
            "is missing, and this platform makes it itself",
            "enter the webhook there first, with any address, and give its secret here",
        )
    hook = InboundHook(
        id=services.new_id("hook"),
        site_id=site_id,
        platform=platform,
        secret=_new_secret(platform, services) if secret is None else secret,
        created_at=services.clock(),
    )
    services.inbound.add(hook, act=make_act(services, actor=actor, act="add hook", subject=hook.id))
    return hook


def keep_form_hook(site_id: SiteId, services: Services, *, actor: str) -> InboundHook:
    """Return the newest valid hook of a site's own forms, or a new one."""
    forms = [
        hook
        for hook in services.inbound.all(site_id)
        if hook.platform is Platform.STATIC_FORM and hook.revoked_at is None
    ]
    if forms:
        return max(forms, key=lambda hook: hook.created_at)
    return add_hook(site_id, Platform.STATIC_FORM, services, actor=actor)


def revoke_hook(hook_id: str, services: Services, *, actor: str) -> InboundHook:
    """End a hook at once: its platform gets 410. Raises `NotFoundError`."""
    known = services.inbound.get(hook_id)
    if known is None:
        raise NotFoundError(f"there is no hook {hook_id!r}; `slopsieve hooks list` names them")
    if known.revoked_at is not None:
        return known
    act = make_act(services, actor=actor, act="revoke hook", subject=hook_id)
    return services.inbound.revoke(hook_id, at=act.at, act=act)


def _new_secret(platform: Platform, services: Services) -> str:
    if platform is Platform.STATIC_FORM:
        return ""
    secret = services.new_secret()
    return make_webhook_secret(secret) if platform is Platform.STANDARD else secret


def _check(secret: str, platform: Platform) -> None:
    if platform is Platform.STATIC_FORM:
        raise invalid_input("secret", "is of no use: nobody signs a form", "leave it out")
    if platform is Platform.STANDARD:
        try:
            webhook_key(secret)
        except ValueError as error:
            raise invalid_input("secret", "is no Standard Webhooks secret", str(error)) from None
    elif not _MIN_SECRET_CHARS <= len(secret) <= _MAX_SECRET_CHARS or not secret.isprintable():
        raise invalid_input(
            "secret",
            "is too short, too long or has unprintable characters",
            f"give {_MIN_SECRET_CHARS} to {_MAX_SECRET_CHARS} printable characters",
        )
