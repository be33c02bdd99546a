"""Looks which thresholds are crossed, and tells each recipient once of each crossing."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.delivery import RETRY_DELAYS
from service.domain.reminder import (
    TEST,
    Channel,
    Mail,
    Reminder,
    ReminderPlan,
    ReminderState,
    SentReminder,
    SiteWaiting,
    Threshold,
    WaitingFacts,
    Written,
)
from service.domain.user import Permission, User
from service.ports.services import AccountsPorts, CommonPorts, RemindingPorts, ReviewPorts, Services

log = logging.getLogger(__name__)

Write = Callable[[WaitingFacts, str], Written]
"""Writes a reminder of these facts in this language."""

# Longer than any sending takes.
LEND_FOR = timedelta(minutes=5)
# Who clears the queue all day long crosses a threshold again and again.
AT_MOST_EVERY = timedelta(hours=1)
KEEP_FOR = timedelta(days=90)
# Sites named in one message, and comments quoted in it.
_MOST_SITES = 20
_MOST_QUOTES = 3
_QUOTE_CHARS = 120
CUT_OFF = "sending was cut off, so it may have arrived"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipient:
    """Whom to tell: an account at its address, or the room; of what sites; in what language."""

    channel: Channel
    user_id: str | None
    address: str
    site_ids: tuple[SiteId, ...] | None
    language: str


def remind(
    plan: ReminderPlan,
    services: Services,
    write: Write,
    *,
    delays: Sequence[float] = RETRY_DELAYS,
) -> int:
    """Send what is due now and return how many messages were taken.

    Of one crossing a recipient hears once. A message that was not taken is tried again after the
    next of `delays`, in seconds, as long as its crossing lasts; one that may have arrived is not.
    In quiet hours only tests are sent. Raises `StoreUnavailableError`; the next call goes on.
    """
    now = services.common.clock()
    services.reminding.reminders.end_lost(now, problem=CUT_OFF)
    recipients = _recipients(plan, services.accounts)
    is_quiet = plan.is_quiet(now)
    if not is_quiet:
        _note_crossings(recipients, plan, services)
    due = services.reminding.reminders.take_due(
        now, until=now + LEND_FOR, occasion=TEST if is_quiet else None
    )
    together: dict[str | None, list[Reminder]] = defaultdict(list)
    for one in due:
        together[one.user_id].append(one)
    sent = sum(
        _send(some, recipients.get(user_id), plan, services, write, delays)
        for user_id, some in together.items()
    )
    services.reminding.reminders.prune(before=now - KEEP_FOR)
    return sent


def facts_for(
    site_ids: tuple[SiteId, ...] | None,
    plan: ReminderPlan,
    review: ReviewPorts,
    common: CommonPorts,
    *,
    occasions: Sequence[str] = (),
    quotes: bool = False,
) -> WaitingFacts:
    """Return what waits at these sites, all for None, as a reminder tells it."""
    crossed = tuple(
        (threshold, _waiting(threshold, site_ids, review, common))
        for threshold in plan.thresholds
        if threshold.name in occasions
    )
    by_site = [
        SiteWaiting(name=site.name, number=number)
        for site in common.sites.all()
        if (site_ids is None or site.id in site_ids)
        and (number := review.cases.count(CaseFilter(site_id=site.id, needs_review=True)))
    ]
    by_site.sort(key=lambda one: (-one.number, one.name))
    return WaitingFacts(
        crossed=crossed,
        number=sum(one.number for one in by_site),
        sites=tuple(by_site[:_MOST_SITES]),
        pages_url=plan.pages_url,
        is_test=TEST in occasions,
        quotes=_quotes(site_ids, review) if quotes else (),
    )


def _recipients(plan: ReminderPlan, accounts: AccountsPorts) -> Mapping[str | None, _Recipient]:
    found: dict[str | None, _Recipient] = {}
    if plan.in_room:
        found[None] = _Recipient(
            channel=Channel.ROOM,
            user_id=None,
            address="",
            site_ids=None,
            language=plan.language,
        )
    if plan.by_mail:
        for user in accounts.users.all():
            address = user.preferences.mail
            if address and is_reminded(user):
                found[user.id] = _Recipient(
                    channel=Channel.MAIL,
                    user_id=user.id,
                    address=address,
                    site_ids=user.site_ids,
                    language=user.preferences.language or plan.language,
                )
    return found


def is_reminded(user: User) -> bool:
    """Say whether an account can do anything about what waits."""
    return user.ended_at is None and user.may(Permission.DECIDE)


def _note_crossings(
    recipients: Mapping[str | None, _Recipient], plan: ReminderPlan, services: Services
) -> None:
    """Keep a reminder of each new crossing, and end those that are over."""
    now = services.common.clock()
    told = {(one.user_id, one.occasion): one for one in services.reminding.reminders.in_force()}
    counted: dict[tuple[Threshold, tuple[SiteId, ...] | None], int] = {}
    over = {
        one.id
        for (user_id, occasion), one in told.items()
        if occasion != TEST and not _is_planned(user_id, occasion, recipients, plan)
    }
    for user_id, recipient in recipients.items():
        newest = services.reminding.reminders.newest_of(user_id)
        rests = (
            newest is not None
            and newest.occasion != TEST
            and newest.created_at > now - AT_MOST_EVERY
        )
        for threshold in plan.thresholds:
            key = (threshold, recipient.site_ids)
            if key not in counted:
                counted[key] = _waiting(
                    threshold, recipient.site_ids, services.review, services.common
                )
            before = told.get((user_id, threshold.name))
            if before is not None and threshold.is_over(counted[key]):
                over.add(before.id)
            elif before is None and threshold.is_crossed(counted[key]) and not rests:
                services.reminding.reminders.add(
                    _reminder(recipient, threshold.name, services.common)
                )
    if over:
        services.reminding.reminders.end_crossings(sorted(over), at=now)


def _is_planned(
    user_id: str | None,
    occasion: str,
    recipients: Mapping[str | None, _Recipient],
    plan: ReminderPlan,
) -> bool:
    return user_id in recipients and occasion in {one.name for one in plan.thresholds}


def _waiting(
    threshold: Threshold,
    site_ids: tuple[SiteId, ...] | None,
    review: ReviewPorts,
    common: CommonPorts,
) -> int:
    before = common.clock() - threshold.longer_than
    return review.cases.count(
        CaseFilter(site_ids=site_ids, needs_review=True, received_before=before)
    )


def _reminder(recipient: _Recipient, occasion: str, common: CommonPorts) -> Reminder:
    now = common.clock()
    return Reminder(
        id=common.new_id("rem"),
        channel=recipient.channel,
        user_id=recipient.user_id,
        occasion=occasion,
        created_at=now,
        next_try_at=now,
    )


def _send(
    some: Sequence[Reminder],
    recipient: _Recipient | None,
    plan: ReminderPlan,
    services: Services,
    write: Write,
    delays: Sequence[float],
) -> int:
    """Send these to their recipient in one message; return 1 if it was taken."""
    if recipient is None:
        said = SentReminder(problem="there is no address to send to", hopeless=True)
    else:
        is_mail = recipient.channel is Channel.MAIL
        facts = facts_for(
            recipient.site_ids,
            plan,
            services.review,
            services.common,
            occasions=[one.occasion for one in some],
            quotes=plan.quotes and is_mail,
        )
        written = write(facts, recipient.language)
        if is_mail:
            mail = Mail(to=recipient.address, message_id=some[0].id, written=written)
            said = services.reminding.mailer.send(mail)
        else:
            said = services.reminding.room.post(written.text)
    for one in some:
        _record(one, said, services.reminding, services.common, delays)
    return 0 if said.problem else 1


def _record(
    one: Reminder,
    said: SentReminder,
    reminding: RemindingPorts,
    common: CommonPorts,
    delays: Sequence[float],
) -> None:
    now = common.clock()
    state, next_try_at = ReminderState.SENT, None
    if said.uncertain:
        state = ReminderState.UNCERTAIN
    elif said.problem and (said.hopeless or one.attempts > len(delays)):
        state = ReminderState.GIVEN_UP
    elif said.problem:
        state = ReminderState.WAITING
        next_try_at = now + timedelta(seconds=delays[one.attempts - 1])
    ended = state is not ReminderState.WAITING
    reminding.reminders.record(
        one.id,
        state=state,
        at=now,
        problem=said.problem,
        next_try_at=next_try_at,
        is_over=ended and one.occasion == TEST,
    )
    log.info(
        "reminder sent" if not said.problem else "reminder not sent",
        extra={
            "reminder_id": one.id,
            "channel": one.channel.value,
            "state": state.value,
            "problem": said.problem or "",
        },
    )


def _quotes(site_ids: tuple[SiteId, ...] | None, review: ReviewPorts) -> tuple[str, ...]:
    """Return how the comments begin that should be decided first, on one line each."""
    page = review.cases.page(
        CaseFilter(site_ids=site_ids, needs_review=True),
        order=Order.REVIEW,
        cursor=None,
        limit=_MOST_QUOTES,
    )
    return tuple(_beginning(case.comment.text) for case in page.cases)


def _beginning(text: str) -> str:
    words = " ".join(text[: 4 * _QUOTE_CHARS].split())
    # Nothing that turns the text around it, and nothing that a mail cannot carry.
    shown = "".join(sign for sign in words if sign.isprintable())
    return shown if len(shown) <= _QUOTE_CHARS else f"{shown[:_QUOTE_CHARS].rstrip()}…"
