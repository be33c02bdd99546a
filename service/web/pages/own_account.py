"""The pages of the user's own account: preferences, sessions, second factor.

Recovery codes are shown in the response to the form. A redirect would have to store them in the
session cookie.
"""

from dataclasses import replace
from http import HTTPStatus

import segno
from babel import Locale
from flask import abort, current_app, flash, render_template, request, session
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from service.domain.errors import InvalidInputError
from service.domain.user import Permission, User
from service.moderation import signing_in
from service.moderation.accounts import check_password, set_mail, set_preferences
from service.web.edge.current import services
from service.web.edge.language import choose_language, gettext, languages, ngettext
from service.web.pages.blueprint import current_session_id, go_back, go_to, moderator, pages
from service.web.pages.login import typed

# The session's key for the offered seed and its time. Codes also need a secret of the server.
_OFFERED = "offered_factor"
_OFFER_SECONDS = 600


@pages.get("/me")
def me() -> ResponseReturnValue:
    user = moderator()
    return render_template(
        "me.html",
        preferences=user.preferences,
        languages=[(tag, language_name(tag)) for tag in languages()],
        sessions=signing_in.list_sessions(user, services),
        current=current_session_id(),
        factor=services.second_factors.get(user.id),
        takes_digests=services.send_mail is not None and user.may(Permission.DECIDE),
    )


@pages.post("/me/digest", needs=Permission.LOOK)
def keep_digest_address() -> ResponseReturnValue:
    try:
        set_mail(moderator(), request.form.get("mail", ""), services)
    except InvalidInputError:
        flash(gettext("Not a valid email address. Write it as name@example.org."), "refusal")
        return go_to("pages.me")
    return go_to("pages.me", gettext("Preferences saved."))


@pages.post("/me/preferences", needs=Permission.LOOK)
def keep_preferences() -> ResponseReturnValue:
    chosen = request.form.get("language")
    preferences = replace(
        moderator().preferences,
        language=chosen if chosen in languages() else None,
        blur="blur" in request.form,
        compact="compact" in request.form,
    )
    set_preferences(moderator(), preferences, services)
    choose_language(preferences.language)
    return go_to("pages.me", gettext("Preferences saved."))


@pages.post("/me/density", needs=Permission.LOOK)
def change_density() -> ResponseReturnValue:
    preferences = moderator().preferences
    set_preferences(moderator(), replace(preferences, compact=not preferences.compact), services)
    return go_back()


@pages.post("/me/sessions/<id:session_id>/end", needs=Permission.LOOK)
def end_my_session(session_id: str) -> ResponseReturnValue:
    if session_id == current_session_id():
        abort(HTTPStatus.NOT_FOUND)
    signing_in.end_session(session_id, moderator(), services)
    return go_to("pages.me", gettext("That session has ended."))


@pages.post("/me/sessions/end-others", needs=Permission.LOOK)
def end_my_other_sessions() -> ResponseReturnValue:
    ended = signing_in.end_other_sessions(current_session_id(), moderator(), services)
    return go_to(
        "pages.me",
        ngettext("%(num)s other session has ended.", "%(num)s other sessions have ended.", ended),
    )


def language_name(tag: str) -> str:
    name = Locale.parse(tag, sep="-").get_display_name() or tag
    return name[:1].upper() + name[1:]


@pages.get("/me/second-factor")
def second_factor() -> ResponseReturnValue:
    return _page()


@pages.post("/me/second-factor/offer", needs=Permission.LOOK)
def offer_factor() -> ResponseReturnValue:
    user = moderator()
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    offer = signing_in.offer_second_factor(user, services)
    session[_OFFERED] = {"seed": offer.seed, "at": int(services.clock().timestamp())}
    return go_to("pages.second_factor")


@pages.post("/me/second-factor", needs=Permission.LOOK)
def confirm_factor() -> ResponseReturnValue:
    user = moderator()
    offer = _offered(user)
    if offer is None or services.second_factors.get(user.id) is not None:
        return go_to("pages.second_factor")
    try:
        codes = signing_in.turn_on_second_factor(
            user, services, seed=offer.seed, code=typed("code")
        )
    except InvalidInputError:
        refusal = gettext("Incorrect code: type the one that the app shows now.")
        return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    session.pop(_OFFERED, None)
    return _page(codes=codes)


@pages.post("/me/second-factor/codes", needs=Permission.LOOK)
def renew_codes() -> ResponseReturnValue:
    user = moderator()
    if services.second_factors.get(user.id) is None:
        return go_to("pages.second_factor")
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    return _page(codes=signing_in.renew_recovery_codes(user, services))


@pages.post("/me/second-factor/off", needs=Permission.LOOK)
def turn_off_factor() -> ResponseReturnValue:
    user = moderator()
    if current_app.config["REQUIRE_SECOND_FACTOR"]:
        return go_to("pages.second_factor")
    if not check_password(user, typed("password"), services):
        return _wrong_password()
    signing_in.turn_off_second_factor(user, services, actor=user.name)
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
    return _page(refusal=gettext("This is not your password.")), HTTPStatus.UNPROCESSABLE_ENTITY


def _offered(user: User) -> signing_in.Offer | None:
    """Return the second factor that was offered in this session in the last ten minutes."""
    offered = session.get(_OFFERED)
    if offered is None or services.clock().timestamp() - offered["at"] > _OFFER_SECONDS:
        return None
    return signing_in.offer_second_factor(user, services, seed=offered["seed"])


def _square(offer: signing_in.Offer) -> Markup:
    """Return the QR code of an offer as SVG without styles or scripts."""
    svg = segno.make_qr(offer.uri, error="m").svg_inline(
        svgclass="square", lineclass=None, omitsize=True, border=3, dark="#000", light="#fff"
    )
    return Markup(svg)  # noqa: S704  # the library only writes numbers
