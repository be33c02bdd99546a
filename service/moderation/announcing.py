"""Writes messages that notify sites of verdicts and rulings, and triggers their delivery."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.delivery import Delivery, DeliveryForm, Endpoint, EventKind
from service.domain.errors import ModerationError
from service.domain.published import StatementLinks, as_published
from service.domain.verdict import Verdict
from service.moderation.delivering import BUILD_EVERY, wants_message
from service.ports.audit import Acts
from service.ports.services import Services
from service.scoring.rules import REASONS

log = logging.getLogger(__name__)

Endpoints = Mapping[SiteId, Endpoint | None]
"""The endpoint of each site, None for a site without one."""


def _tell_of_decisions(seen: Iterable[Case], services: Services, *, at_once: bool = False) -> None:
    """Deliver the messages that were stored with decisions or their undoing.

    `seen` are the cases as they were before. If a verdict was stored meanwhile, another message is
    written. If a store is unavailable, only that message is lost, which is logged.
    """
    unjudged = {case.comment.id: case for case in seen if case.verdict is None}
    try:
        found = services.cases.find(list(unjudged)) if unjudged else ()
        late = [case for case in found if case.verdict is not None]
        messages = write_decision_messages(
            [case for case in late if case.decision], services, at_once=at_once
        )
        # The verdict's message named a decision that was undone since, and may have been withdrawn.
        before_ruled = [case for case in late if unjudged[case.comment.id].decision]
        messages += write_verdict_messages(before_ruled, services)
        if messages:
            services.deliveries.add(messages)
    except ModerationError:
        log.exception("a site was not told", extra={"comment_id": ",".join(unjudged)})
    wake_deliverers(services)


def write_verdict_messages(
    cases: Sequence[Case], services: Services, endpoints: Endpoints | None = None
) -> list[Delivery]:
    """Return the messages to store with verdicts: the verdict, and a request for review.

    With `endpoints`, from `endpoints_of`, no store is read.
    """
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

    `before` are the cases as they were before a decision or its undoing; without it no builds are
    triggered.
    """
    if endpoints is None:
        endpoints = endpoints_of((case for case, _ in events), services)
    known = {case.comment.id: case for case in before}
    return [
        _delivery(case, event, endpoint, services)
        for case, event in events
        if (endpoint := endpoints[case.comment.site_id])
        and wants_message(case, event, endpoint, known.get(case.comment.id))
    ]


def endpoints_of(cases: Iterable[Case], services: Services) -> Endpoints:
    """Return the endpoints of these cases' sites."""
    site_ids = {case.comment.site_id for case in cases}
    return {site_id: services.endpoints.get(site_id) for site_id in site_ids}


def write_ruling_messages(
    cases: Sequence[Case], services: Services, *, before: Iterable[Case], at_once: bool = False
) -> list[Delivery]:
    """Return the messages to store with rulings or their undoing.

    `before` are the same cases as they were before. Verdicts' messages are included: the store uses
    them to replace those that were withdrawn with an earlier ruling.
    """
    judged = [case for case in cases if case.verdict is not None]
    return [
        *write_decision_messages(cases, services, before=before, at_once=at_once),
        *write_verdict_messages(judged, services),
    ]


def write_decision_messages(
    cases: Sequence[Case], services: Services, *, before: Iterable[Case] = (), at_once: bool = False
) -> list[Delivery]:
    """Return the messages about rulings or their undoing, to be stored with them.

    A ruling is sent after its site's undo time, and an undo before that withdraws the message. With
    `at_once`, for rulings of the site itself, there is no undo time. An undo is sent at once.
    """
    events = [(case, EventKind.DECISION) for case in cases]
    messages = write_messages(events, services, before=before)
    if at_once or not messages:
        return messages
    decisions = {case.comment.id: case.decision for case in cases}
    seconds = {
        site_id: services.sites.get(site_id).settings.undo_seconds
        for site_id in {message.site_id for message in messages}
    }
    for place, message in enumerate(messages):
        decision, wait = decisions[message.comment_id], seconds[message.site_id]
        # The site shows a ruling at once, so its undoing needs a build too.
        if decision is not None and wait and message.form is not DeliveryForm.BUILD_HOOK:
            due_at = decision.decided_at + timedelta(seconds=wait)
            messages[place] = replace(message, next_try_at=due_at, decision_id=decision.id)
    return messages


def write_withdrawn_messages(cases: Iterable[Case], services: Services) -> list[Delivery]:
    """Return the messages that make sites rebuild their pages without withdrawn comments.

    They are to be stored with the withdrawal; `cases` are as they were before it.
    """
    shown = [case for case in cases if as_published(case)]
    endpoints = {
        site_id: endpoint if endpoint and endpoint.form is DeliveryForm.BUILD_HOOK else None
        for site_id, endpoint in endpoints_of(shown, services).items()
    }
    now = services.clock()
    events = [(replace(case, withdrawn_at=now), EventKind.DECISION) for case in shown]
    return write_messages(events, services, endpoints, before=shown)


def wake_deliverers(services: Services) -> None:
    """Wake the process that delivers. If that fails, messages are sent some seconds later."""
    try:
        services.delivery_queue.wake()
    except ModerationError as error:
        log.warning("deliveries wait for the clock", extra={"error": type(error).__name__})


def _delivery(case: Case, event: EventKind, endpoint: Endpoint, services: Services) -> Delivery:
    now = services.clock()
    builds = endpoint.form is DeliveryForm.BUILD_HOOK
    return Delivery(
        id=services.new_id("msg"),
        seq=0,
        site_id=case.comment.site_id,
        comment_id=case.comment.id,
        event=event,
        form=endpoint.form,
        url=endpoint.url,
        payload=(
            # A platform's act is chosen when it is sent.
            "{}" if endpoint.form.is_call else _payload(case, event, now, services.statements)
        ),
        created_at=now,
        next_try_at=now + BUILD_EVERY if builds else None,
        # A verdict that follows a ruling is sent only while that ruling is in force.
        decision_id=(
            case.decision.id
            if case.decision and event is not EventKind.DECISION and not builds
            else None
        ),
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


def record_rulings(
    cases: Sequence[Case],
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    note: str | None = None,
    bulk_decision_id: str | None = None,
    acts: Acts | None = None,
    open_only: bool = False,
    at_once: bool = False,
) -> list[DecidedComment]:
    """Record rulings on these comments in one transaction; return the changes as `add_many`.

    `at_once` is for rulings of the comments' own site, which need no undo time.
    """
    now = services.clock()
    decisions = [
        Decision(
            id=services.new_id("dec"),
            comment_id=case.comment.id,
            ruling=ruling,
            decided_by=decided_by,
            decided_at=now,
            note=note,
            bulk_decision_id=bulk_decision_id,
        )
        for case in cases
    ]
    ruled = [replace(case, decisions=(one,)) for case, one in zip(cases, decisions, strict=True)]
    messages = write_ruling_messages(ruled, services, before=cases, at_once=at_once)
    changed = services.decisions.add_many(
        decisions, deliveries=messages, acts=acts, open_only=open_only
    )
    return deliver_changes(cases, changed, messages, services, at_once=at_once)


def undo_rulings(
    cases: Sequence[Case], services: Services, *, by: str, acts: Acts | None = None
) -> list[DecidedComment]:
    """Undo these comments' decisions in one transaction; return the undone decisions."""
    undone = [replace(case, decisions=()) for case in cases]
    messages = write_ruling_messages(undone, services, before=cases, at_once=True)
    changed = services.decisions.undo_many(
        [case.decision for case in cases if case.decision],
        by=by,
        at=services.clock(),
        deliveries=messages,
        acts=acts,
    )
    return deliver_changes(cases, changed, messages, services)


def deliver_changes(
    cases: Sequence[Case],
    changed: Sequence[Decision],
    messages: Sequence[Delivery],
    services: Services,
    *,
    at_once: bool = False,
) -> list[DecidedComment]:
    """Deliver the messages of changed decisions; return these with their comments."""
    seen = {case.comment.id: case for case in cases}
    if messages:
        ids = dict.fromkeys(one.comment_id for one in changed)
        _tell_of_decisions([seen[one] for one in ids], services, at_once=at_once)
    return [DecidedComment(decision=one, comment=seen[one.comment_id].comment) for one in changed]
