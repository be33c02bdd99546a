"""Writes messages that notify sites of verdicts and rulings, and triggers their delivery."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from service.domain.case import Case, SpamOnly
from service.domain.comment import CommentId, SiteId
from service.domain.decision import DecidedComment, Decision
from service.domain.delivery import Delivery, DeliveryForm, Endpoint, EventKind
from service.domain.errors import ModerationError
from service.domain.published import StatementLinks, as_published
from service.domain.verdict import Verdict
from service.moderation.delivering import BUILD_EVERY, wants_message
from service.ports.audit import CountAct
from service.ports.services import Services
from service.scoring.rules import REASONS

log = logging.getLogger(__name__)

Endpoints = Mapping[SiteId, Endpoint | None]


def _send_changes(seen: Iterable[Case], services: Services, *, at_once: bool = False) -> None:
    """Deliver the messages stored with decisions; `seen` are the cases as they were before.

    If a verdict was stored meanwhile, another message is written, which an outage may lose.
    """
    unjudged = {case.comment.id: case for case in seen if case.verdict is None}
    try:
        found = services.cases.find(list(unjudged)) if unjudged else ()
        late = [case for case in found if case.verdict is not None]
        ruled = [case for case in late if case.decision]
        messages = _write_decision_messages(ruled, services, at_once=at_once)
        # The verdict's message named a decision that was undone since, and may have been withdrawn.
        before_ruled = [case for case in late if unjudged[case.comment.id].decision]
        messages += write_verdict_messages(before_ruled, services)
        if messages:
            services.deliveries.add(messages)
    except ModerationError:
        log.exception("site notification failed", extra={"comment_id": ",".join(unjudged)})
    wake_deliverers(services)


def write_verdict_messages(
    cases: Sequence[Case], services: Services, endpoints: Endpoints | None = None
) -> list[Delivery]:
    """Return the verdicts' messages, and requests for review. See `write_messages`."""
    events = []
    for case in cases:
        events.append((case, EventKind.VERDICT))
        if case.needs_review:
            events.append((case, EventKind.REVIEW))
    return write_messages(events, services, endpoints)


def write_messages(
    events: Sequence[tuple[Case, EventKind]],
    services: Services,
    endpoints: Endpoints | None = None,
    *,
    before: Iterable[Case] = (),
) -> list[Delivery]:
    """Return a message for each event that its site has subscribed to, in order.

    `before`, the cases before a decision, triggers builds. With `endpoints` no store is read.
    """
    if endpoints is None:
        site_ids = {case.comment.site_id for case, _ in events}
        endpoints = {site_id: services.endpoints.get(site_id) for site_id in site_ids}
    known = {case.comment.id: case for case in before}
    return [
        _delivery(case, event, endpoint, services)
        for case, event in events
        if (endpoint := endpoints[case.comment.site_id])
        and wants_message(case, event, endpoint, known.get(case.comment.id))
    ]


def _write_decision_messages(
    cases: Sequence[Case], services: Services, *, before: Iterable[Case] = (), at_once: bool = False
) -> list[Delivery]:
    events = [(case, EventKind.DECISION) for case in cases]
    messages = write_messages(events, services, before=before)
    ruled = {case.comment.id: case.decision for case in cases if case.decision and not at_once}
    site_ids = {message.site_id for message in messages if message.comment_id in ruled}
    waits = {one: services.sites.get(one).settings.undo_seconds for one in site_ids}
    for place, message in enumerate(messages):
        decision, wait = ruled.get(message.comment_id), waits.get(message.site_id)
        # The site shows a ruling at once, so its undoing needs a build too.
        if decision is not None and wait and message.form is not DeliveryForm.BUILD_HOOK:
            # An undo before that withdraws the message.
            due_at = decision.decided_at + timedelta(seconds=wait)
            messages[place] = replace(message, next_try_at=due_at, decision_id=decision.id)
    return messages


def withdraw(
    ids: Sequence[CommentId],
    services: Services,
    *,
    at: datetime,
    act: CountAct | None = None,
    only: SpamOnly | None = None,
) -> int:
    """Withdraw comments, and have sites rebuild the pages that showed them; return how many."""
    shown = [case for case in services.cases.find(ids) if as_published(case)]
    events = [(replace(case, withdrawn_at=at), EventKind.DECISION) for case in shown]
    messages = write_messages(events, services, before=shown)
    builds = [message for message in messages if message.form is DeliveryForm.BUILD_HOOK]
    withdrawn = services.personal_data.withdraw(ids, at=at, act=act, deliveries=builds, only=only)
    if builds:
        wake_deliverers(services)
    return withdrawn


def wake_deliverers(services: Services) -> None:
    """Wake the process that delivers. If that fails, messages are sent some seconds later."""
    try:
        services.delivery_queue.wake()
    except ModerationError as error:
        log.warning("delivery delayed until the next poll", extra={"error": type(error).__name__})


def _delivery(case: Case, event: EventKind, endpoint: Endpoint, services: Services) -> Delivery:
    now = services.clock()
    builds = endpoint.form is DeliveryForm.BUILD_HOOK
    decision = None if builds or event is EventKind.DECISION else case.decision
    return Delivery(
        id=services.new_id("msg"),
        seq=0,
        site_id=case.comment.site_id,
        comment_id=case.comment.id,
        event=event,
        form=endpoint.form,
        url=endpoint.url,
        # A platform's act is chosen when it is sent.
        payload="{}" if endpoint.form.is_call else _payload(case, event, now, services.statements),
        created_at=now,
        next_try_at=now + BUILD_EVERY if builds else None,
        # A verdict that follows a ruling is sent only while that ruling is in force.
        decision_id=decision.id if decision else None,
    )


def _payload(case: Case, event: EventKind, now: datetime, statements: StatementLinks) -> str:
    """Return the message's body: ids and conclusions, no text of the comment."""
    verdict, decision = case.verdict, case.decision
    if event is EventKind.DECISION:
        at = decision.decided_at if decision else now
    else:
        at = verdict.judged_at if verdict else now
    return json.dumps(
        {
            "type": event.value,
            "timestamp": at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "data": {
                "id": case.comment.id,
                "site_comment_id": case.comment.site_comment_id,
                "state": case.state.value,
                "action": case.action.value,
                "outcome": verdict.outcome.value if verdict else None,
                "p_spam": verdict.p_spam if verdict else None,
                "degraded": verdict.degraded if verdict else None,
                "reasons": _reasons(verdict),
                "needs_review": case.needs_review,
                "ruling": decision.ruling.value if decision else None,
                "statement_url": statements.url_of(case),
            },
        },
        separators=(",", ":"),
    )


def _reasons(verdict: Verdict | None) -> list[str]:
    """Return the rules that apply, then the reasons for spam or ham, the weightiest first."""
    if verdict is None:
        return []
    weighed = sorted(verdict.signals, key=lambda one: -abs(one.contribution))
    reasons = (one.signal.reason for one in weighed if one.contribution)
    held = (REASONS[rule] for rule in verdict.held_by)
    # Receivers expect messages below some 20 kB, and more reasons do not help.
    return list(dict.fromkeys([*held, *reasons]))[:20]


def change_rulings(
    cases: Sequence[Case],
    after: Sequence[Decision | None],
    store: Callable[..., list[Decision]],
    services: Services,
    *,
    at_once: bool = False,
) -> list[DecidedComment]:
    """Rule on cases, or undo their decisions (`after` is None); return the changes with comments.

    `store` stores them with `deliveries` and returns the changed decisions. A ruling is sent after
    its site's undo time, or `at_once` for rulings of the site itself.
    """
    changed_cases = [
        replace(case, decisions=(one,) if one else ())
        for case, one in zip(cases, after, strict=True)
    ]
    judged = [case for case in changed_cases if case.verdict is not None]
    messages = [
        *_write_decision_messages(changed_cases, services, before=cases, at_once=at_once),
        # The store uses them to replace those that were withdrawn with an earlier ruling.
        *write_verdict_messages(judged, services),
    ]
    changed = store(deliveries=messages)
    seen = {case.comment.id: case for case in cases}
    if messages:
        ids = dict.fromkeys(one.comment_id for one in changed)
        _send_changes([seen[one] for one in ids], services, at_once=at_once)
    return [DecidedComment(decision=one, comment=seen[one.comment_id].comment) for one in changed]


def undo_rulings(
    cases: Sequence[Case], services: Services, *, by: str, act: CountAct | None = None
) -> list[DecidedComment]:
    """Undo these comments' decisions in one transaction; return the undone decisions."""
    decisions = [case.decision for case in cases if case.decision]
    undo = partial(services.decisions.undo_many, decisions, by=by, at=services.clock(), act=act)
    return change_rulings(cases, [None] * len(cases), undo, services)
