"""The page where moderators turn their second factor on and off, and get recovery codes.

Recovery codes are shown in the answer to the form itself: to show them after a redirect they would
have to lie in the cookie meanwhile.
"""

from __future__ import annotations

from http import HTTPStatus

import segno
from flask import current_app, render_template, session
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from service.domain.errors import InvalidInputError
from service.domain.user import Permission, User
from service.moderation.admin.accounts import check_password
from service.moderation.admin.second_factor import (
    Offer,
    offer_second_factor,
    renew_recovery_codes,
    turn_off_second_factor,
    turn_on_second_factor,
)
from service.web.edge.current import services
from service.web.edge.language import gettext
from service.web.pages.accounts.login import typed
from service.web.pages.common.pages import go_to, moderator, needs, pages

# Which seed was offered, and when. It makes no code without a secret that no cookie has.
_OFFERED = "offered_factor"
_OFFER_SECONDS = 600


@pages.get("/me/second-factor")
def second_factor() -> ResponseReturnValue:
    return _page()


@pages.post("/me/second-factor/offer")
@needs(Permission.LOOK)
def offer_factor() -> ResponseReturnValue:
    user = moderator()
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    offer = offer_second_factor(user, services)
    session[_OFFERED] = {"seed": offer.seed, "at": int(services.clock().timestamp())}
    return go_to("pages.second_factor")


@pages.post("/me/second-factor")
@needs(Permission.LOOK)
def confirm_factor() -> ResponseReturnValue:
    user = moderator()
    offer = _offered(user)
    if offer is None or services.second_factors.get(user.id) is not None:
        return go_to("pages.second_factor")
    try:
        codes = turn_on_second_factor(user, services, seed=offer.seed, code=typed("code"))
    except InvalidInputError:
        refusal = gettext("Incorrect code: type the one that the app shows now.")
        return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    session.pop(_OFFERED, None)
    return _page(codes=codes)


@pages.post("/me/second-factor/codes")
@needs(Permission.LOOK)
def renew_codes() -> ResponseReturnValue:
    user = moderator()
    if services.second_factors.get(user.id) is None:
        return go_to("pages.second_factor")
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    return _page(codes=renew_recovery_codes(user, services))


@pages.post("/me/second-factor/off")
@needs(Permission.LOOK)
def turn_off_factor() -> ResponseReturnValue:
    user = moderator()
    if current_app.config["REQUIRE_SECOND_FACTOR"]:
        return go_to("pages.second_factor")
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    turn_off_second_factor(user, services, actor=user.name, actor_role=user.role)
    return go_to("pages.second_factor")


def _page(*, refusal: str = "", codes: tuple[str, ...] = ()) -> str:
    user = moderator()
    factor = services.second_factors.get(user.id)
    offer = None if factor else _offered(user)
    return render_template(
        "second_factor.html",
        since=factor and factor.since,
        codes_left=services.second_factors.count_recovery(user.id) if factor else 0,
        codes=codes,
        offer=offer,
        square=_square(offer) if offer else "",
        required=current_app.config["REQUIRE_SECOND_FACTOR"],
        refusal=refusal,
    )


def _wrong_password() -> ResponseReturnValue:
    refusal = gettext("This is not your password.")
    return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY


def _offered(user: User) -> Offer | None:
    """Return the second factor that was offered to this browser within ten minutes."""
    offered = session.get(_OFFERED)
    if offered is None or services.clock().timestamp() - offered["at"] > _OFFER_SECONDS:
        return None
    return offer_second_factor(user, services, seed=offered["seed"])


def _square(offer: Offer) -> Markup:
    """Return the QR code of an offer as SVG without styles or scripts.

    The library writes nothing of what is in the code into the markup but squares and lines.
    """
    code = segno.make_qr(offer.uri, error="m")
    svg = code.svg_inline(
        svgclass="square", lineclass=None, omitsize=True, border=3, dark="#000", light="#fff"
    )
    return Markup(svg)  # noqa: S704  # numbers of ours alone, see above
