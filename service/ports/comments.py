"""Comments and their verdicts: kept, queued, reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.campaigns.traits import Traits
from service.domain.backlog import Backlog
from service.domain.case import PendingComment
from service.domain.comment import Comment, CommentId, Lane, ListHits, Sender, SiteId
from service.domain.delivery import Delivery
from service.domain.report import Report
from service.domain.site import SiteSettings
from service.domain.verdict import Verdict
from service.ports.audit import AuditEntry
from service.ports.decisions import Tell


class AddOutcome(StrEnum):
    """What became of a comment that was to be kept."""

    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"
    # Its site deleted it before it came: nothing of it is kept.
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComment:
    """A comment on its way in, with what makes repeats of it recognisable.

    `lane` is kept with it, and it is never queued in another one.
    """

    comment: Comment
    lane: Lane
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The answer to one `NewComment`: the id under which this content is kept.

    For CONFLICT it is the id of the earlier comment that holds the key with other content.
    """

    outcome: AddOutcome
    comment_id: CommentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A comment to be judged, with how often that was tried before.

    The site's settings come along so that judging needs no second look-up.
    """

    comment: Comment
    attempts: int
    settings: SiteSettings


class CommentStore(Protocol):
    """Keeps comments. What `add` has returned for is durable."""

    def add(self, comments: Sequence[NewComment]) -> list[Added]:
        """Keep the comments in one transaction and answer for each, in order.

        A comment repeats an earlier one of the same site if it has the same idempotency key or
        the same `site_comment_id`; it is a REPEAT if `fingerprint()` agrees and a CONFLICT if
        not. Repeats within one call count too. Without either key every comment is NEW.
        Safe under concurrent calls: of two equal keys exactly one becomes NEW. Adding the same
        id again is a repeat too, so a call whose answer was lost can be made again. What was
        written before a deletion that is noted is DELETED, also if the two come at once. Raise
        `NotFoundError`, and keep none of them, if one is of an unknown site.
        """

    def note_deletion(
        self, site_id: SiteId, site_comment_id: str, *, deleted_at: datetime, at: datetime
    ) -> None:
        """Remember that a comment was deleted that has not come yet.

        Look for it once more afterwards: it may have come meanwhile. Of a site's deletions the
        newest 10,000 are remembered, as digests.
        """

    def forget_deletion(self, site_id: SiteId, site_comment_id: str) -> None:
        """Take a deletion back: the site shows the comment again."""

    def prune_deletions(self, *, noted_before: datetime) -> int:
        """Forget deletions that were noted earlier; return how many."""

    def load_unjudged(self, ids: Sequence[CommentId]) -> list[Attempt]:
        """Return those of `ids` that are kept and have no verdict.

        Unknown, repeated and already judged ids are left out. The order follows `ids`.
        """

    def count_attempt(self, ids: Sequence[CommentId]) -> None:
        """Add one to `attempts` of each id, durably, before its judging starts.

        A comment that takes the whole worker down is recognised by this count.
        """

    def lower_attempts(self, to: Mapping[CommentId, int]) -> None:
        """Let `attempts` of each id be no more than given: what was counted since was no death."""

    def mark_queued(self, ids: Sequence[CommentId], at: datetime) -> None:
        """Remember that these ids were handed to the queue at `at`, each in its own lane."""

    def find_stranded(
        self, lane: Lane, *, queued_before: datetime, received_before: datetime, limit: int
    ) -> list[PendingComment]:
        """Return a lane's comments without a verdict, oldest first, that it seems to have lost.

        That is: never queued and received before `received_before`, or queued before
        `queued_before`, or queued well before a comment of the same lane that already has its
        verdict (a lane is first in, first out), that is earlier than the newest judged one's
        `queued_at` less one minute. What goes on in other lanes changes nothing.
        """

    def find_by_content(
        self, site_id: SiteId, content_key: str, *, since: datetime
    ) -> list[CommentId]:
        """Return a site's comments with this `content_key`, received since then, newest first.

        At most the newest hundred; withdrawn ones are left out.
        """

    def find_by_site_ids(
        self, site_id: SiteId, site_comment_ids: Sequence[str]
    ) -> Mapping[str, CommentId]:
        """Return which of the site's own ids are kept, and as which comments; withdrawn ones too.

        At most a thousand may be asked for.
        """

    def count_listings(self) -> Mapping[str, ListHits]:
        """Return for every reputation list that holds a kept comment how many, and the rulings.

        Of decisions those in force count. Reads every comment that is listed at all.
        """

    def withdraw(
        self,
        comment_id: CommentId,
        *,
        at: datetime,
        act: AuditEntry | None = None,
        deliveries: Sequence[Delivery] = (),
    ) -> None:
        """Honour a deletion: blank the comment's words, names and sender, and leave the queue.

        Gone are the text, the author, the sender's keys, the user agent, the post's excerpt, its
        traits and what moderators noted of it, and it leaves its campaign.
        Verdict, decisions and log stay, so that figures stay true, and so do the keys by which a
        repeat is recognised: sending it again is a REPEAT. A withdrawn comment is never judged,
        swept, counted as pending or listed for review. Withdrawing twice is harmless. `act` is the
        log's entry, kept with `deliveries` in the same transaction the first time. Raise
        `NotFoundError` for an unknown comment.
        """

    def count_pending(self) -> Mapping[Lane, int]:
        """Return how many kept comments have no verdict, by lane."""

    def find_sent_by(self, sender: Sender, *, limit: int) -> list[CommentId]:
        """Return comments with the address, e-mail or name key of this sender, in no order.

        Its keys before the rotation count as well; what is None finds nothing. Looks at every
        comment there is: nobody waits for it.
        """

    def reposition(
        self, site_id: SiteId, *, after: CommentId | None, limit: int
    ) -> CommentId | None:
        """Work out anew where a site's waiting comments stand in the review queue.

        At most `limit` of them in one transaction, in the order of their ids from the one after
        `after` on. Return the last one's id, None if there were none. What changes meanwhile is
        placed by the site's settings as they are then, so this may be done twice.
        """

    def erase_senders(self, ids: Sequence[CommentId], *, act: AuditEntry | None = None) -> None:
        """Take all that is known of their senders off these comments; `Sender()` is left.

        The comment's own words and names stay, and so does its `fingerprint`, by which repeats
        are known. Its traits, by which it could be told to be like others, go as well. All of it
        is one transaction, in which `act` is kept too.
        """


class VerdictStore(Protocol):
    """Keeps verdicts, one a comment, for good."""

    def add(
        self,
        verdicts: Sequence[Verdict],
        *,
        audit: frozenset[CommentId],
        deliveries: Sequence[Delivery] = (),
        tell: Tell | None = None,
        traits: Sequence[Traits] = (),
    ) -> list[CommentId]:
        """Store the verdicts of comments that have none yet; return whose were stored.

        Verdicts of comments that are not kept, or were withdrawn, are left out. A comment that
        already has a verdict keeps it untouched. `audit` names the comments that go to a
        moderator as part of the random audit sample. Of `deliveries` those about comments whose
        verdict was stored now are kept in the same transaction, so that none is ever lost, and so
        are their `traits`, to be grouped afterwards; those of a comment whose sender was erased
        since they were made are left out. Of comments that somebody has
        decided or reported by then nothing of `deliveries` is kept, but what `tell` returns.
        """


class ReportStore(Protocol):
    """Keeps reports."""

    def add(self, report: Report, *, tell: Tell | None = None) -> bool:
        """Keep a report; return whether it was new.

        A second report of one comment with the label of its newest report changes nothing, nor
        does a known id. A report of a comment that has its verdict, no decision, and the other
        outcome brings it into the review queue, in the same transaction; if it did not wait there
        before, what `tell` returns is kept in it, too. Raise `NotFoundError` for an unknown site or
        comment, or a comment of another site.
        """


class ScoringQueue(Protocol):
    """Carries ids, never comments, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Hand the ids over. Raise `StoreUnavailableError` within about two seconds if it can't."""

    def depth(self) -> Mapping[Lane, int]:
        """Return how many ids wait, by lane."""


class BacklogStore(Protocol):
    """Counts what waits, for whoever operates the service."""

    def count(self) -> Backlog:
        """Return what waits now, all as of one moment; served by indexes alone."""

    def oldest_unjudged(self) -> datetime | None:
        """Return when the comment came in that waits longest for its verdict, None if none does.

        It costs the same however many wait.
        """
