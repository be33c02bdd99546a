"""The page of one's own account: preferences, and the sessions one is signed in with."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from babel import Locale
from flask import abort, flash, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.errors import InvalidInputError
from service.domain.user import Permission
from service.moderation.admin.accounts import set_mail, set_preferences
from service.moderation.admin.sessions import end_other_sessions, end_session, list_sessions
from service.web.edge.current import services
from service.web.edge.language import choose_language, gettext, languages, ngettext
from service.web.pages.common.pages import (
    current_session_id,
    go_back,
    go_to,
    moderator,
    needs,
    pages,
)


@pages.get("/me")
def me() -> ResponseReturnValue:
    user = moderator()
    return render_template(
        "me.html",
        preferences=user.preferences,
        languages=[(tag, language_name(tag)) for tag in languages()],
        sessions=list_sessions(user, services),
        current=current_session_id(),
        factor=services.second_factors.get(user.id),
        takes_digests=services.mailer is not None and user.may(Permission.DECIDE),
    )


@pages.post("/me/digest")
@needs(Permission.LOOK)
def keep_digest_address() -> ResponseReturnValue:
    try:
        set_mail(moderator(), request.form.get("mail", ""), services)
    except InvalidInputError:
        flash(gettext("Not a valid email address. Write it as name@example.org."), "refusal")
        return go_to("pages.me")
    return go_to("pages.me", gettext("Preferences saved."))


@pages.post("/me/preferences")
@needs(Permission.LOOK)
def keep_preferences() -> ResponseReturnValue:
    chosen = request.form.get("language")
    preferences = replace(
        moderator().preferences,
        language=chosen if chosen in languages() else None,
        blur="blur" in request.form,
        live="live" in request.form,
        compact="compact" in request.form,
    )
    set_preferences(moderator(), preferences, services)
    choose_language(preferences.language)
    return go_to("pages.me", gettext("Preferences saved."))


@pages.post("/me/density")
@needs(Permission.LOOK)
def change_density() -> ResponseReturnValue:
    preferences = moderator().preferences
    set_preferences(moderator(), replace(preferences, compact=not preferences.compact), services)
    return go_back()


@pages.post("/me/sessions/<id:session_id>/end")
@needs(Permission.LOOK)
def end_my_session(session_id: str) -> ResponseReturnValue:
    if session_id == current_session_id():
        abort(HTTPStatus.NOT_FOUND)
    end_session(session_id, moderator(), services)
    return go_to("pages.me", gettext("That session has ended."))


@pages.post("/me/sessions/end-others")
@needs(Permission.LOOK)
def end_my_other_sessions() -> ResponseReturnValue:
    ended = end_other_sessions(current_session_id(), moderator(), services)
    return go_to(
        "pages.me",
        ngettext("%(num)s other session has ended.", "%(num)s other sessions have ended.", ended),
    )


def language_name(tag: str) -> str:
    """Return what a language is called in itself."""
    name = Locale.parse(tag, sep="-").get_display_name() or tag
    return name[:1].upper() + name[1:]
