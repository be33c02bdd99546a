"""Writes messages that tell sites of verdicts and rulings, and has them delivered."""

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
from service.moderation.delivering import BUILD_EVERY, changes_site, wants_message
from service.ports.audit import Acts
from service.ports.services import Services
from service.scoring.rules import REASONS

log = logging.getLogger(__name__)

Endpoints = Mapping[SiteId, Endpoint | None]
"""Where sites want to be told, None where they want nothing."""

# Receivers expect messages below some 20 kB; this many reasons are more than anybody reads.
_MAX_REASONS = 20


def tell_of_decisions(seen: Iterable[Case], services: Services, *, at_once: bool = False) -> None:
    """Have messages delivered that were kept with decisions, or with their undoing.

    `seen` are the cases as they stood before. Of a verdict that came while the message was written,
    which therefore does not know it, the site is told once more. What happened has happened: a
    store that is away costs that message, which is logged, and nothing else.
    """
    unjudged = {case.comment.id: case for case in seen if case.verdict is None}
    try:
        found = services.cases.find(list(unjudged)) if unjudged else ()
        late = [case for case in found if case.verdict is not None]
        messages = write_decision_messages(
            [case for case in late if case.decision], services, at_once=at_once
        )
        # What told it knew of a decision that is none any more, and was perhaps withdrawn.
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
    """Return what sites want to know of verdicts: the verdict, and if a person must look.

    They are to be kept together with the verdicts, so that neither is there without the other.
    With `endpoints`, as `endpoints_of` returns them, no store is asked for anything.
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
    """Return a message for each event that its site wants to be told of, in order.

    `before` are the cases as they stood before a decision or its undoing; without it no site is
    built for that.
    """
    if endpoints is None:
        endpoints = endpoints_of((case for case, _ in events), services)
    known = {case.comment.id: case for case in before}
    return [
        _delivery(case, event, endpoint, services)
        for case, event in events
        if (endpoint := endpoints[case.comment.site_id])
        and _is_wanted(case, event, endpoint, known.get(case.comment.id))
    ]


def _is_wanted(case: Case, event: EventKind, endpoint: Endpoint, before: Case | None) -> bool:
    if event not in endpoint.events:
        return False
    if endpoint.form is DeliveryForm.BUILD_HOOK:
        return changes_site(case, event, before)
    return not endpoint.form.is_call or wants_message(case, event, endpoint)


def endpoints_of(cases: Iterable[Case], services: Services) -> Endpoints:
    """Return where the sites of these cases want to be told."""
    site_ids = {case.comment.site_id for case in cases}
    return {site_id: services.endpoints.get(site_id) for site_id in site_ids}


def write_ruling_messages(
    cases: Sequence[Case], services: Services, *, before: Iterable[Case], at_once: bool = False
) -> list[Delivery]:
    """Return what is to be kept together with rulings, or with their undoing, as cases stand.

    `before` are the same cases as they stood.
    That is what sites want to know of them, and their verdicts' messages anew: a store keeps those
    in place of such as told another ruling and were withdrawn with it (`DecisionStore.add`).
    """
    judged = [case for case in cases if case.verdict is not None]
    return [
        *write_decision_messages(cases, services, before=before, at_once=at_once),
        *write_verdict_messages(judged, services),
    ]


def write_decision_messages(
    cases: Sequence[Case], services: Services, *, before: Iterable[Case] = (), at_once: bool = False
) -> list[Delivery]:
    """Return what sites want to know of rulings, or of their undoing, as the cases stand.

    They are to be kept together with the rulings. A ruling is told once its site's undo time has
    passed, and can be taken back unsent until then; `at_once` is for rulings of the site itself.
    An undoing is told without delay.
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
    return [
        _held_back(message, decisions[message.comment_id], seconds[message.site_id])
        for message in messages
    ]


def _held_back(message: Delivery, decision: Decision | None, seconds: int) -> Delivery:
    # The site shows a ruling from its moment on, so a build is due for its undoing as well.
    if decision is None or not seconds or message.form is DeliveryForm.BUILD_HOOK:
        return message
    due_at = decision.decided_at + timedelta(seconds=seconds)
    return replace(message, next_try_at=due_at, decision_id=decision.id)


def write_withdrawn_messages(cases: Iterable[Case], services: Services) -> list[Delivery]:
    """Return the messages that make sites rebuild their pages without withdrawn comments.

    They are to be kept together with the withdrawal; `cases` are those as they stood before. A site
    that does not want that is told nothing.
    """
    now = services.clock()
    shown = [case for case in cases if as_published(case)]
    endpoints = endpoints_of(shown, services)
    events = [
        (replace(case, withdrawn_at=now), EventKind.DECISION)
        for case in shown
        if (endpoint := endpoints[case.comment.site_id])
        and endpoint.form is DeliveryForm.BUILD_HOOK
    ]
    return write_messages(events, services, endpoints, before=shown)


def wake_deliverers(services: Services) -> None:
    """Ask that messages go out now; if that cannot be asked, they go out some seconds later."""
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
            # What a platform is asked is settled when it is asked.
            "{}" if endpoint.form.is_call else _payload(case, event, now, services.statements)
        ),
        created_at=now,
        next_try_at=now + BUILD_EVERY if builds else None,
        # Of a verdict that came after a ruling the site hears as long as that ruling stands.
        decision_id=(
            case.decision.id
            if case.decision and event is not EventKind.DECISION and not builds
            else None
        ),
    )


def _payload(case: Case, event: EventKind, now: datetime, statements: StatementLinks) -> str:
    """Return the message's body: ids and conclusions, never a word of the comment."""
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
                "reasons": _reasons(case),
                "needs_review": case.needs_review,
                "ruling": decision.ruling.value if decision else None,
                "statement_url": statements.url_of(case),
            },
        },
        separators=(",", ":"),
    )


def _reasons(case: Case) -> list[str]:
    """Return rules that held, then what spoke for spam or ham, the weightiest first.

    All of it in fixed words of ours.
    """
    if case.verdict is None:
        return []
    weighed = sorted(case.verdict.signals, key=lambda one: -abs(one.contribution))
    reasons = (one.signal.reason for one in weighed if one.contribution)
    held = (REASONS[rule] for rule in case.verdict.held_by)
    return list(dict.fromkeys([*held, *reasons]))[:_MAX_REASONS]


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
    """Rule on these comments in one transaction and return what changed, as `add_many` does.

    With `at_once` it is their site itself that rules, whose undo time nobody waits for.
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
    return _tell(cases, changed, messages, services, at_once=at_once)


def undo_rulings(
    cases: Sequence[Case], services: Services, *, by: str, acts: Acts | None = None
) -> list[DecidedComment]:
    """Undo the decisions on these comments in one transaction and return those that were undone."""
    undone = [replace(case, decisions=()) for case in cases]
    messages = write_ruling_messages(undone, services, before=cases, at_once=True)
    changed = services.decisions.undo_many(
        [case.decision for case in cases if case.decision],
        by=by,
        at=services.clock(),
        deliveries=messages,
        acts=acts,
    )
    return _tell(cases, changed, messages, services, at_once=False)


def _tell(
    cases: Sequence[Case],
    changed: Sequence[Decision],
    messages: Sequence[Delivery],
    services: Services,
    *,
    at_once: bool,
) -> list[DecidedComment]:
    """Have the messages of what changed delivered; return that with its comments."""
    seen = {case.comment.id: case for case in cases}
    if messages:
        ids = dict.fromkeys(one.comment_id for one in changed)
        tell_of_decisions([seen[one] for one in ids], services, at_once=at_once)
    return [DecidedComment(decision=one, comment=seen[one.comment_id].comment) for one in changed]
