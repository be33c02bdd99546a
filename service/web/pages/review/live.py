"""Tells open review pages that something changed: one look at the store serves them all."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from service.domain.case import CaseFilter
from service.domain.claim import Claim
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.ports.review import Newcomer, RowState
from service.ports.services import CommonPorts, ReviewPorts

log = logging.getLogger(__name__)

# A connection that is gone is only noticed when something is written to it.
_HEARTBEAT_SECONDS = 10.0
# A browser connects anew by itself; until then an account's new rights do not count.
_STREAM_LASTS_SECONDS = 600.0
_RECONNECT_MILLISECONDS = 3_000
# Where comments come in all the time, numbers change often enough like this; rows never wait.
_NUMBERS_EVERY_SECONDS = 3.0
# Verdicts take less than this, so whoever is judged now came in since.
_JUDGED_WITHIN = timedelta(minutes=10)
# A page left open over night has no use for a list of everything since.
_LOOKS_BACK = timedelta(hours=1)
MAX_NEWCOMERS = 500

Filter = tuple[SiteId, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """What one open page shows: which sites, which open comments, how many wait, since when.

    `page` names the tab of the browser, which has one stream at most.
    """

    page: str
    user_id: str
    site_ids: Filter
    ids: tuple[CommentId, ...]
    waiting: int | None
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What one look at the store found, for all streams together."""

    row_states: Mapping[CommentId, RowState]
    claims: Mapping[CommentId, Claim]
    newcomers: Sequence[Newcomer]
    waiting: Mapping[Filter, int]


@dataclass(slots=True, kw_only=True)
class Stream:
    """One open page that waits to be told."""

    interest: Interest
    _changed: set[CommentId] = field(default_factory=set)
    _numbers_changed: bool = False
    _numbers_told_at: float = 0.0
    _ended: bool = False
    _woken: threading.Condition = field(default_factory=threading.Condition)
    _rows: dict[CommentId, tuple[RowState, str]] = field(default_factory=dict)
    _numbers: tuple[int | None, frozenset[CommentId]] | None = None

    def notice(self, look: _Look) -> None:
        """Compare what was found with what the page shows, and wake whoever tells it."""
        wanted = self.interest
        rows = {
            one: (look.row_states[one], self._holder(look, one))
            for one in wanted.ids
            if one in look.row_states
        }
        arrived = frozenset(
            newcomer.comment_id
            for newcomer in look.newcomers
            if newcomer.judged_at > wanted.since
            and (wanted.site_ids is None or newcomer.site_id in wanted.site_ids)
        )
        numbers = (look.waiting.get(wanted.site_ids), arrived)
        shown = numbers[0] if wanted.waiting is None else wanted.waiting
        before = self._numbers or (shown, frozenset())
        with self._woken:
            self._changed |= {one for one, row in rows.items() if row != self._shown(one, row[0])}
            self._numbers_changed |= numbers != before
            self._rows, self._numbers = rows, numbers
            self._woken.notify_all()

    def _shown(self, comment_id: CommentId, now: RowState) -> tuple[RowState, str]:
        """Return what the page shows: at first that the comment is open and nobody else's."""
        first = now if now.is_open else RowState()
        return self._rows.get(comment_id, (first, ""))

    def _holder(self, look: _Look, comment_id: CommentId) -> str:
        claim = look.claims.get(comment_id)
        return claim.user_id if claim and claim.user_id != self.interest.user_id else ""

    def end(self) -> None:
        """Let the stream end as soon as it can."""
        with self._woken:
            self._ended = True
            self._woken.notify_all()

    def wait(self, seconds: float) -> list[CommentId] | None:
        """Return which rows changed, at most after this time; None if nothing has to be told."""
        with self._woken:
            self._woken.wait_for(self._has_news, seconds)
            if not self._has_news() or self._ended:
                return None
            changed = sorted(self._changed)
            self._changed.clear()
            self._numbers_changed = False
            self._numbers_told_at = time.monotonic()
            return changed

    @property
    def ended(self) -> bool:
        """Say whether this stream was told to end."""
        return self._ended

    def _has_news(self) -> bool:
        may_tell = time.monotonic() - self._numbers_told_at >= _NUMBERS_EVERY_SECONDS
        return self._ended or bool(self._changed) or (self._numbers_changed and may_tell)


class Live:
    """Looks at the store while any page listens, and tells each page what concerns it."""

    def __init__(
        self,
        review: ReviewPorts,
        common: CommonPorts,
        *,
        max_streams: int,
        every_seconds: float = 1.0,
    ) -> None:
        self._review, self._common = review, common
        self._max_streams = max_streams
        self._every_seconds = every_seconds
        self._lock = threading.Lock()
        self._streams: dict[str, Stream] = {}
        self._looker: threading.Thread | None = None
        self._closing = threading.Event()

    def join(self, interest: Interest) -> Stream | None:
        """Return a stream for a page; None if there are as many as there may be.

        An earlier one of the same page ends: its connection is closed, though nobody noticed yet.
        """
        with self._lock:
            earlier = self._streams.pop(interest.page, None)
            if earlier is not None:
                earlier.end()
            if self._closing.is_set() or len(self._streams) >= self._max_streams:
                return None
            if self._looker is None or not self._looker.is_alive():
                looker = threading.Thread(target=self._look_on, name="live", daemon=True)
                try:
                    looker.start()
                except RuntimeError:
                    # The system has no thread to spare; the page asks again in a while.
                    return None
                self._looker = looker
            stream = Stream(interest=interest)
            self._streams[interest.page] = stream
            return stream

    def count(self) -> int:
        """Return how many pages listen."""
        with self._lock:
            return len(self._streams)

    def leave(self, stream: Stream) -> None:
        """Forget a stream; harmless if it was forgotten already."""
        stream.end()
        with self._lock:
            if self._streams.get(stream.interest.page) is stream:
                del self._streams[stream.interest.page]

    def close(self) -> None:
        """End all streams and let no more in, so that the server can stop at once."""
        self._closing.set()
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.end()

    def _look_on(self) -> None:
        """Look until nobody listens any more."""
        while True:
            with self._lock:
                streams = list(self._streams.values())
                if not streams or self._closing.is_set():
                    self._looker = None
                    return
            self._tell(streams)
            self._closing.wait(self._every_seconds)

    def _tell(self, streams: Sequence[Stream]) -> None:
        try:
            look = self._look([stream.interest for stream in streams])
        except StoreUnavailableError:
            return
        except Exception as error:  # noqa: BLE001  # pages must be told again once it heals
            log.error(  # noqa: TRY400  # a traceback could carry a comment's text
                "looking for changes failed", extra={"error": type(error).__name__}
            )
            return
        for stream in streams:
            stream.notice(look)

    def _look(self, interests: Sequence[Interest]) -> _Look:
        review, now = self._review, self._common.clock()
        ids = list(dict.fromkeys(one for interest in interests for one in interest.ids))
        earliest = max(min(one.since for one in interests), now - _LOOKS_BACK) - _JUDGED_WITHIN
        return _Look(
            row_states=review.watch.row_states(ids),
            claims=review.claims.find(ids, now=now),
            newcomers=review.watch.newcomers(received_after=earliest, limit=MAX_NEWCOMERS),
            waiting={
                site_ids: review.cases.count(CaseFilter(needs_review=True, site_ids=site_ids))
                for site_ids in {one.site_ids for one in interests}
            },
        )


def find_newcomers(
    review: ReviewPorts, common: CommonPorts, *, site_ids: Filter, since: datetime
) -> frozenset[CommentId]:
    """Return which comments of these sites began to wait for review since then."""
    earliest = max(since, common.clock() - _LOOKS_BACK) - _JUDGED_WITHIN
    found = review.watch.newcomers(received_after=earliest, limit=MAX_NEWCOMERS)
    return frozenset(
        one.comment_id
        for one in found
        if one.judged_at > since and (site_ids is None or one.site_id in site_ids)
    )


def write_events(stream: Stream, *, may_go_on: Callable[[], bool]) -> Iterator[str]:
    """Write a stream as server-sent events, until it ends or `may_go_on` says no.

    An event names the rows that changed; a page asks for what they look like now by itself.
    """
    ends_at = time.monotonic() + _STREAM_LASTS_SECONDS
    yield f"retry: {_RECONNECT_MILLISECONDS}\n\n"
    while not stream.ended and time.monotonic() < ends_at:
        changed = stream.wait(_HEARTBEAT_SECONDS)
        if stream.ended or not may_go_on():
            return
        if changed is None:
            yield ": nothing new\n\n"
        else:
            yield f"event: changed\ndata: {json.dumps({'rows': changed})}\n\n"
