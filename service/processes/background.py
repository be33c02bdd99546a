"""The background process: notifies sites, runs periodic upkeep and retrains."""

import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue

from service.domain.errors import StoreUnavailableError
from service.domain.retraining import Retraining, RetrainingOptions
from service.moderation.campaigns import GroupingMemory, group_fresh
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.erasing import prune_comments, prune_deliveries
from service.moderation.intake import sweep_stranded
from service.moderation.judging import SecondJudging
from service.moderation.remembering import rebuild_if_blank, remember_open
from service.moderation.retraining import retrain_if_wanted
from service.moderation.signing_in import prune_sessions
from service.moderation.versions import tidy_retrainings, tidy_versions
from service.processes.operating import expose
from service.processes.starting import starting
from service.tasks.dispatcher import Dispatcher
from service.tasks.heartbeat import BACKGROUND, INTERVAL_SECONDS, Heartbeat, WorkerStatus
from service.tasks.queue import Wake, listen_for_ever
from service.tasks.schedule import Job, Schedule, ShouldContinue
from service.wiring import Wired, digest_plan

log = logging.getLogger(__name__)

# New messages wake the process; this finds the messages that are due for a retry.
_DELIVER_EVERY_SECONDS = 2.0
# Messages in progress may finish in this time; the others are sent again.
_DRAIN_SECONDS = 16.0
# Longer than the training program may take to stop; it continues later.
_STOP_SECONDS = 25.0
# No scheduled job takes so long; if one is stuck, no more heartbeats are sent.
_STUCK_SECONDS = 120.0
# Indexing a comment takes 0.1 to 0.4 ms, so other writers wait for less than a tenth of a second.
_INDEXED_AT_ONCE = 200
_NICENESS = 10


def main() -> None:
    # Callbacks and upkeep can wait; clients wait for the API and the workers.
    os.nice(_NICENESS)
    with starting("background") as (settings, _):
        wired = Wired(settings)
    run_background(wired)
    sys.exit()


def run_background(wired: Wired) -> None:
    """Work until SIGTERM or SIGINT, then finish messages in progress and stop a running training.

    The training continues when the process starts again.
    """
    events: SimpleQueue[Wake | None] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: events.put(None))
    services, settings = wired.services, wired.settings
    retrains = settings.retrain_every_days > 0
    dispatcher = Dispatcher(
        partial(take_deliveries, services),
        partial(deliver, services=services, delays=settings.callback_delays),
    )
    schedule = Schedule(jobs(wired), watch=wired.counting.watch_upkeep)
    # In their own thread: a mail server or a second judge may take minutes.
    digests = Schedule(slow_jobs(wired), watch=wired.counting.watch_upkeep)
    retraining = Schedule([retraining_job(wired)])
    schedules = [schedule, digests, *([retraining] if retrains else [])]
    exposition = expose("background", wired)
    for one in schedules:
        one.start()
    if retrains:
        log.info("retraining is on", extra={"problem": wired.runs.refuse()})
    listening = (wired.valkey_url, events.put)
    threading.Thread(target=listen_for_ever, args=listening, daemon=True).start()
    log.info("background started", extra={"pid": os.getpid()})
    heartbeat = Heartbeat(wired.valkey, BACKGROUND, partial(WorkerStatus, retrains=retrains))
    _deliver_until_stopped(events, dispatcher, retraining, schedule, heartbeat)
    for one in schedules:
        one.stop()
    dispatcher.close(seconds=_DRAIN_SECONDS)
    for one in schedules:
        # A digest may take minutes to send, so the process does not wait for it.
        if one is not digests:
            one.join(seconds=_STOP_SECONDS)
    exposition.close()
    wired.close()
    log.info("background stopped")


def _deliver_until_stopped(
    events: SimpleQueue[Wake | None],
    dispatcher: Dispatcher,
    retraining: Schedule,
    schedule: Schedule,
    heartbeat: Heartbeat,
) -> None:
    beat_at = float("-inf")
    is_away = False
    while True:
        if time.monotonic() >= beat_at and schedule.seconds_since_turn() < _STUCK_SECONDS:
            beat_at = time.monotonic() + INTERVAL_SECONDS
            heartbeat.beat()
        try:
            dispatcher.dispatch()
            is_away = False
        except StoreUnavailableError:
            if not is_away:
                log.warning("stores are away, deliveries wait")
            is_away = True
        try:
            event = events.get(timeout=_DELIVER_EVERY_SECONDS)
        except Empty:
            continue
        if event is Wake.RETRAIN:
            retraining.wake()
        if event is None:
            break
    heartbeat.stop()


def jobs(wired: Wired) -> list[Job]:
    """Return the periodic jobs. Each may run twice."""
    services, settings, runs = wired.services, wired.settings, wired.runs
    memory = GroupingMemory(services.new_id("lease"))
    keep_deliveries = timedelta(settings.keep_deliveries_days)
    return [
        # Ids that the queue lost are found within half a minute of an empty lane.
        Job("slopsieve.sweep_stranded", 10.0, lambda should_continue: sweep_stranded(services)),
        # Histories learn each decision as it is made; this finds the ones that they missed.
        Job("slopsieve.remember_open", 10.0, _while_any(lambda: remember_open(services))),
        # Every verdict is degraded until blank histories are filled.
        Job("slopsieve.rebuild_history", 5.0, partial(rebuild_if_blank, services), share=0.5),
        # New comments can be searched after it; after an upgrade there may be a million.
        Job(
            "slopsieve.take_in_search",
            5.0,
            _while_any(lambda: services.search.index_due(limit=_INDEXED_AT_ONCE)),
        ),
        # Its share is low, because judging comes first.
        Job("slopsieve.group_fresh", 10.0, partial(group_fresh, services, memory), share=0.1),
        # Retention is counted in days.
        Job(
            "slopsieve.prune_deliveries",
            300.0,
            _while_any(lambda: prune_deliveries(services, keep=keep_deliveries)),
        ),
        Job(
            "slopsieve.prune_comments",
            300.0,
            _while_any(
                lambda: prune_comments(
                    services,
                    keep=_days(settings.keep_comments_days),
                    keep_spam=_days(settings.keep_spam_days),
                    keep_held_spam=_days(settings.keep_held_spam_days),
                )
            ),
        ),
        Job(
            "slopsieve.prune_retrainings",
            900.0,
            lambda should_continue: tidy_retrainings(services, runs),
        ),
        Job("slopsieve.prune_sessions", 3_600.0, _while_any(lambda: prune_sessions(services))),
    ]


def slow_jobs(wired: Wired) -> list[Job]:
    """Return the jobs that may wait for a mail server or a second judge."""
    found = [Job("slopsieve.send_digests", 600.0, lambda should_continue: _send_digests(wired))]
    if wired.services.second_judge is not None:
        judging = SecondJudging(wired.services)
        found.append(Job("slopsieve.ask_second_judge", 10.0, lambda should_continue: judging.run()))
    return found


def retraining_job(wired: Wired) -> Job:
    return Job("slopsieve.retrain", 600.0, partial(retrain, wired), turn_seconds=math.inf)


def _while_any(run: Callable[[], int]) -> Callable[[ShouldContinue], int]:
    """Return a run that repeats a portion's until it finds nothing or should not continue."""

    def portions(should_continue: ShouldContinue) -> int:
        done = some = run()
        while some and should_continue():
            some = run()
            done += some
        return done

    return portions


def _days(number: int) -> timedelta | None:
    return timedelta(days=number) if number else None


def _send_digests(wired: Wired) -> int:
    services = wired.services
    if services.send_mail is None and services.post_to_chat is None:
        return 0
    # Imported late: few installations send digests, and the pages' texts need memory.
    from service.moderation.digest import send_digests
    from service.web.digest_text import write_digest

    return send_digests(digest_plan(wired.settings), services, write_digest)


def retrain(wired: Wired, should_continue: ShouldContinue) -> Retraining | None:
    """Retrain if it is due or requested, and tidy up."""
    settings, services = wired.settings, wired.services
    tidy_retrainings(services, wired.runs)
    every = settings.retrain_every_days
    try:
        return retrain_if_wanted(
            services,
            wired.runs,
            options=RetrainingOptions(data=settings.retrain_data),
            every=timedelta(days=every) if every else None,
            promotes=settings.retrain_promotes,
            should_continue=should_continue,
        )
    finally:
        tidy_retrainings(services, wired.runs)
        tidy_versions(services)


if __name__ == "__main__":
    main()
