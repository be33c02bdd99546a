"""Lets a person choose where they are reminded, and see that reminders arrive."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.domain.errors import ConflictError, InvalidInputError, Problem
from service.domain.reminder import (
    TEST,
    Channel,
    Reminder,
    is_mail_address,
)
from service.domain.user import User
from service.moderation.admin.acts import make_act
from service.ports.services import AccountsPorts, CommonPorts, RemindingPorts

# Nobody can have somebody else's letter box filled.
TEST_AT_MOST_EVERY = timedelta(minutes=1)


def set_mail(user: User, address: str, accounts: AccountsPorts, common: CommonPorts) -> User:
    """Keep where an account is reminded, nowhere for an empty address; return the account.

    Raises `InvalidInputError` for what is no mail address.
    """
    address = address.strip()
    if address and not is_mail_address(address):
        problem = Problem(
            field="mail",
            problem="is no mail address",
            remedy="write it as name@example.org, in ASCII letters",
        )
        raise InvalidInputError([problem])
    return accounts.users.change(
        user.id,
        lambda now, _: replace(now, preferences=replace(now.preferences, mail=address or None)),
        act=make_act(common, actor=user.name, act="set mail address", subject=user.id),
    )


def ask_for_test(
    user: User, reminding: RemindingPorts, common: CommonPorts, *, in_room: bool = False
) -> Reminder:
    """Have a test sent to an account, or to the room, within half a minute; return it.

    Raises `InvalidInputError` for an account without an address, and `ConflictError` if the last
    test is less than a minute old.
    """
    if not in_room and user.preferences.mail is None:
        problem = Problem(field="mail", problem="is not set", remedy="give a mail address first")
        raise InvalidInputError([problem])
    now = common.clock()
    user_id = None if in_room else user.id
    newest = reminding.reminders.newest_of(user_id)
    if newest and newest.occasion == TEST and newest.created_at > now - TEST_AT_MOST_EVERY:
        raise ConflictError("the last test is less than a minute old; wait for it")
    test = Reminder(
        id=common.new_id("rem"),
        channel=Channel.ROOM if in_room else Channel.MAIL,
        user_id=user_id,
        occasion=TEST,
        created_at=now,
        next_try_at=now,
    )
    if not reminding.reminders.add(test):
        raise ConflictError("a test waits to be sent already")
    return test
