"""The page where moderators turn their second factor on and off, and get recovery codes.

Recovery codes are shown in the answer to the form itself: to show them after a redirect they would
have to lie in the cookie meanwhile.
"""

from __future__ import annotations

from http import HTTPStatus

import segno
from flask import Blueprint, redirect, render_template, session, url_for
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter
from markupsafe import Markup

from service.domain.errors import InvalidInputError
from service.domain.user import Permission, User
from service.moderation.admin.second_factor import (
    Offer,
    offer_second_factor,
    renew_recovery_codes,
    turn_off_second_factor,
    turn_on_second_factor,
)
from service.moderation.admin.users import check_password
from service.ports.services import AccountsPorts, CommonPorts
from service.web.edge.config import WebConfig
from service.web.edge.language import gettext
from service.web.pages.accounts.guessing import limit_own_tries
from service.web.pages.accounts.login import typed
from service.web.pages.common.pages import moderator, needs
from service.web.pages.common.presenting import tell_time

# Which seed was offered, and when. It makes no code without a secret that no cookie has.
_OFFERED = "offered_factor"
_OFFER_SECONDS = 600
_SECRET_GROUP = 4


def add_second_factor(
    pages: Blueprint,
    accounts: AccountsPorts,
    common: CommonPorts,
    config: WebConfig,
    limiter: Limiter | None,
) -> None:
    """Add the page of one's own second factor, and the forms on it."""
    _add_turning_on(pages, accounts, common, config, limiter)
    _add_changes(pages, accounts, common, config, limiter)


def _add_turning_on(
    pages: Blueprint,
    accounts: AccountsPorts,
    common: CommonPorts,
    config: WebConfig,
    limiter: Limiter | None,
) -> None:
    @pages.get("/me/second-factor")
    def second_factor() -> ResponseReturnValue:
        return _page(accounts, common, config)

    @needs(Permission.LOOK)
    @limit_own_tries(limiter)
    def offer_factor() -> ResponseReturnValue:
        user = moderator()
        if not check_password(user, typed("password"), accounts):
            return _wrong_password(accounts, common, config)
        offer = offer_second_factor(user, accounts, common)
        session[_OFFERED] = {"seed": offer.seed, "at": int(common.clock().timestamp())}
        return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)

    @needs(Permission.LOOK)
    @limit_own_tries(limiter)
    def confirm_factor() -> ResponseReturnValue:
        user = moderator()
        offer = _offered(user, accounts, common)
        if offer is None or accounts.second_factors.get(user.id) is not None:
            return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)
        try:
            codes = turn_on_second_factor(
                user, accounts, common, seed=offer.seed, code=typed("code")
            )
        except InvalidInputError:
            refusal = gettext("Incorrect code: type the one that the app shows now.")
            return _page(accounts, common, config, refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
        session.pop(_OFFERED, None)
        return _page(accounts, common, config, codes=codes)

    pages.add_url_rule("/me/second-factor/offer", view_func=offer_factor, methods=["POST"])
    pages.add_url_rule("/me/second-factor", view_func=confirm_factor, methods=["POST"])


def _add_changes(
    pages: Blueprint,
    accounts: AccountsPorts,
    common: CommonPorts,
    config: WebConfig,
    limiter: Limiter | None,
) -> None:
    @needs(Permission.LOOK)
    @limit_own_tries(limiter)
    def renew_codes() -> ResponseReturnValue:
        user = moderator()
        if accounts.second_factors.get(user.id) is None:
            return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)
        if not check_password(user, typed("password"), accounts):
            return _wrong_password(accounts, common, config)
        return _page(accounts, common, config, codes=renew_recovery_codes(user, accounts, common))

    @needs(Permission.LOOK)
    @limit_own_tries(limiter)
    def turn_off_factor() -> ResponseReturnValue:
        user = moderator()
        if config.require_second_factor:
            return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)
        if not check_password(user, typed("password"), accounts):
            return _wrong_password(accounts, common, config)
        turn_off_second_factor(user, accounts, common, actor=user.name, actor_role=user.role)
        return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)

    pages.add_url_rule("/me/second-factor/codes", view_func=renew_codes, methods=["POST"])
    pages.add_url_rule("/me/second-factor/off", view_func=turn_off_factor, methods=["POST"])


def _page(
    accounts: AccountsPorts,
    common: CommonPorts,
    config: WebConfig,
    *,
    refusal: str = "",
    codes: tuple[str, ...] = (),
) -> str:
    user = moderator()
    factor = accounts.second_factors.get(user.id)
    offer = _offered(user, accounts, common) if factor is None else None
    return render_template(
        "second_factor.html",
        since=tell_time(factor.since, common.clock()) if factor else None,
        codes_left=accounts.second_factors.count_recovery(user.id) if factor else 0,
        codes=codes,
        offer=offer,
        square=_square(offer) if offer else "",
        secret=_grouped(offer.secret) if offer else "",
        required=config.require_second_factor,
        refusal=refusal,
    )


def _wrong_password(
    accounts: AccountsPorts, common: CommonPorts, config: WebConfig
) -> ResponseReturnValue:
    refusal = gettext("This is not your password.")
    return _page(accounts, common, config, refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY


def _offered(user: User, accounts: AccountsPorts, common: CommonPorts) -> Offer | None:
    """Return the second factor that was offered to this browser within ten minutes."""
    offered = session.get(_OFFERED)
    if offered is None or common.clock().timestamp() - offered["at"] > _OFFER_SECONDS:
        return None
    return offer_second_factor(user, accounts, common, seed=offered["seed"])


def _square(offer: Offer) -> Markup:
    """Return the QR code of an offer as SVG without styles or scripts.

    The library writes nothing of what is in the code into the markup but squares and lines.
    """
    code = segno.make_qr(offer.uri, error="m")
    svg = code.svg_inline(
        svgclass="square", lineclass=None, omitsize=True, border=3, dark="#000", light="#fff"
    )
    return Markup(svg)  # noqa: S704  # numbers of ours alone, see above


def _grouped(secret: str) -> str:
    """Return a secret in groups, as one types it."""
    starts = range(0, len(secret), _SECRET_GROUP)
    return " ".join(secret[start : start + _SECRET_GROUP] for start in starts)
