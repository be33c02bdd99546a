"""Creates and revokes the URLs that platforms post to."""

from collections.abc import Callable, Mapping

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
    make, check = _SECRETS.get(platform, (str, _check_length))
    if secret is None:
        secret = make(services.new_secret())
    else:
        secret = secret.strip()
        check(secret)
    hook = InboundHook(
        id=services.new_id("hook"),
        site_id=site_id,
        platform=platform,
        secret=secret,
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


def _check_length(secret: str) -> None:
    if not _MIN_SECRET_CHARS <= len(secret) <= _MAX_SECRET_CHARS or not secret.isprintable():
        raise invalid_input(
            "secret",
            "is too short, too long or has unprintable characters",
            f"give {_MIN_SECRET_CHARS} to {_MAX_SECRET_CHARS} printable characters",
        )


def _check_standard(secret: str) -> None:
    try:
        webhook_key(secret)
    except ValueError as error:
        raise invalid_input("secret", "is no Standard Webhooks secret", str(error)) from None


def _require(_: str) -> str:
    raise invalid_input(
        "secret",
        "is missing, and this platform makes it itself",
        "enter the webhook there first, with any address, and give its secret here",
    )


def _refuse(_: str) -> None:
    raise invalid_input("secret", "is of no use: nobody signs a form", "leave it out")


# How a secret is made of random text, and how a given one is checked, where that is not as usual.
_SECRETS: Mapping[Platform, tuple[Callable[[str], str], Callable[[str], None]]] = {
    Platform.CORAL: (_require, _check_length),
    Platform.STANDARD: (make_webhook_secret, _check_standard),
    Platform.STATIC_FORM: (lambda _: "", _refuse),
}
