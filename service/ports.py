"""What the use cases need from the outside, each as a Protocol whose docstrings are its contract.

Every adapter raises `StoreUnavailableError` when its backend cannot be reached in time, and
nothing else for outside reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from models.inputs import ModelInput, ModelOutput
from service.campaigns.traits import Traits
from service.domain.back_scoring import BackScoring, Chunk, JobState
from service.domain.backlog import Backlog
from service.domain.campaign import Campaign, CampaignPage, PeoplesRulings, WaitingCampaign
from service.domain.case import Case, CaseFilter, CasePage, Order, PendingComment
from service.domain.claim import Claim
from service.domain.comment import Comment, CommentId, Lane, Listing, ListKind, Sender, SiteId
from service.domain.cutoff_preview import CutoffPreview
from service.domain.decision import Decision, Ruling
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Endpoint,
    SendOutcome,
)
from service.domain.figures import AskedAt, FigureCounts, LeftCounts, Scope
from service.domain.history import History
from service.domain.inbound import InboundHook
from service.domain.list_entry import EntryFilter, EntryPage, ListEntry
from service.domain.opinion import DisagreementPage, Opinion, OpinionCounts, OpinionScope
from service.domain.person import Person
from service.domain.precedent import Precedent, PrecedentPage
from service.domain.report import Label, Report
from service.domain.retraining import (
    Answer,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    TrainingProgress,
)
from service.domain.saved_view import SavedView
from service.domain.search import SearchQuery
from service.domain.sender import SenderSecrets
from service.domain.sender_record import SenderRecord
from service.domain.sign_in import SecondFactor, UserSession
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.stage import Stage
from service.domain.stroke import Stroke
from service.domain.tally import Tally
from service.domain.traffic import Sighting, Traffic, TrafficDay
from service.domain.user import User
from service.domain.verdict import Verdict
from service.scoring.entry_book import EntryBook
from service.scoring.promise import Promise
from service.scoring.weights import Cutoffs, Weights

if TYPE_CHECKING:
    from service.learning.taught import Taught

Clock = Callable[[], datetime]
"""Returns the present moment, in UTC and time-zone aware."""


class AddOutcome(StrEnum):
    """What became of a comment that was to be kept."""

    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"


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
        id again is a repeat too, so a call whose answer was lost can be made again. Raise
        `NotFoundError`, and keep none of them, if one is of an unknown site.
        """

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

    def withdraw(
        self, comment_id: CommentId, *, at: datetime, act: AuditEntry | None = None
    ) -> None:
        """Honour a deletion: blank the comment's words, names and sender, and leave the queue.

        Gone are the text, the author, the sender's keys, the user agent, the post's excerpt, its
        traits and what moderators noted of it, and it leaves its campaign.
        Verdict, decisions and log stay, so that figures stay true, and so do the keys by which a
        repeat is recognised: sending it again is a REPEAT. A withdrawn comment is never judged,
        swept, counted as pending or listed for review. Withdrawing twice is harmless. `act` is the
        log's entry, kept in the same transaction the first time. Raise `NotFoundError` for an
        unknown comment.
        """

    def count_pending(self) -> Mapping[Lane, int]:
        """Return how many kept comments have no verdict, by lane."""

    def find_sent_by(self, sender: Sender, *, limit: int) -> list[CommentId]:
        """Return comments with the address, e-mail or name key of this sender, in no order.

        Its keys before the rotation count as well; what is None finds nothing. Looks at every
        comment there is: nobody waits for it.
        """

    def place_anew(
        self, site_id: SiteId, *, after: CommentId | None, limit: int
    ) -> CommentId | None:
        """Work out anew where a site's waiting comments stand in the review queue.

        At most `limit` of them in one transaction, in the order of their ids from the one after
        `after` on. Return the last one's id, None if there were none. What changes meanwhile is
        placed by the site's settings as they are then, so this may be done twice.
        """

    def erase_senders(self, ids: Sequence[CommentId]) -> None:
        """Take all that is known of their senders off these comments; `Sender()` is left.

        The comment's own words and names stay, and so does its `fingerprint`, by which repeats
        are known. Its traits, by which it could be told to be like others, are taken off as well.
        """


Tell = Callable[[Sequence[Case]], Sequence[Delivery]]
"""Returns what sites are to be told of cases as they stand.

A store calls it within a transaction, perhaps more than once: it must ask no store for anything.
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
        are their `traits`, to be grouped afterwards. Of comments that somebody has decided or
        reported by then nothing of `deliveries` is kept, but what `tell` returns.
        """


class DecisionStore(Protocol):
    """Keeps decisions; nothing is ever deleted, only marked as undone."""

    def add(
        self,
        decision: Decision,
        *,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
        instead_of: Collection[str] | None = None,
    ) -> Decision | None:
        """Append a decision; return the one it replaces, marked as undone by it, if any.

        Both happen in one transaction, so that at most one decision of a comment is in force
        however many moderators rule at once. `deliveries` are kept in the same transaction, so
        that neither is there without the other. What was to tell the replaced decision and nobody
        has tried to send yet is withdrawn; if a verdict's message was, because it told that
        decision too, those of `deliveries` that tell the verdict are kept in its place, and left
        out else. So are the log's entries that `acts` returns of the decisions that changed, the
        replaced one first. With `instead_of` it replaces one of these ids alone.
        Raise `NotFoundError` if the comment is not kept, `ConflictError` if the decision's id is
        taken or another decision than those is in force; nothing is kept then.
        """

    def add_many(
        self,
        decisions: Sequence[Decision],
        *,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
        open_only: bool = False,
    ) -> list[Decision]:
        """Append decisions on at most 500 comments; return what changed.

        That is: those appended, and those they replace, marked as undone by them. All must be by
        one person, of one moment and of one stroke or none, at most one of a comment, else
        `ValueError` is raised. Left out are those on comments that are not kept, withdrawn, or
        ruled alike already, with `open_only` on any that are ruled at all, those on a comment that
        their stroke has decided before, even if that was undone, and all of them if their stroke
        is unknown or was taken back. The stroke's counts and sites are kept in step. Of
        `deliveries` those on comments decided now are kept as `add` keeps them, and what `acts`
        returns, all in one transaction. Raise `ConflictError`, and keep nothing, if an id is taken.
        """

    def undo(
        self,
        comment_id: CommentId,
        *,
        by: str,
        at: datetime,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
        decision_id: str | None = None,
    ) -> Decision:
        """Mark the decision in force as undone and return it so marked.

        With `decision_id` that one alone: raise `ConflictError` if another is in force.
        `deliveries` are kept in the same transaction, but if the site was told neither of this
        decision nor of one that it replaced: then what was to tell it is withdrawn, and the site is
        told nothing of it at all. Those that tell the verdict are kept where `add` keeps them, and
        so is what `acts` returns. Raise `NotFoundError` if the comment has no decision in force;
        nothing is kept then.
        """

    def undo_many(
        self,
        decisions: Sequence[Decision],
        *,
        by: str,
        at: datetime,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
    ) -> list[Decision]:
        """Undo those of at most 500 decisions that are in force; return them so marked.

        For each what holds for `undo` holds; `deliveries` of comments of which nothing is undone
        are left out. `acts` is asked once for all of them, and not if there are none.
        """

    def find_of_stroke(self, stroke_id: str, *, after: int, limit: int) -> PrecedentPage:
        """Return a stroke's decisions in force as `find_in_force` does."""

    def find_unremembered(self, *, limit: int) -> list[Precedent]:
        """Return decisions whose making or undoing histories may not know of, the oldest first.

        `add` and `undo` put a decision here in their own transactions, `mark_remembered` takes it
        out again.
        """

    def mark_remembered(self, decisions: Sequence[Decision]) -> None:
        """Say that histories know of these decisions as they stand in the arguments.

        One that was undone since is left where it is: histories know of its making alone.
        """

    def find_in_force(self, *, after: int, limit: int) -> PrecedentPage:
        """Return decisions in force in the order they were made in, from the first if `after` is 0.

        A page's `next_after` is the next one's `after`. What is decided meanwhile comes later.
        """

    def find_teaching(self) -> list[tuple[int, CommentId]]:
        """Return the number and the comment of every decision that can teach at once, in order.

        Those are people's, in force, on comments that were judged with all their evidence and that
        were not withdrawn.
        """

    def last_change(self) -> tuple[int, int]:
        """Return two numbers of which one rises with whatever changes what decisions teach.

        The first is the newest decision's, the second the newest act's in the audit log, as every
        undoing, withdrawal, erasure and change of a site's settings is an act.
        """


class StrokeStore(Protocol):
    """Keeps acts on many comments; `DecisionStore.add_many` keeps their counts."""

    def begin(self, stroke: Stroke, *, act: StrokeAct | None = None) -> Stroke:
        """Keep a stroke before its first decision; return the kept one if its id is known.

        The log's entry that `act` returns is kept in the same transaction, if the stroke is new.
        """

    def get(self, stroke_id: str) -> Stroke:
        """Return a stroke. Raise `NotFoundError` for an unknown one."""

    def take_back(
        self, stroke_id: str, *, by: str, at: datetime, act: StrokeAct | None = None
    ) -> Stroke:
        """Mark a stroke as undone, so that it decides nothing more; return it so marked.

        The log's entry that `act` returns is kept in the same transaction. One that is undone
        already stays as it is. Raise `NotFoundError` for an unknown one.
        """

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[Stroke]:
        """Return the newest first, from the one after `before` on.

        With `site_ids` only those that touched no other site. An unknown `before` finds nothing.
        """


class CaseStore(Protocol):
    """Reads comments together with their verdicts and decisions."""

    def get(self, comment_id: CommentId, *, site_id: SiteId | None = None) -> Case:
        """Return one case. Raise `NotFoundError` if it is not kept, or belongs to another site."""

    def find(self, ids: Sequence[CommentId]) -> list[Case]:
        """Return the cases of those ids that are kept, in the order of `ids`, each once."""

    def find_judged(self, ids: Sequence[CommentId]) -> list[Case]:
        """Return the cases of those ids that have their verdict, in no order; cheap to repeat."""

    def page(
        self, criteria: CaseFilter, *, order: Order, cursor: str | None, limit: int
    ) -> CasePage:
        """Return one page. Raise `InvalidInputError` for a cursor that this store did not make."""

    def count(self, criteria: CaseFilter) -> int:
        """Return how many cases match."""

    def tally(
        self, site_id: SiteId, *, received_from: datetime, received_before: datetime
    ) -> Tally:
        """Return the counts of a site's comments received in this stretch of time."""

    def cutoff_preview(
        self, site_id: SiteId, *, received_from: datetime, cutoffs: Cutoffs
    ) -> CutoffPreview:
        """Return what these cutoffs would make of a site's comments received since then.

        Each has its verdict; its `p_spam` is compared anew, as `scoring.policy` does.
        """


class CaseSearch(Protocol):
    """Finds comments by their words, links, senders, verdicts and decisions.

    A query's `site:` terms are for the use case to resolve; here `site_ids` says which sites are
    looked at, None for all. Withdrawn comments are never found.
    """

    def take_in(self, *, limit: int) -> int:
        """Let comments be found that were kept or judged since; return how many, at most `limit`.

        The newest come first. Until then they are not found, or as they were before their
        verdict; decisions and reports are known at once. Safe to run at any time, twice too.
        """

    def find(
        self,
        query: SearchQuery,
        *,
        site_ids: Sequence[SiteId] | None,
        cursor: str | None,
        limit: int,
    ) -> CasePage:
        """Return one page, the newest received first.

        Raise `InvalidInputError` for a cursor that this store did not make.
        """

    def ids(
        self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[CommentId]:
        """Return the newest comments' ids, at most `limit`."""

    def count(self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int) -> int:
        """Return how many match; `limit` means so many or more."""


class SavedViewStore(Protocol):
    """Keeps searches under names."""

    def put(self, view: SavedView) -> None:
        """Keep a view, in place of the one with its id."""

    def get(self, view_id: str) -> SavedView | None:
        """Return a view."""

    def remove(self, *view_ids: str, act: AuditEntry | None = None) -> None:
        """Forget views, with the log's entry, in one transaction; unknown ones are left out."""

    def all(self) -> list[SavedView]:
        """Return every account's views, by id."""

    def visible_to(self, owner_id: str) -> list[SavedView]:
        """Return an account's own views and those shared with all, by name."""


class SenderRecords(Protocol):
    """Tells what is known of a comment's sender from the sender's other comments."""

    def look_up(self, comment: Comment, *, site_ids: Sequence[SiteId] | None) -> SenderRecord:
        """Return what the sender's other comments of these sites came to; of all for None.

        However many they are, at most `MAX_COUNTED` of each trait are looked at, the newest
        first.
        """


class FigureStore(Protocol):
    """Counts what figures are made of."""

    def count(self, scope: Scope) -> FigureCounts:
        """Return the counts of the scope, all of one moment, with `waiting` as it is now.

        A comment belongs to the day on which it was received, a verdict to that of its judging, a
        decision to that of its taking. Of what fired in verdicts and of timed decisions only the
        newest are looked at; see `FigureLimits`.
        """

    def asked(
        self, site_ids: Sequence[SiteId] | None, *, newest_first: bool, limit: int
    ) -> list[AskedAt]:
        """Return the newest judged comments of these sites (None: all), or the oldest.

        A person is asked about an unsure comment and about the audit sample. Left out is what was
        imported with its decision: nobody was to be asked.
        """

    def left(self, scope: Scope) -> LeftCounts:
        """Return what was left to a person of the comments of the scope.

        Of verdicts that decisions moved only the newest are looked at; see `FigureLimits`. Those
        that followed a moderator's entry are left out there.
        """


class TrafficStore(Protocol):
    """Counts what was judged by UTC day, site and version; what was said is not kept.

    Counts stay when comments are withdrawn or pruned. `site_ids` None means all sites.
    """

    def fresh(self, *, limit: int) -> list[CommentId]:
        """Return comments that have their verdict and were not counted yet, the oldest first."""

    def note_domains(self, seen: Mapping[str, datetime]) -> Mapping[str, datetime]:
        """Remember when these domains were seen, and return when each was seen first.

        Safe to be called twice, and in any order.
        """

    def first_seen(self, domains: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these domains was seen first; those never seen are left out."""

    def count(self, sightings: Sequence[Sighting]) -> int:
        """Count those comments that are still `fresh`, in one transaction; return how many.

        Of several calls at once with one comment, one counts it.
        """

    def first_days(
        self, *, site_ids: Sequence[SiteId] | None, model_version: str, limit: int
    ) -> list[TrafficDay]:
        """Return the first days on which this version gave verdicts, in order."""

    def between(
        self,
        first: date,
        last: date,
        *,
        site_ids: Sequence[SiteId] | None,
        model_version: str | None,
    ) -> Traffic:
        """Return the counts of these days together, `last` among them; None: all versions."""

    def facts_by_day(
        self, first: date, last: date, *, site_ids: Sequence[SiteId] | None
    ) -> list[Traffic]:
        """Return the facts alone of each of these days that has any, in order."""


class Lease(StrEnum):
    """What became of the wish to be the only one that does a thing, such as grouping comments."""

    # It was somebody else's before, or nobody's: what was done meanwhile is not known here.
    TAKEN = "taken"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitsPage:
    """Traits of grouped comments in the order they were judged in, and where the next page begins.

    `next_after` is None where nothing was found.
    """

    traits: tuple[Traits, ...]
    next_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A comment to be grouped, and an earlier one that it was found to be like, if any.

    `new_campaign_id` names the campaign that the two found if neither has one.
    """

    comment_id: CommentId
    like: CommentId | None
    new_campaign_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPage:
    """One page of a campaign's members; `next_cursor` is opaque and None on the last page."""

    cases: tuple[Case, ...]
    next_cursor: str | None = None


class CampaignStore(Protocol):
    """Keeps by what comments are recognised, and which of them belong to one campaign.

    Where `site_ids` is given, nothing is told of other sites; None means all sites.
    """

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Let `holder` alone group comments till `until`, unless it is somebody else's turn now.

        Of several calls at once at most one is not REFUSED.
        """

    def fresh(self, *, limit: int) -> list[Traits]:
        """Return traits of comments that were never placed, the longest judged first."""

    def place_before(self, most: int) -> int:
        """Return a place after which at most `most` traits follow."""

    def grouped(self, *, after: int, limit: int) -> TraitsPage:
        """Return traits of placed comments in the order they were judged in.

        Comments that a moderator took out of their campaign are left out.
        """

    def place(self, placements: Sequence[Placement], *, at: datetime) -> Mapping[CommentId, str]:
        """Place comments in order, in one transaction; return who joined a campaign, and which.

        A comment joins the campaign of the one that it is like, or founds one with it. It stays
        single if that one is gone or was taken out of its campaign. A comment that was placed
        before, or has no traits any more, is left as it is and not returned: so of several
        calls at once one places it.
        """

    def leave(self, campaign_id: str, ids: Sequence[CommentId]) -> list[CommentId]:
        """Take those members out of their campaign, for good; return who was taken out now.

        No later comment joins the campaign because it is like one of them.
        """

    def rejoin(self, campaign_id: str, *, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        """Undo what `leave` did to these sites' comments; return whose."""

    def page(
        self,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> CampaignPage:
        """Return campaigns of at least `FEWEST_SHOWN` members, most waiting ones first.

        Of equally many the one that grew last comes first. With `waiting_only` others than those
        with waiting members are left out. Raise `InvalidInputError` for a cursor that this store
        did not make.
        """

    def most_waiting(
        self, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[WaitingCampaign]:
        """Return the first campaigns of `page` with `FEWEST_SHOWN` waiting members, cheaply."""

    def get(self, campaign_id: str, *, site_ids: Sequence[SiteId] | None) -> Campaign:
        """Return a campaign of any size. Raise `NotFoundError` if it has no members there."""

    def members(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> MemberPage:
        """Return members, the newest first. Raise `InvalidInputError` for a foreign cursor."""

    def waiting_ids(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        received_until: datetime,
        limit: int,
    ) -> list[CommentId]:
        """Return the members that wait for a moderator and were received by then, newest first."""

    def peoples_rulings(self, campaign_id: str) -> PeoplesRulings:
        """Return how people ruled on members, at all sites; a policy's decisions do not count."""


class ClaimStore(Protocol):
    """Keeps which moderator looks at which comment: at most one a comment, one a moderator."""

    def take(self, claim: Claim) -> Claim:
        """Claim a comment as of `claim.since` and return the claim that is in force now.

        Somebody else's is left alone and returned as long as it holds. One's own is renewed: it
        keeps its `since`, unless it ran out before. Whatever else this moderator had claimed is
        claimed no more. Of two who claim at once one gets it.
        """

    def end(self, comment_id: CommentId, *, user_id: str | None = None) -> None:
        """End the claim on a comment, anybody's or this moderator's; harmless if there is none."""

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Claim]:
        """Return the claims on these comments that hold now."""

    def find_last(self, comment_id: CommentId, *, user_id: str) -> Claim | None:
        """Return a moderator's claim on a comment, also one that ran out; None without one.

        It is known until somebody claims the comment, or the moderator another one.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """A comment that waits for review, and since when."""

    comment_id: CommentId
    site_id: SiteId
    judged_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What may change of a comment's row in a list, but for who looks at it."""

    decision_id: str | None = None
    reported_as: Label | None = None
    withdrawn: bool = False

    @property
    def is_open(self) -> bool:
        """Say whether there is still something to decide."""
        return self.decision_id is None and not self.withdrawn


class ReviewWatch(Protocol):
    """Tells pages that are open what changed; each call is cheap enough to be made every second."""

    def standings(self, ids: Sequence[CommentId]) -> Mapping[CommentId, Standing]:
        """Return how these comments stand now; unknown ids are left out."""

    def newcomers(self, *, received_after: datetime, limit: int) -> list[Newcomer]:
        """Return comments that wait for review and came in since then, the newest first."""


class SiteStore(Protocol):
    """Keeps sites and the hashes of their keys."""

    def add(self, site: Site) -> None:
        """Keep a site. Raise `ConflictError` if its name is taken."""

    def change_settings(
        self,
        site_id: SiteId,
        how: Callable[[SiteSettings], SiteSettings],
        *,
        act: Callable[[SiteSettings, SiteSettings], AuditEntry] | None = None,
    ) -> tuple[Site, Site]:
        """Replace a site's settings by what `how` makes of them; return it before and after.

        Nobody else changes them in between. The log's entry that `act` returns of the settings
        before and after is kept in the same transaction. Both may be called more than once; what
        they raise is raised, and nothing is changed then. Raise `NotFoundError` for an unknown
        site.
        """

    def get(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` for an unknown one."""

    def all(self) -> list[Site]:
        """Return all sites, by name."""

    def add_key(self, key: SiteKey) -> None:
        """Keep a key's hash. Raise `NotFoundError` for an unknown site."""

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """Return the key with this hash, valid or not, and its site; None if there is none."""

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """Return a site's keys, oldest first, the revoked ones too."""

    def end_key(
        self, key_id: str, *, expires_at: datetime | None = None, revoked_at: datetime | None = None
    ) -> SiteKey:
        """Set a key's end and return it. Raise `NotFoundError` for an unknown key."""


class UserStore(Protocol):
    """Keeps moderators' accounts."""

    def add(self, user: User) -> None:
        """Keep an account. Raise `ConflictError` if its name is taken."""

    def replace(self, user: User) -> None:
        """Replace the account with this id. Raise `NotFoundError` for an unknown one."""

    def change(self, user_id: str, how: Callable[[User, Sequence[User]], User]) -> User:
        """Replace an account by what `how` makes of it in view of all accounts, and return that.

        No other change of any account happens in between, so what `how` saw is still so when its
        answer is kept. It may be called more than once; what it raises is raised, and nothing is
        changed then. Raise `NotFoundError` for an unknown account.
        """

    def get(self, user_id: str) -> User | None:
        """Return an account by id."""

    def find(self, name: str) -> User | None:
        """Return an account by name, without regard to case."""

    def all(self) -> list[User]:
        """Return all accounts, by name."""


class SessionStore(Protocol):
    """Keeps who is signed in, where."""

    def add(self, session: UserSession) -> None:
        """Keep a session that begins. Raise `NotFoundError` for an unknown account."""

    def get(self, session_id: str) -> UserSession | None:
        """Return a session, ended or not."""

    def touch(self, session_id: str, *, at: datetime) -> None:
        """Remember that a session was used; harmless for an unknown one."""

    def end(self, session_id: str, *, user_id: str, at: datetime) -> bool:
        """End one session of this account; return whether that was still to be done."""

    def end_all(self, user_id: str, *, at: datetime, but: str | None = None) -> int:
        """End every session of an account, all but one if it is named; return how many."""

    def open_of(self, user_id: str) -> list[UserSession]:
        """Return an account's sessions that were not ended, the one used last first."""

    def last_seen(self) -> Mapping[str, datetime]:
        """Return when each account was last seen, by its id; who never was is left out."""

    def prune(self, *, seen_before: datetime, limit: int) -> int:
        """Delete at most `limit` sessions last used before then; return how many."""


class SecondFactorStore(Protocol):
    """Keeps second factors, at most one an account, and what stands in for a lost one."""

    def put(self, factor: SecondFactor, *, recovery_digests: Collection[str]) -> None:
        """Keep an account's second factor and its recovery codes in place of earlier ones.

        Raise `NotFoundError` for an unknown account.
        """

    def get(self, user_id: str) -> SecondFactor | None:
        """Return an account's second factor, None if it has none."""

    def user_ids(self) -> frozenset[str]:
        """Return the ids of all accounts that have one."""

    def use_step(self, user_id: str, step: int) -> bool:
        """Say that the code of this time step was used; False if it, or a later one, was before.

        Of several calls at once with one step, one returns True.
        """

    def use_recovery(self, user_id: str, digest: str) -> bool:
        """Strike a recovery code off; False if there is none such.

        Of several calls at once with one code, one returns True.
        """

    def count_recovery(self, user_id: str) -> int:
        """Return how many recovery codes are left."""

    def remove(self, user_id: str) -> bool:
        """Forget an account's second factor and its codes; return whether there was one."""


class PersonalDataStore(Protocol):
    """Finds comments by what a person is known by, and old ones; both to be forgotten."""

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """Return the ids of a person's comments, ascending, those after `after` if it is given.

        They have the address, e-mail or name key of `person.sender`, its keys before the rotation
        too, or no key of a name and exactly the author's name `person.author_name`. Withdrawn
        ones are nobody's. Looks at every comment there is: nobody waits for it.
        """

    def count_by_site(self, person: Person) -> Mapping[SiteId, int]:
        """Return how many comments of theirs `find` finds, by site; sites without any left out."""

    def find_old(
        self, *, received_before: datetime, spam_only: bool, limit: int
    ) -> list[CommentId]:
        """Return comments received before then whose words are still kept, in no order.

        Left out is what waits: for its verdict, or for a person. With `spam_only` only those that
        were called spam and that no decision in force approves.
        """

    def withdraw(
        self,
        ids: Sequence[CommentId],
        *,
        at: datetime,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> int:
        """Withdraw these comments as `CommentStore.withdraw` does, in one transaction.

        Return how many were not withdrawn before; unknown ones are left out. `act` returns the
        log's entry of so many, which is kept in the same transaction, of none of them too.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One act, for the log that is only ever appended to. `detail` never holds comment text."""

    at: datetime
    actor: str
    act: str
    subject: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which acts to list. Every field that is None does not narrow the list.

    `since` is the first moment that counts, `before` the first that does not any more.
    """

    actor: str | None = None
    act: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """One page of acts, newest first; `next_after` continues it, None on the last page."""

    entries: tuple[AuditEntry, ...]
    next_after: int | None = None


Acts = Callable[[Sequence[Decision]], Sequence[AuditEntry]]
"""Returns the log's entries of decisions that were made or undone, as they stand afterwards."""

StrokeAct = Callable[[Stroke], AuditEntry]
"""Returns the log's entry of a stroke that begins or is taken back."""


class AuditLog(Protocol):
    """Remembers every act of a person."""

    def append(self, entry: AuditEntry) -> None:
        """Append one act."""

    def append_all(self, entries: Sequence[AuditEntry]) -> None:
        """Append acts in this order, all or none."""

    def page(self, criteria: AuditFilter, *, after: int | None, limit: int) -> AuditPage:
        """Return one page of the acts that match, newest first.

        `after` is another page's `next_after`, None for the first page. What is appended
        meanwhile moves nothing.
        """

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """Return the newest acts first, of one subject if given."""


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


class EndpointStore(Protocol):
    """Keeps where sites want to be told."""

    def put(self, endpoint: Endpoint) -> None:
        """Keep a site's endpoint in place of an earlier one. Raise `NotFoundError`."""

    def get(self, site_id: SiteId) -> Endpoint | None:
        """Return a site's endpoint, None if it wants none."""

    def remove(self, site_id: SiteId) -> None:
        """Forget a site's endpoint; harmless if there is none."""


class DeliveryStore(Protocol):
    """Keeps what sites are to be told, until they have been told."""

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """Keep deliveries; a known id changes nothing. Raise `NotFoundError` for no comment.

        `seq` is given by the store: of one comment's deliveries what was kept later has the
        higher one.
        """

    def take_due(
        self,
        now: datetime,
        *,
        until: datetime,
        limit: int,
        except_sites: Collection[SiteId] = (),
    ) -> list[Delivery]:
        """Return waiting deliveries whose time has come, and lend them till `until`.

        Those of `except_sites` stay where they are: such a site is being told enough already.

        Those that are due the longest come first. At most one a comment: a later one waits until
        the earlier was delivered or given up. No other call returns a lent one, or another of its
        comment, before `until` or `record`.
        """

    def record(
        self,
        attempt: DeliveryAttempt,
        *,
        state: DeliveryState,
        next_try_at: datetime | None = None,
    ) -> Delivery:
        """Log an attempt, set what follows from it and return the delivery.

        WAITING goes on at `next_try_at`, at once without one. What was delivered stays so,
        whatever a slower worker tells, and what was given up waits no more until it is replayed.
        Raise `NotFoundError` for an unknown delivery.
        """

    def postpone(self, delivery_id: str, *, until: datetime) -> None:
        """Give a lent delivery back untried, to be due at `until`; harmless for any other."""

    def replay(self, delivery_ids: Sequence[str], *, at: datetime) -> int:
        """Let given-up deliveries be tried again from the start; return how many there were."""

    def get(self, delivery_id: str) -> Delivery:
        """Return a delivery. Raise `NotFoundError` for an unknown one."""

    def recent(
        self, *, state: DeliveryState | None, site_id: SiteId | None, limit: int
    ) -> list[Delivery]:
        """Return the newest deliveries first."""

    def told_at(self, decision_id: str) -> datetime | None:
        """Return when a site is to be told of a decision that it can still be kept from.

        None if nobody tells it, or somebody has tried already.
        """

    def attempts(self, delivery_id: str) -> list[DeliveryAttempt]:
        """Return a delivery's attempts, oldest first."""

    def prune(self, *, delivered_before: datetime, limit: int) -> int:
        """Delete those delivered longest ago, with their attempts; return how many, at most limit.

        What waits or was given up is never deleted, however old.
        """


class ListEntryStore(Protocol):
    """Keeps what moderators allow and block."""

    def add(self, entries: Sequence[ListEntry]) -> None:
        """Keep entries, all or none. Raise `NotFoundError` for an unknown site.

        Raise `ConflictError` for an id that is taken.
        """

    def remove(self, entry_ids: Sequence[str], *, by: str, at: datetime) -> list[ListEntry]:
        """Mark entries as removed and return those that were not before; unknown ones are left out.

        They stay, so that verdicts that followed them can be understood.
        """

    def restore(self, entry_ids: Sequence[str]) -> list[ListEntry]:
        """Take removals back and return the entries that were removed."""

    def forget(self, keys: Sequence[str]) -> int:
        """Delete, for good, the entries that know one e-mail or address by one of these keys.

        Return how many there were. Networks, domains and phrases stay: they are others' too.
        """

    def known_by(self, keys: Sequence[str]) -> list[ListEntry]:
        """Return what `forget` would delete, removed or not, by id."""

    def get(self, entry_id: str) -> ListEntry:
        """Return an entry, removed or not. Raise `NotFoundError` for an unknown one."""

    def page(self, criteria: EntryFilter, *, cursor: str | None, limit: int) -> EntryPage:
        """Return one page. Raise `InvalidInputError` for a cursor that this store did not make."""

    def count(self, criteria: EntryFilter) -> int:
        """Return how many entries match."""

    def in_force(self, at: datetime) -> list[ListEntry]:
        """Return all entries that are not removed and have not expired at `at`, in no order."""

    def version(self) -> int:
        """Return a number that grows with every change but hits; cheap to ask for."""

    def count_hits(self, hits: Mapping[str, int], *, at: datetime) -> None:
        """Add to the hits of entries, by id, and set when the last one was; unknown ids are left.

        No reason to read the entries again: the version stays.
        """


class DeliveryQueue(Protocol):
    """Wakes whoever delivers."""

    def wake(self) -> None:
        """Ask that what is due goes out now; without it that happens some seconds later.

        Raise `StoreUnavailableError` within about two seconds if it can't.
        """


class SiteNotifier(Protocol):
    """Speaks to sites, at addresses that strangers chose and that lead nowhere forbidden."""

    def refuse(self, url: str) -> str | None:
        """Say in fixed words why this address is never called; None if it may be.

        Nobody is asked: what a name stands for is looked at when it is called.
        """

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """Send one message and return what came of it; end in time, whatever the site does.

        `endpoint` signs Standard Webhooks. What goes wrong outside is told, never raised.
        """


class InboundStore(Protocol):
    """Keeps inbound hooks and remembers which of their deliveries were seen."""

    def add(self, hook: InboundHook) -> None:
        """Keep a hook. Raise `NotFoundError` for an unknown site, `ConflictError` for its id."""

    def get(self, hook_id: str) -> InboundHook | None:
        """Return a hook, revoked or not."""

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        """Return hooks, oldest first."""

    def revoke(self, hook_id: str, *, at: datetime) -> InboundHook:
        """End a hook at once. Raise `NotFoundError`."""

    def remember(self, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime) -> bool:
        """Remember a delivery; return False if it was seen since `forget`. Forgets older ones.

        Of several calls at once one returns True. Raise `NotFoundError` for an unknown hook.
        """

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """Say whether a delivery was remembered at `since` or later."""


class HistoryStore(Protocol):
    """Remembers decisions, and sightings apart from them. Only decisions teach it."""

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """Return the history of each comment, in order, in one round trip for all.

        The first time a comment's id is gathered it is counted as seen at `now`. The earlier
        comments of a batch are seen by the later ones; no comment is its own earlier sighting,
        however often it is gathered. A store that takes no writes now, or is nearly full, gathers
        all the same and counts no sighting. With `only_filled` raise `HistoryBlankError` while
        `is_blank`.
        """

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Count a decision made at `at` once; a repeat of the same `decision_id` changes nothing.

        The order in which decisions are learnt never matters. Return whether it was counted now.
        """

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Take a counted decision back exactly; harmless if it is not counted.

        What is taken back is the ruling and the moment that were learnt. It is never counted
        again afterwards, so a delayed repeat of `learn` does no harm. Return whether it was taken
        back now.
        """

    def forget(self, sender: Sender) -> None:
        """Drop the records of this address, e-mail and name at all sites, older keys' too.

        Networks, systems and domains stay: they are others' too.
        """

    def is_blank(self) -> bool:
        """Say whether `mark_filled` was never called on what is kept now: new, or wiped."""

    def mark_filled(self) -> None:
        """Remember, for as long as anything is kept, that all past decisions have been learnt."""


class RebuildPlace(Protocol):
    """Keeps how far a rebuild of the histories has come, where whatever wipes them wipes it too."""

    def find(self) -> int:
        """Return the place; where there is none it is 0 from now on."""

    def move(self, seen: int, to: int) -> bool:
        """Set the place if it is still `seen`; return whether it was."""

    def clear(self, seen: int) -> bool:
        """Forget the place if it is still `seen`; return whether it was."""


class ReputationLists(Protocol):
    """Looks senders up in the lists that were imported; answers from memory and never raises."""

    def has(self, kind: ListKind) -> bool:
        """Say whether there is a list of this kind, be it expired."""

    def find(
        self,
        *,
        address: str | None,
        domains: Sequence[str],
        mail_domain: str | None,
        at: datetime,
    ) -> Sequence[Listing]:
        """Return the lists that hold the address, one of the domains or the mail domain.

        Each list comes at most once, with its age at this moment; one past its expiry says
        nothing. Addresses of private networks are on no list. At most `MAX_LOOKED_UP` domains
        are looked up.
        """


class ScoringQueue(Protocol):
    """Carries ids, never comments, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Hand the ids over. Raise `StoreUnavailableError` within about two seconds if it can't."""

    def depth(self) -> Mapping[Lane, int]:
        """Return how many ids wait, by lane."""


class OpinionStore(Protocol):
    """Keeps what versions that do not serve say of comments, one opinion a comment and version."""

    def add(self, opinions: Sequence[Opinion]) -> None:
        """Keep the opinions of comments that have a verdict and were not withdrawn.

        The first one of a comment and version stays, so that doing it twice changes nothing.
        """

    def versions(self) -> Sequence[str]:
        """Return the versions that have opinions, the one that formed the newest first."""

    def count(self, scope: OpinionScope) -> OpinionCounts:
        """Return the counts of a scope; decisions in force count, those of campaign policies not.

        `shadowed` and `judged` are of the sites of the scope and of any time; `judged` may count
        comments that were withdrawn since.
        """

    def disagreements(
        self, scope: OpinionScope, *, cursor: str | None, limit: int
    ) -> DisagreementPage:
        """Return one page of the opinions whose outcome is not the verdict's.

        They are ordered by harm, the worst first, then by distance, then by id. Raise
        `InvalidInputError` for a cursor that this store did not make.
        """

    def prune(self, *, formed_before: datetime, limit: int) -> int:
        """Delete at most `limit` opinions formed before then; return how many.

        Those of a withdrawn comment go with its withdrawal.
        """


class BackScoringStore(Protocol):
    """Keeps back-scoring jobs and which of their chunks are open."""

    def begin(self, job: BackScoring) -> BackScoring:
        """Keep a new job and return it with its `total`.

        Raise `ConflictError` while another job of the same version is running or paused.
        """

    def get(self, job_id: str) -> BackScoring:
        """Return a job. Raise `NotFoundError` for an unknown one."""

    def recent(self, *, limit: int) -> list[BackScoring]:
        """Return jobs, the newest first."""

    def running(self) -> list[BackScoring]:
        """Return the jobs that go on, the oldest first."""

    def change(
        self, job_id: str, state: JobState, *, at: datetime, problem: str | None = None
    ) -> BackScoring:
        """Let a job go on, rest or end; return it as it is now.

        A cancelled job loses its open chunks; those of one that goes on are queued anew by the
        next `cut`. Raise `NotFoundError` for an unknown job,
        `ConflictError` for one that ended or was cancelled.
        """

    def cut(
        self, job_id: str, *, size: int, most_open: int, lost_before: datetime, at: datetime
    ) -> list[Chunk]:
        """Return the chunks of a running job that are to be queued now, marked as queued at `at`.

        These are new ones of `size` comments each, as long as fewer than `most_open` are open, and
        open ones that were queued before `lost_before`. Where there is nothing left to cut and no
        chunk is open, the job has ended. Safe under concurrent calls: every comment comes into
        exactly one chunk. Of a job that does not run there are none.
        """

    def find_chunk(self, job_id: str, number: int) -> tuple[BackScoring, Chunk] | None:
        """Return an open chunk with its job; None once it is done, or if it never was."""

    def ids_of(self, job: BackScoring, chunk: Chunk) -> list[CommentId]:
        """Return the comments of a chunk that are still there, in the order of their ids."""

    def finish_chunk(self, chunk: Chunk, *, at: datetime) -> bool:
        """Close a chunk and count its comments as done; return False if it was not open.

        The last one ends its job, unless that is paused: then it ends when it goes on.
        """


class BackScoringQueue(Protocol):
    """Carries numbers of chunks to the workers, who take them while nothing else waits."""

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Hand the chunks over. Raise `StoreUnavailableError` within about two seconds."""

    def depth(self) -> int:
        """Return how many chunks wait. Raise `StoreUnavailableError`."""


class Classifier(Protocol):
    """Reads comments and says how likely each is spam."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer.

        Raise `ModelUnavailableError` if it can't answer at all.
        """


class RetrainingStore(Protocol):
    """Keeps which retrainings there were, and who alone may run one now."""

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Let `holder` alone retrain till `until`, unless it is somebody else's turn now.

        Of several calls at once at most one is not REFUSED.
        """

    def end_lease(self, holder: str) -> None:
        """Let others retrain at once; nothing happens if it is not this holder's turn."""

    def put(self, retraining: Retraining) -> None:
        """Keep a retraining as it is now, a new one too; what was answered to it stays."""

    def get(self, retraining_id: str) -> Retraining:
        """Return one. Raise `NotFoundError`."""

    def recent(self, *, limit: int) -> list[Retraining]:
        """Return the newest by when they were asked for, the newest first."""

    def answer(self, retraining_id: str, answer: Answer, *, by: str, at: datetime) -> Retraining:
        """Note what was made of a candidate, and return the retraining.

        Of several calls at once one is kept. Raise `ConflictError` if it was answered before,
        `NotFoundError` if it is unknown.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDecisions:
    """Decisions handed to a training program: how many, and what recognises the very same."""

    count: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """What lies in a run's folder; `texts_since` is the age of comments' texts in it, if any."""

    run_id: str
    changed_at: datetime
    texts_since: datetime | None
    unfinished: bool


class TrainingRuns(Protocol):
    """Runs the training program on this machine, each run in a folder of its own."""

    place: str
    """Names this machine and its folder of runs; two processes there share it."""

    def refuse(self) -> str | None:
        """Say in one sentence why nothing can be trained here, None if it can."""

    def only_one(self) -> AbstractContextManager[object]:
        """Keep everybody else on this machine from training while the block runs.

        Raise `ConflictError` if somebody does already.
        """

    def holds(self, run_id: str) -> bool:
        """Say whether an unfinished run of this id lies here, to be gone on with."""

    def keep_decisions(self, run_id: str, decisions: Iterable[Mapping[str, Any]]) -> KeptDecisions:
        """Write the decisions for a run, readable by this user alone."""

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        """Yield the id and the label of each comment whose decision is kept for a run."""

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[TrainingProgress], None],
        goes_on: Callable[[], bool],
    ) -> RetrainingReport:
        """Train on the decisions kept for this run, or go on where it was stopped.

        `told` is called about every second; what it raises stops the run and comes through. Raise
        `TrainingStoppedError` once `goes_on` said no and the program has ended, resumable;
        `TrainingFailedError` if it cannot come to its end.
        """

    def keep_report_alone(self, run_id: str) -> None:
        """Delete everything of a run but its report."""

    def drop_texts(self, run_id: str) -> None:
        """Delete every comment's text from a run's folder; an unfinished run goes wholly."""

    def drop(self, run_id: str) -> None:
        """Delete a run's folder, if there is one."""

    def runs(self) -> list[RunFiles]:
        """Return what there is, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOnShelf:
    """A model version as its card describes it.

    `figures` and `provenance` are words by name, for people; `serves` is "current", "previous"
    or empty.
    """

    name: str
    serves: str
    trained_at: str
    figures: Mapping[str, str]
    provenance: Mapping[str, str]


class VersionShelf(Protocol):
    """The model versions of this installation, and which of them serves."""

    def all(self) -> list[VersionOnShelf]:
        """Return every version, the current one first, then by name, the newest name first."""

    def card(self, name: str) -> str | None:
        """Return a version's card as Markdown, None if it has none. Raise `NotFoundError`."""

    def previous(self) -> str | None:
        """Return the version that was current before the last promotion, if it is still there."""

    def promote(self, name: str) -> str | None:
        """Make a version current after checking its files; return the one that was.

        Raise `NotFoundError` for an unknown one, `ConflictError` with one sentence for one that
        is damaged or where the folder cannot be written to.
        """

    def drop(self, name: str) -> None:
        """Delete a version.

        Raise `NotFoundError` for an unknown one, `ConflictError` for the current one, the previous
        one and the shadow, and where the folder cannot be written to.
        """

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """Delete what killed processes left half written; return how many there were."""


class TrainerQueue(Protocol):
    """Wakes the process that retrains, where there is one."""

    def wake(self) -> None:
        """Have it look for what is asked for. Raise `StoreUnavailableError`."""

    def is_heard(self) -> bool:
        """Say whether such a process has given a sign of life lately. Raise the same."""


class PasswordHasher(Protocol):
    """Turns passwords into slow, salted hashes."""

    def hash(self, password: str) -> str:
        """Return a salted hash that is slow to guess from."""

    def verify(self, password_hash: str, password: str) -> bool:
        """Say whether the password made this hash."""


class BacklogStore(Protocol):
    """Counts what waits, for whoever operates the service."""

    def count(self) -> Backlog:
        """Return what waits now, all as of one moment; served by indexes alone."""

    def oldest_unjudged(self) -> datetime | None:
        """Return when the comment came in that waits longest for its verdict, None if none does.

        It costs the same however many wait.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBatch:
    """A batch that was judged: what came of it, and what it took.

    `began` is when judging began, `ended` when the verdicts were stored. `seconds` is how long each
    stage took for all of them together. `stored` names those whose verdict was stored now.
    """

    comments: Sequence[Comment]
    verdicts: Sequence[Verdict]
    stored: Collection[CommentId]
    began: datetime
    ended: datetime
    seconds: Mapping[Stage, float]


class Observer(Protocol):
    """Is told what happens, for whoever operates the service.

    It never raises, waits for nobody and takes microseconds. It is handed values of the domain and
    may keep ids and numbers of them, no words, names or addresses.
    """

    def monotonic(self) -> float:
        """Return the seconds of a clock that never goes back, to measure stages by."""

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """Hear of comments that were kept, with the answer for each, and queued, at `at`."""

    def judged(self, batch: JudgedBatch) -> None:
        """Hear of a batch whose verdicts were stored."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """Hear of an attempt to tell a site, and of what became of the message."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Hear of a request that was answered.

        `route` is its template, "" for an unknown one, `method` a known one or "other".
        """


class SilentObserver:
    """Does nothing with what it is told; see `Observer`."""

    def monotonic(self) -> float:
        """Return 0: nobody asks how long anything takes."""
        return 0.0

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """See `Observer.kept`."""

    def judged(self, batch: JudgedBatch) -> None:
        """See `Observer.judged`."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """See `Observer.told`."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """See `Observer.served`."""


UNOBSERVED: Observer = SilentObserver()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """Everything that belongs to one model version and is used together, never mixed."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs


def nothing_taught() -> Taught:
    """Return what is taught where nobody has decided."""
    # Imported late: few processes ask, and numpy takes its time.
    from service.learning.taught import Taught

    return Taught()


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the use cases are handed. Built in one place, `service.wiring`.

    `current_model` is asked once a batch, so that a swap of versions never mixes one.
    `current_promise` returns what the serving version's cutoffs promise, None where no version can
    be read; it loads no classifier. `shadow_name` returns the version that is to be asked beside
    the current one, None for none; `shadow_model` that version, None as long as it is not loaded.
    `find_model(version)` returns any other, None while it is being loaded, and raises
    `ModelUnavailableError` for one that cannot be used.
    `new_id(prefix)` returns a fresh identifier that sorts by time, `new_secret()` at least 128
    random bits in URL-safe characters. `sender_secrets` key the hashes that recognise senders,
    `sender_secret` those of Akismet keys and of clients held to a rate. `find_system(address)`
    returns the number of the autonomous system that announces an address, None for an unknown one.
    `entries_in_force` returns what moderators allow and block, as it was at most a second ago; it
    is asked once a batch, as is `taught`: what decisions taught, as they were at most a second ago;
    by default nothing. `audit_share` is the share of confident verdicts, in [0, 1], that goes to
    a moderator as the audit sample. `second_factor_secret` keys the second factors: without it,
    what is kept of them makes no code. `one_moment()` is a context within which all that a thread
    reads from the stores is of one moment, that of its first reading, until it writes: what it
    reads after that is of a later one. Where a store has no such thing it does nothing.
    `observer` is told what happens; by default nobody is.
    """

    comments: CommentStore
    verdicts: VerdictStore
    decisions: DecisionStore
    strokes: StrokeStore
    cases: CaseStore
    search: CaseSearch
    saved_views: SavedViewStore
    sender_records: SenderRecords
    figures: FigureStore
    traffic: TrafficStore
    campaigns: CampaignStore
    claims: ClaimStore
    watch: ReviewWatch
    sites: SiteStore
    users: UserStore
    sessions: SessionStore
    second_factors: SecondFactorStore
    personal_data: PersonalDataStore
    audit_log: AuditLog
    reports: ReportStore
    endpoints: EndpointStore
    deliveries: DeliveryStore
    inbound: InboundStore
    opinions: OpinionStore
    back_scorings: BackScoringStore
    back_scoring_queue: BackScoringQueue
    delivery_queue: DeliveryQueue
    notifier: SiteNotifier
    history: HistoryStore
    rebuild_place: RebuildPlace
    queue: ScoringQueue
    current_model: Callable[[], JudgingModel]
    current_promise: Callable[[], Promise | None]
    shadow_name: Callable[[], str | None]
    shadow_model: Callable[[], JudgingModel | None]
    find_model: Callable[[str], JudgingModel | None]
    clock: Clock
    passwords: PasswordHasher
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    second_factor_secret: bytes
    sender_secret: bytes
    sender_secrets: SenderSecrets
    reputation_lists: ReputationLists
    find_system: Callable[[str], int | None]
    list_entries: ListEntryStore
    entries_in_force: Callable[[], EntryBook]
    retrainings: RetrainingStore
    versions: VersionShelf
    trainer_queue: TrainerQueue
    backlog: BacklogStore
    taught: Callable[[], Taught] = nothing_taught
    audit_share: float = 0.02
    one_moment: Callable[[], AbstractContextManager[None]] = nullcontext
    observer: Observer = UNOBSERVED
