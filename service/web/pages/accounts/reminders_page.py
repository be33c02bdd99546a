"""The page on which a person chooses to be reminded, and sees what became of reminders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.errors import ConflictError, InvalidInputError
from service.domain.reminder import (
    TEST,
    MailFailure,
    Reminder,
    ReminderPlan,
    ReminderState,
    Threshold,
    parse_threshold,
)
from service.domain.user import Permission
from service.moderation.reminding.own import ask_for_test, set_mail
from service.moderation.reminding.remind import CUT_OFF, is_reminded
from service.ports.services import Services
from service.web.edge.language import gettext, ngettext, noted, number
from service.web.pages.common.call_problems import PROBLEMS_IN_WORDS
from service.web.pages.common.pages import moderator, needs
from service.web.pages.common.presenting import Moment, tell_time

_TOLD, _REFUSED = "told_reminders", "refused_reminders"
_READ, _SHOWN = 200, 20
_STATES: Mapping[ReminderState, str] = {
    ReminderState.WAITING: noted("waits to be sent"),
    ReminderState.SENDING: noted("is being sent"),
    ReminderState.SENT: noted("sent"),
    ReminderState.UNCERTAIN: noted("may have arrived; not sent again"),
    ReminderState.GIVEN_UP: noted("given up"),
    ReminderState.OVER: noted("not needed any more"),
}
_PROBLEMS: Mapping[str, str] = {
    MailFailure.NO_CONNECTION.value: noted("no connection to the mail server, or it broke off"),
    MailFailure.TLS.value: noted("the mail server offers no encryption that can be trusted"),
    MailFailure.CREDENTIALS.value: noted("the mail server refuses the user name or the password"),
    MailFailure.SENDER.value: noted("the mail server refuses the sender's address"),
    MailFailure.RECIPIENT.value: noted("the mail server refuses the recipient's address"),
    MailFailure.REFUSED.value: noted("the mail server refuses the mail"),
    MailFailure.UNCERTAIN.value: noted("the mail server did not confirm what it was given"),
    CUT_OFF: noted("sending was cut off, so it may have arrived"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderView:
    """One reminder: to whom, why, how far it came and what stands in its way."""

    to: str
    occasion: str
    state: str
    problem: str
    written: Moment
    attempts: int


def add_reminders(pages: Blueprint, services: Services, plan: ReminderPlan) -> None:
    """Add the page, and the forms that keep an address and ask for tests."""

    @pages.get("/reminders")
    def reminders() -> ResponseReturnValue:
        user = moderator()
        names = {one.id: one.name for one in services.accounts.users.all()}
        sees_all = user.may(Permission.MANAGE_ACCOUNTS)
        now = services.common.clock()
        found = [
            _view(one, names, now)
            for one in services.reminding.reminders.recent(limit=_READ)
            if sees_all or one.user_id == user.id
        ]
        return render_template(
            "reminders.html",
            plan=plan,
            occasions=[_in_words(one) for one in plan.thresholds],
            quiet=[f"{one:%H:%M}" for one in plan.quiet] if plan.quiet else None,
            address=user.preferences.mail or "",
            reminded=is_reminded(user),
            runs_place=sees_all,
            reminders=found[:_SHOWN],
            told=session.pop(_TOLD, None),
            refused=session.pop(_REFUSED, None),
        )

    @pages.post("/reminders/mail")
    @needs(Permission.LOOK)
    def keep_mail() -> ResponseReturnValue:
        try:
            user = set_mail(
                moderator(), request.form.get("mail", ""), services.accounts, services.common
            )
        except InvalidInputError:
            refused = gettext("That is no mail address. Write it as name@example.org.")
            return _back(refused=refused)
        if user.preferences.mail:
            return _back(gettext("You are reminded at this address. A test shows that it works."))
        return _back(gettext("You are reminded no more."))

    @pages.post("/reminders/test")
    @needs(Permission.LOOK)
    def test_mail() -> ResponseReturnValue:
        return _test(in_room=False)

    @pages.post("/reminders/test-room")
    @needs(Permission.MANAGE_ACCOUNTS)
    def test_room() -> ResponseReturnValue:
        return _test(in_room=True)

    def _test(*, in_room: bool) -> ResponseReturnValue:
        try:
            ask_for_test(moderator(), services.reminding, services.common, in_room=in_room)
        except InvalidInputError:
            return _back(refused=gettext("Give a mail address first."))
        except ConflictError:
            return _back(refused=gettext("The last test is not a minute old. Wait for it."))
        return _back(
            gettext("A test is sent within half a minute. What becomes of it stands below.")
        )


def _back(told: str = "", *, refused: str = "") -> ResponseReturnValue:
    if told:
        session[_TOLD] = told
    if refused:
        session[_REFUSED] = refused
    return redirect(url_for("pages.reminders"), HTTPStatus.SEE_OTHER)


def _in_words(threshold: Threshold) -> str:
    hours = threshold.longer_than // timedelta(hours=1)
    since = ngettext("longer than one hour", "longer than %(num)s hours", hours)
    return ngettext(
        "one comment waits %(since)s",
        "%(number)s comments wait %(since)s",
        threshold.number,
        number=number(threshold.number),
        since=since,
    )


def _view(one: Reminder, names: Mapping[str, str], now: datetime) -> ReminderView:
    return ReminderView(
        to=names.get(one.user_id or "", "") or gettext("the chat room"),
        occasion=gettext("a test") if one.occasion == TEST else _occasion(one.occasion),
        state=gettext(_STATES[one.state]),
        problem=_problem(one.problem or ""),
        written=tell_time(one.created_at, now),
        attempts=one.attempts,
    )


def _occasion(written: str) -> str:
    try:
        return _in_words(parse_threshold(written))
    except ValueError:
        # A later version may write it in another way.
        return written


def _problem(given: str) -> str:
    """Return what went wrong in the reader's language, with the server's number behind it."""
    words, _, code = given.partition(" (")
    known = _PROBLEMS.get(words) or PROBLEMS_IN_WORDS.get(words)
    return (gettext(known) if known else words) + (f" ({code}" if code else "")
