"""Keeps everything in memory: the fakes that tests run on, held to the contracts of the ports."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from service.campaigns.acts import Act
from service.campaigns.traits import Traits
from service.domain.aside import Aside
from service.domain.campaign import is_by_person
from service.domain.case import Case, CaseFilter, CasePage, Order, PendingComment
from service.domain.comment import Comment, CommentId, Lane, ListHits, Sender, SiteId
from service.domain.cutoff_preview import CutoffPreview
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery
from service.domain.errors import ConflictError, NotFoundError
from service.domain.normal_form import content_key
from service.domain.precedent import Precedent, PrecedentPage
from service.domain.published import MAX_POST_CHARS, PublishedComment, as_published
from service.domain.report import Label, Report
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.tally import Tally
from service.domain.user import User
from service.domain.verdict import Outcome, Verdict
from service.ports.audit import (
    Acts,
    AuditEntry,
    AuditFilter,
    AuditPage,
)
from service.ports.comments import (
    Added,
    AddOutcome,
    Attempt,
    NewComment,
)
from service.ports.decisions import Tell
from service.scoring.policy import decide
from service.scoring.review_order import review_at
from service.scoring.weights import Cutoffs
from service.stores.batches import refuse_mixed
from service.stores.cursor import Place, decode_cursor, encode_cursor, place_of
from service.stores.deliveries import kept_of
from service.stores.limits import MAX_FOUND_BY_CONTENT, OVERTAKEN_BY
from service.stores.memory.accounts import MemorySecondFactorStore, MemorySessionStore
from service.stores.memory.asides import MemoryAsideStore
from service.stores.memory.backlog import MemoryBacklogStore
from service.stores.memory.campaigns import KeptTraits, MemoryCampaignStore
from service.stores.memory.claims import MemoryClaimStore
from service.stores.memory.deliveries import MemoryDeliveryStore
from service.stores.memory.endpoints import MemoryEndpointStore
from service.stores.memory.figures import MemoryFigureStore
from service.stores.memory.history import MemoryHistoryStore
from service.stores.memory.inbound import MemoryInboundStore
from service.stores.memory.list_entries import MemoryListEntryStore
from service.stores.memory.opinions import MemoryBackScoringStore, MemoryOpinionStore
from service.stores.memory.personal_data import MemoryPersonalDataStore
from service.stores.memory.queue import MemoryScoringQueue
from service.stores.memory.reminders import MemoryReminderStore
from service.stores.memory.retrainings import MemoryRetrainingStore
from service.stores.memory.rings import MemoryAct, MemoryRingStore
from service.stores.memory.scan_checks import MemoryScanCheckStore
from service.stores.memory.search import MemoryCaseSearch, MemorySavedViewStore, MemorySenderRecords
from service.stores.memory.sender_notes import MemorySenderNoteStore
from service.stores.memory.strokes import MemoryStrokeStore
from service.stores.memory.traffic import MemoryTrafficStore
from service.stores.memory.watch import MemoryReviewWatch
from service.stores.personal_keys import personal_keys
from service.stores.preview import preview_of
from service.stores.repeats import Held, claims_of, resolve, site_comment_digest
from service.stores.tally import tally_of
from service.stores.withdrawal import blanked


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A comment and everything that happened to it."""

    comment: Comment
    lane: Lane
    content_key: str | None
    queued_at: datetime | None = None
    attempts: int = 0
    verdict: Verdict | None = None
    audit: bool = False
    decisions: list[Decision] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    withdrawn_at: datetime | None = None
    # As kept in step by verdicts and reports; None as long as there was neither.
    review_at: datetime | None = None

    @property
    def waits_for_verdict(self) -> bool:
        """Say whether the comment is still to be judged."""
        return self.verdict is None and self.withdrawn_at is None


@dataclass(slots=True, kw_only=True)
class _State:
    """What all memory stores of one set share, under one lock."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    comments: dict[CommentId, _Kept] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    sites: dict[SiteId, Site] = field(default_factory=dict)
    keys: dict[str, SiteKey] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    audit_log: list[AuditEntry] = field(default_factory=list)
    # Ids of all decisions in the order they were made in, and since when some are unremembered.
    decided: list[tuple[str, CommentId]] = field(default_factory=list)
    unremembered: dict[str, datetime] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    # In the order in which they were judged.
    traits: dict[CommentId, KeptTraits] = field(default_factory=dict)
    acts: dict[CommentId, MemoryAct] = field(default_factory=dict)
    ring_of: dict[CommentId, str] = field(default_factory=dict)
    campaign_of: dict[CommentId, str] = field(default_factory=dict)
    # Judged, and not counted yet.
    uncounted: set[CommentId] = field(default_factory=set)
    asides: dict[CommentId, Aside] = field(default_factory=dict)

    def site(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` for an unknown one."""
        if site_id not in self.sites:
            msg = f"there is no site {site_id!r}"
            raise NotFoundError(msg)
        return self.sites[site_id]

    def kept(self, comment_id: CommentId) -> _Kept:
        """Return a kept comment. Raise `NotFoundError` for an unknown one."""
        if comment_id not in self.comments:
            msg = f"there is no comment {comment_id!r}"
            raise NotFoundError(msg)
        return self.comments[comment_id]

    def count_in_force(self, stroke_id: str) -> int:
        """Return how many decisions of a stroke are in force."""
        return sum(
            decision.stroke_id == stroke_id and decision.undone_at is None
            for kept in self.comments.values()
            for decision in kept.decisions
        )

    def forget_act(self, comment_id: CommentId) -> None:
        """Forget by what the sender of a comment could be told to belong with others."""
        self.acts.pop(comment_id, None)
        self.ring_of.pop(comment_id, None)

    def case(self, kept: _Kept) -> Case:
        """Return a kept comment as a case."""
        return Case(
            comment=kept.comment,
            mode=self.sites[kept.comment.site_id].settings.mode,
            verdict=kept.verdict,
            decisions=tuple(kept.decisions),
            audit=kept.audit,
            reports=tuple(kept.reports),
            withdrawn_at=kept.withdrawn_at,
            campaign_id=self.campaign_of.get(kept.comment.id),
        )

    def place_anew(self, kept: _Kept) -> None:
        """Work out where a comment stands in the review queue, now that something came in."""
        verdict = kept.verdict
        kept.review_at = review_at(
            kept.comment.received_at,
            mode=self.sites[kept.comment.site_id].settings.mode,
            outcome=verdict.outcome if verdict else None,
            p_spam=verdict.p_spam if verdict else 0.0,
            reported_as=kept.reports[-1].label if kept.reports else None,
        )

    def cases(self) -> list[Case]:
        """Return every comment as a case."""
        with self.lock:
            return [self.case(kept) for kept in self.comments.values()]


class MemoryCommentStore:
    """Keeps comments in memory; see `CommentStore`."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def add(self, comments: Sequence[NewComment]) -> list[Added]:
        """See `CommentStore.add`."""
        with self._state.lock:
            for new in comments:
                self._state.site(new.comment.site_id)
            return [self._add_one(new) for new in comments]

    def _add_one(self, new: NewComment) -> Added:
        claims = claims_of(new)
        added = resolve(claims, self._state.held)
        if added.outcome is AddOutcome.NEW:
            holder = Held(comment_id=claims.comment_id, fingerprint=claims.fingerprint)
            self._state.held.update(dict.fromkeys(claims.names, holder))
            self._state.comments[new.comment.id] = _Kept(
                comment=new.comment, lane=new.lane, content_key=content_key(new.comment.text)
            )
        return added

    def load_unjudged(self, ids: Sequence[CommentId]) -> list[Attempt]:
        """See `CommentStore.load_unjudged`."""
        with self._state.lock:
            found = [self._state.comments.get(comment_id) for comment_id in dict.fromkeys(ids)]
            return [
                Attempt(
                    comment=kept.comment,
                    attempts=kept.attempts,
                    settings=self._state.sites[kept.comment.site_id].settings,
                )
                for kept in found
                if kept is not None and kept.waits_for_verdict
            ]

    def count_attempt(self, ids: Sequence[CommentId]) -> None:
        """See `CommentStore.count_attempt`."""
        with self._state.lock:
            for comment_id in dict.fromkeys(ids):
                if comment_id in self._state.comments:
                    self._state.comments[comment_id].attempts += 1

    def lower_attempts(self, to: Mapping[CommentId, int]) -> None:
        """See `CommentStore.lower_attempts`."""
        with self._state.lock:
            for comment_id, most in to.items():
                if comment_id in self._state.comments:
                    kept = self._state.comments[comment_id]
                    kept.attempts = min(kept.attempts, most)

    def mark_queued(self, ids: Sequence[CommentId], at: datetime) -> None:
        """See `CommentStore.mark_queued`."""
        with self._state.lock:
            for comment_id in ids:
                if comment_id in self._state.comments:
                    self._state.comments[comment_id].queued_at = at

    def find_stranded(
        self, lane: Lane, *, queued_before: datetime, received_before: datetime, limit: int
    ) -> list[PendingComment]:
        """See `CommentStore.find_stranded`."""
        with self._state.lock:
            of_lane = [kept for kept in self._state.comments.values() if kept.lane is lane]
            judged = [k.queued_at for k in of_lane if k.verdict is not None and k.queued_at]
            lost_before = max([queued_before, *(at - OVERTAKEN_BY for at in judged)])

            def is_stranded(kept: _Kept) -> bool:
                if not kept.waits_for_verdict:
                    return False
                if kept.queued_at is None:
                    return kept.comment.received_at < received_before
                return kept.queued_at < lost_before

            stranded = [kept for kept in of_lane if is_stranded(kept)]
            stranded.sort(key=lambda kept: (kept.comment.received_at, kept.comment.id))
            return [
                PendingComment(
                    comment_id=kept.comment.id,
                    lane=kept.lane,
                    queued_at=kept.queued_at,
                    attempts=kept.attempts,
                )
                for kept in stranded[:limit]
            ]

    def pending(self) -> list[tuple[Lane, datetime]]:
        """Return the lane of each comment without a verdict, and when it came in."""
        with self._state.lock:
            kept = self._state.comments.values()
            return [(k.lane, k.comment.received_at) for k in kept if k.waits_for_verdict]

    def count_pending(self) -> Mapping[Lane, int]:
        """See `CommentStore.count_pending`."""
        with self._state.lock:
            counts = Counter(k.lane for k in self._state.comments.values() if k.waits_for_verdict)
        return {lane: counts[lane] for lane in Lane}

    def find_sent_by(self, sender: Sender, *, limit: int) -> list[CommentId]:
        """See `CommentStore.find_sent_by`."""
        wanted = personal_keys(sender)
        with self._state.lock:
            return [
                kept.comment.id
                for kept in self._state.comments.values()
                if any(getattr(kept.comment.sender, name) in keys for name, keys in wanted.items())
            ][:limit]

    def place_anew(
        self, site_id: SiteId, *, after: CommentId | None, limit: int
    ) -> CommentId | None:
        """See `CommentStore.place_anew`."""
        with self._state.lock:
            waiting = sorted(
                (
                    kept
                    for kept in self._state.comments.values()
                    if kept.comment.site_id == site_id and self._state.case(kept).needs_review
                ),
                key=lambda kept: kept.comment.id,
            )
            some = [kept for kept in waiting if after is None or kept.comment.id > after][:limit]
            for kept in some:
                self._state.place_anew(kept)
            return some[-1].comment.id if some else None

    def erase_senders(self, ids: Sequence[CommentId]) -> None:
        """See `CommentStore.erase_senders`."""
        with self._state.lock:
            for comment_id in ids:
                if comment_id in self._state.comments:
                    kept = self._state.comments[comment_id]
                    kept.comment = replace(kept.comment, sender=Sender())
                    self._state.traits.pop(comment_id, None)
                    self._state.forget_act(comment_id)

    def find_by_content(
        self, site_id: SiteId, content_key: str, *, since: datetime
    ) -> list[CommentId]:
        """See `CommentStore.find_by_content`."""
        with self._state.lock:
            found = [
                (kept.comment.received_at, kept.comment.id)
                for kept in self._state.comments.values()
                if kept.content_key == content_key
                and kept.comment.site_id == site_id
                and kept.comment.received_at >= since
            ]
        found.sort(reverse=True)
        return [comment_id for _, comment_id in found[:MAX_FOUND_BY_CONTENT]]

    def find_by_site_ids(
        self, site_id: SiteId, site_comment_ids: Sequence[str]
    ) -> Mapping[str, CommentId]:
        """See `CommentStore.find_by_site_ids`."""
        with self._state.lock:
            found = {
                name: self._state.held.get(site_comment_digest(site_id, name))
                for name in site_comment_ids
            }
        return {name: held.comment_id for name, held in found.items() if held is not None}

    def count_listings(self) -> Mapping[str, ListHits]:
        """See `CommentStore.count_listings`."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        with self._state.lock:
            for kept in self._state.comments.values():
                ruled = [one.ruling.value for one in kept.decisions if one.undone_at is None]
                for listing in kept.comment.sender.listings:
                    found[listing.list_name].update(["comments", *ruled])
        return {
            name: ListHits(
                comments=counted["comments"],
                approved=counted[Ruling.APPROVE],
                rejected=counted[Ruling.REJECT],
            )
            for name, counted in found.items()
        }

    def withdraw(
        self, comment_id: CommentId, *, at: datetime, act: AuditEntry | None = None
    ) -> None:
        """See `CommentStore.withdraw`."""
        with self._state.lock:
            kept = self._state.kept(comment_id)
            self._state.audit_log.extend([act] if act and kept.withdrawn_at is None else [])
            kept.withdrawn_at = kept.withdrawn_at or at
            kept.comment = blanked(kept.comment)
            kept.content_key = None
            kept.decisions = [replace(one, note=None) for one in kept.decisions]
            if comment_id in self._state.asides:
                aside = self._state.asides[comment_id]
                self._state.asides[comment_id] = replace(aside, note=None)
            self._state.traits.pop(comment_id, None)
            self._state.campaign_of.pop(comment_id, None)
            self._state.forget_act(comment_id)


class MemoryVerdictStore:
    """Keeps verdicts in memory; see `VerdictStore`."""

    def __init__(self, state: _State, deliveries: MemoryDeliveryStore) -> None:
        self._state = state
        self._deliveries = deliveries

    def add(
        self,
        verdicts: Sequence[Verdict],
        *,
        audit: frozenset[CommentId],
        deliveries: Sequence[Delivery] = (),
        tell: Tell | None = None,
        traits: Sequence[Traits] = (),
        acts: Sequence[Act] = (),
    ) -> list[CommentId]:
        """See `VerdictStore.add`."""
        stored = []
        with self._state.lock:
            for verdict in verdicts:
                kept = self._state.comments.get(verdict.comment_id)
                if kept is None or not kept.waits_for_verdict:
                    continue
                kept.verdict = verdict
                kept.audit = verdict.comment_id in audit
                self._state.place_anew(kept)
                self._state.uncounted.add(verdict.comment_id)
                stored.append(verdict.comment_id)
            by_id = {one.comment_id: one for one in verdicts}
            for one in traits:
                if one.comment_id in stored:
                    verdict = by_id[one.comment_id]
                    p_spam = verdict.p_spam if verdict.model_p_spam is not None else None
                    kept_traits = KeptTraits(traits=replace(one, p_spam=p_spam))
                    self._state.traits[one.comment_id] = kept_traits
            for act in acts:
                if act.comment_id in stored:
                    place = 1 + max((kept.place for kept in self._state.acts.values()), default=0)
                    self._state.acts[act.comment_id] = MemoryAct(place=place, act=act)
            spoken_of = [
                case
                for case in (self._state.case(self._state.kept(one)) for one in stored)
                if case.decision is not None or case.reports
            ]
            told = [one for one in deliveries if one.comment_id in stored]
            told = [one for one in told if one.comment_id not in {c.comment.id for c in spoken_of}]
            self._deliveries.add([*told, *(tell(spoken_of) if tell and spoken_of else ())])
        return stored


class MemoryDecisionStore:
    """Keeps decisions in memory; see `DecisionStore`."""

    def __init__(
        self, state: _State, deliveries: MemoryDeliveryStore, strokes: MemoryStrokeStore
    ) -> None:
        self._state = state
        self._deliveries = deliveries
        self._strokes = strokes

    def add(
        self,
        decision: Decision,
        *,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
        instead_of: Collection[str] | None = None,
    ) -> Decision | None:
        """See `DecisionStore.add`."""
        with self._state.lock:
            if instead_of is not None:
                self._refuse_another(decision.comment_id, instead_of)
            replaced = self._append(decision, deliveries)
            self._log([replaced, decision] if replaced else [decision], acts)
            return replaced

    def _refuse_another(self, comment_id: CommentId, known: Collection[str]) -> None:
        decisions = self._state.kept(comment_id).decisions
        if any(one.undone_at is None and one.id not in known for one in decisions):
            raise ConflictError("somebody decided this comment in the meantime")

    def _log(self, changed: Sequence[Decision], acts: Acts | None) -> None:
        self._state.audit_log.extend(acts(changed) if acts and changed else ())

    def add_many(
        self,
        decisions: Sequence[Decision],
        *,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
        open_only: bool = False,
    ) -> list[Decision]:
        """See `DecisionStore.add_many`."""
        refuse_mixed(decisions)
        with self._state.lock:
            new = [one for one in decisions if self._is_open(one, open_only=open_only)]
            if any(self._is_taken(one.id) for one in new):
                raise ConflictError("there is a decision of this id already")
            replaced = [
                self._append(
                    one, [told for told in deliveries if told.comment_id == one.comment_id]
                )
                for one in new
            ]
            for one in new:
                if one.stroke_id is not None:
                    site_id = self._state.kept(one.comment_id).comment.site_id
                    self._strokes.count(one.stroke_id, [site_id])
            changed = [*(one for one in replaced if one is not None), *new]
            self._log(changed, acts)
            return changed

    def _is_open(self, decision: Decision, *, open_only: bool) -> bool:
        kept = self._state.comments.get(decision.comment_id)
        if kept is None or kept.withdrawn_at is not None:
            return False
        in_force = [d for d in kept.decisions if d.undone_at is None]
        if any(open_only or d.ruling is decision.ruling for d in in_force):
            return False
        if decision.stroke_id is None:
            return True
        again = any(d.stroke_id == decision.stroke_id for d in kept.decisions)
        return self._strokes.is_open(decision.stroke_id) and not again

    def _is_taken(self, decision_id: str) -> bool:
        return any(known == decision_id for known, _ in self._state.decided)

    def _append(self, decision: Decision, deliveries: Sequence[Delivery]) -> Decision | None:
        kept = self._state.kept(decision.comment_id)
        if self._is_taken(decision.id):
            msg = f"there is a decision {decision.id!r} already"
            raise ConflictError(msg)
        decisions = [*kept.decisions]
        replaced = _take_back(decisions, by=decision.decided_by, at=decision.decided_at)
        # Refuses before anything has changed.
        self._deliveries.refuse_stray(deliveries)
        withdrawn = self._deliveries.withdraw_untold([replaced.id] if replaced else [])
        corrects = replaced is not None and replaced.id not in withdrawn.unheard
        self._deliveries.add(
            [replace(one, corrects_told=corrects) for one in kept_of(deliveries, withdrawn)]
        )
        kept.decisions = [*decisions, decision]
        self._state.decided.append((decision.id, decision.comment_id))
        self._state.unremembered[decision.id] = decision.decided_at
        if replaced is not None:
            self._state.unremembered[replaced.id] = decision.decided_at
        return replaced

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
        """See `DecisionStore.undo`."""
        with self._state.lock:
            kept = self._state.kept(comment_id)
            if decision_id is not None:
                self._refuse_another(comment_id, [decision_id])
            decisions = [*kept.decisions]
            undone = _take_back(decisions, by=by, at=at)
            if undone is None:
                msg = f"comment {comment_id!r} has no decision in force"
                raise NotFoundError(msg)
            self._deliveries.refuse_stray(deliveries)
            withdrawn = self._deliveries.withdraw_untold([undone.id])
            silent = [comment_id] if undone.id in withdrawn.unheard else []
            self._deliveries.add(kept_of(deliveries, withdrawn, silent=silent))
            kept.decisions = decisions
            self._state.unremembered[undone.id] = at
            self._log([undone], acts)
            return undone

    def undo_many(
        self,
        decisions: Sequence[Decision],
        *,
        by: str,
        at: datetime,
        deliveries: Sequence[Delivery] = (),
        acts: Acts | None = None,
    ) -> list[Decision]:
        """See `DecisionStore.undo_many`."""
        with self._state.lock:
            undone = [
                self.undo(
                    one.comment_id,
                    by=by,
                    at=at,
                    deliveries=[told for told in deliveries if told.comment_id == one.comment_id],
                )
                for one in decisions
                if self._precedent(one.comment_id, one.id).decision.undone_at is None
            ]
            self._log(undone, acts)
            return undone

    def find_of_stroke(self, stroke_id: str, *, after: int, limit: int) -> PrecedentPage:
        """See `DecisionStore.find_of_stroke`."""
        return self._page(stroke_id, after=after, limit=limit)

    def find_unremembered(self, *, limit: int) -> list[Precedent]:
        """See `DecisionStore.find_unremembered`."""
        with self._state.lock:
            waiting = [
                (self._state.unremembered[decision_id], number, comment_id, decision_id)
                for number, (decision_id, comment_id) in enumerate(self._state.decided)
                if decision_id in self._state.unremembered
            ]
            return [
                self._precedent(comment_id, decision_id)
                for _, _, comment_id, decision_id in sorted(waiting)[:limit]
            ]

    def mark_remembered(self, decisions: Sequence[Decision]) -> None:
        """See `DecisionStore.mark_remembered`."""
        with self._state.lock:
            for told in decisions:
                kept = self._precedent(told.comment_id, told.id).decision
                if (kept.undone_at is None) is (told.undone_at is None):
                    self._state.unremembered.pop(told.id, None)

    def find_in_force(self, *, after: int, limit: int) -> PrecedentPage:
        """See `DecisionStore.find_in_force`."""
        return self._page(None, after=after, limit=limit)

    def find_teaching(self) -> list[tuple[int, CommentId]]:
        """See `DecisionStore.find_teaching`."""
        with self._state.lock:
            return [
                (number, comment_id)
                for number, (decision_id, comment_id) in enumerate(self._state.decided, 1)
                if self._teaches(decision_id, comment_id)
            ]

    def _teaches(self, decision_id: str, comment_id: CommentId) -> bool:
        kept, decision = self._state.kept(comment_id), self._precedent(comment_id, decision_id)
        return (
            decision.decision.undone_at is None
            and is_by_person(decision.decision)
            and kept.withdrawn_at is None
            and kept.verdict is not None
            and not kept.verdict.degraded
        )

    def last_change(self) -> tuple[int, int]:
        """See `DecisionStore.last_change`."""
        with self._state.lock:
            return len(self._state.decided), len(self._state.audit_log)

    def _page(self, stroke_id: str | None, *, after: int, limit: int) -> PrecedentPage:
        with self._state.lock:
            decided = enumerate(self._state.decided, 1)
            numbered = [(n, self._precedent(key, one)) for n, (one, key) in decided if n > after]
            found = [
                (number, precedent)
                for number, precedent in numbered
                if precedent.decision.undone_at is None
                and stroke_id in (None, precedent.decision.stroke_id)
            ][:limit]
        return PrecedentPage(
            precedents=tuple(precedent for _, precedent in found),
            next_after=found[-1][0] if found else None,
        )

    def _precedent(self, comment_id: CommentId, decision_id: str) -> Precedent:
        kept = self._state.kept(comment_id)
        [decision] = [one for one in kept.decisions if one.id == decision_id]
        return Precedent(decision=decision, comment=kept.comment)


def _take_back(decisions: list[Decision], *, by: str, at: datetime) -> Decision | None:
    """Mark the decision in force as undone and return it so marked, None if there is none."""
    for index, decision in enumerate(decisions):
        if decision.undone_at is None:
            decisions[index] = replace(decision, undone_at=at, undone_by=by)
            return decisions[index]
    return None


class MemoryReportStore:
    """Keeps reports in memory; see `ReportStore`."""

    def __init__(self, state: _State, deliveries: MemoryDeliveryStore) -> None:
        self._state = state
        self._deliveries = deliveries

    def add(self, report: Report, *, tell: Tell | None = None) -> bool:
        """See `ReportStore.add`."""
        with self._state.lock:
            self._state.site(report.site_id)
            earlier = self._of_comment(report)
            if report.id in self._state.reports or (earlier and earlier[-1].label is report.label):
                return False
            kept = self._state.kept(report.comment_id) if report.comment_id else None
            waited = kept is not None and self._state.case(kept).needs_review
            self._state.reports[report.id] = report
            earlier.append(report)
            if kept is not None:
                self._state.place_anew(kept)
                case = self._state.case(kept)
                self._deliveries.add(tell([case]) if tell and case.needs_review > waited else ())
            return True

    def _of_comment(self, report: Report) -> list[Report]:
        """Return the reports of the same comment, to be appended to."""
        if report.comment_id is None:
            return []
        kept = self._state.kept(report.comment_id)
        if kept.comment.site_id != report.site_id:
            msg = f"there is no comment {report.comment_id!r}"
            raise NotFoundError(msg)
        return kept.reports


class MemoryCaseStore:
    """Reads cases from memory; see `CaseStore`."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def get(self, comment_id: CommentId, *, site_id: SiteId | None = None) -> Case:
        """See `CaseStore.get`."""
        with self._state.lock:
            kept = self._state.kept(comment_id)
            if site_id is not None and kept.comment.site_id != site_id:
                msg = f"there is no comment {comment_id!r}"
                raise NotFoundError(msg)
            return self._state.case(kept)

    def find(self, ids: Sequence[CommentId]) -> list[Case]:
        """See `CaseStore.find`."""
        with self._state.lock:
            found = [self._state.comments.get(comment_id) for comment_id in dict.fromkeys(ids)]
            return [self._state.case(kept) for kept in found if kept is not None]

    def find_judged(self, ids: Sequence[CommentId]) -> list[Case]:
        """See `CaseStore.find_judged`."""
        with self._state.lock:
            found = [self._state.comments.get(comment_id) for comment_id in set(ids)]
            return [self._state.case(k) for k in found if k is not None and k.verdict is not None]

    def page(
        self, criteria: CaseFilter, *, order: Order, cursor: str | None, limit: int
    ) -> CasePage:
        """See `CaseStore.page`."""

        def place(case: Case) -> Place:
            kept = self._state.comments[case.comment.id]
            at = kept.review_at or case.comment.received_at
            return place_of(case, order, review_at=at)

        def key(case: Case) -> _Key:
            return _key(place(case), case, order)

        newest_first = order is Order.NEWEST
        cases = sorted(self._matching(criteria), key=key, reverse=newest_first)
        if cursor is not None:
            after_place = decode_cursor(cursor, order)
            kept = self._state.comments.get(after_place.comment_id)
            if kept is None:
                return CasePage(cases=())
            after = _key(after_place, self._state.case(kept), order)
            cases = [c for c in cases if (key(c) < after if newest_first else key(c) > after)]
        page = tuple(cases[:limit])
        more = len(cases) > limit
        return CasePage(
            cases=page,
            next_cursor=encode_cursor(place(page[-1]), order) if more else None,
        )

    def published(
        self, site_id: SiteId, post_urls: Sequence[str], *, offset: int, limit: int
    ) -> list[PublishedComment]:
        """See `CaseStore.published`."""
        wanted = {url for url in post_urls if len(url) <= MAX_POST_CHARS}
        cases = self._matching(CaseFilter(site_id=site_id))
        shown = [one for case in cases if (one := as_published(case)) and one.post_url in wanted]
        return sorted(shown, key=lambda one: (one.at, one.id))[offset : offset + limit]

    def count(self, criteria: CaseFilter) -> int:
        """See `CaseStore.count`."""
        return len(self._matching(criteria))

    def tally(
        self, site_id: SiteId, *, received_from: datetime, received_before: datetime
    ) -> Tally:
        """See `CaseStore.tally`."""
        criteria = CaseFilter(
            site_id=site_id, received_from=received_from, received_before=received_before
        )
        rows = (_tally_row(case) for case in self._matching(criteria))
        return tally_of((outcome, label, 1) for outcome, label in rows)

    def cutoff_preview(
        self, site_id: SiteId, *, received_from: datetime, cutoffs: Cutoffs
    ) -> CutoffPreview:
        """See `CaseStore.cutoff_preview`."""
        rows = [
            (
                case.verdict.outcome,
                decide(case.verdict.p_spam, cutoffs, degraded=case.verdict.degraded),
                case.decision,
            )
            for case in self._matching(CaseFilter(site_id=site_id, received_from=received_from))
            if case.verdict is not None
        ]
        return preview_of(
            ((was, becomes, 1) for was, becomes, _ in rows),
            ((was, becomes, one.ruling, 1) for was, becomes, one in rows if one is not None),
        )

    def all(self) -> list[Case]:
        """Return all cases, in the order in which their comments came in."""
        with self._state.lock:
            return [self._state.case(kept) for kept in self._state.comments.values()]

    def _matching(self, criteria: CaseFilter) -> list[Case]:
        found = [case for case in self.all() if _matches(case, criteria)]
        for at, wanted in ((criteria.awake_at, False), (criteria.aside_at, True)):
            if at is not None:
                aside = {one.comment_id for one in self._state.asides.values() if one.holds(at)}
                found = [case for case in found if (case.comment.id in aside) is wanted]
        return found


_Key = tuple[float | str, datetime, str]
# Where doubt alone counts.
_NO_MATTER = datetime(1970, 1, 1, tzinfo=UTC)


def _key(place: Place, case: Case, order: Order) -> _Key:
    if order is Order.SITE:
        return (case.comment.site_id, place.at, place.comment_id)
    if order is Order.DOUBT:
        doubt = abs(case.verdict.p_spam - 0.5) if case.verdict else 1.0
        return (doubt, _NO_MATTER, place.comment_id)
    return (place.rank, place.at, place.comment_id)


def _tally_row(case: Case) -> tuple[Outcome | None, Label | None]:
    label = case.reports[-1].label if case.reports else None
    if case.decision is not None:
        label = Label.SPAM if case.decision.ruling is Ruling.REJECT else Label.HAM
    return case.verdict.outcome if case.verdict else None, label


def _matches(case: Case, criteria: CaseFilter) -> bool:
    """Say whether a case has everything that the filter asks for."""
    received_at = case.comment.received_at
    asked_and_seen = (
        (criteria.site_id, case.comment.site_id),
        (criteria.state, case.state),
        (criteria.outcome, case.verdict.outcome if case.verdict else None),
        (criteria.needs_review, case.needs_review),
        (criteria.degraded, case.verdict.degraded if case.verdict else None),
    )
    if any(asked is not None and asked != seen for asked, seen in asked_and_seen):
        return False
    if criteria.site_ids is not None and case.comment.site_id not in criteria.site_ids:
        return False
    if criteria.received_from is not None and received_at < criteria.received_from:
        return False
    if not _lies_between(case.verdict, criteria):
        return False
    return criteria.received_before is None or received_at < criteria.received_before


def _lies_between(verdict: Verdict | None, criteria: CaseFilter) -> bool:
    if criteria.p_spam_from is None and criteria.p_spam_below is None:
        return True
    if verdict is None or verdict.p_spam < (criteria.p_spam_from or 0.0):
        return False
    return criteria.p_spam_below is None or verdict.p_spam < criteria.p_spam_below


class MemorySiteStore:
    """Keeps sites and keys in memory; see `SiteStore`."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def add(self, site: Site) -> None:
        """See `SiteStore.add`."""
        with self._state.lock:
            taken = any(other.name == site.name for other in self._state.sites.values())
            if taken or site.id in self._state.sites:
                raise ConflictError("there is a site of that name already")
            self._state.sites[site.id] = site

    def change_settings(
        self,
        site_id: SiteId,
        how: Callable[[SiteSettings], SiteSettings],
        *,
        act: Callable[[SiteSettings, SiteSettings], AuditEntry] | None = None,
    ) -> tuple[Site, Site]:
        """See `SiteStore.change_settings`."""
        with self._state.lock:
            before = self._state.site(site_id)
            after = replace(before, settings=how(before.settings))
            self._state.audit_log.extend([act(before.settings, after.settings)] if act else [])
            self._state.sites[site_id] = after
            return before, after

    def get(self, site_id: SiteId) -> Site:
        """See `SiteStore.get`."""
        with self._state.lock:
            return self._state.site(site_id)

    def all(self) -> list[Site]:
        """See `SiteStore.all`."""
        with self._state.lock:
            return sorted(self._state.sites.values(), key=lambda site: site.name)

    def add_key(self, key: SiteKey) -> None:
        """See `SiteStore.add_key`."""
        with self._state.lock:
            self._state.site(key.site_id)
            if key.id in self._state.keys or self.find_key(key.secret_sha256) is not None:
                raise ConflictError("there is such a key already")
            self._state.keys[key.id] = key

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """See `SiteStore.find_key`."""
        with self._state.lock:
            for key in self._state.keys.values():
                if key.secret_sha256 == secret_sha256:
                    return key, self._state.site(key.site_id)
        return None

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """See `SiteStore.list_keys`."""
        with self._state.lock:
            keys = [key for key in self._state.keys.values() if key.site_id == site_id]
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    def end_key(
        self, key_id: str, *, expires_at: datetime | None = None, revoked_at: datetime | None = None
    ) -> SiteKey:
        """See `SiteStore.end_key`."""
        with self._state.lock:
            if key_id not in self._state.keys:
                msg = f"there is no key {key_id!r}"
                raise NotFoundError(msg)
            key = self._state.keys[key_id]
            key = replace(
                key,
                expires_at=expires_at or key.expires_at,
                revoked_at=revoked_at or key.revoked_at,
            )
            self._state.keys[key_id] = key
            return key


class MemoryUserStore:
    """Keeps moderators' accounts in memory; see `UserStore`."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def add(self, user: User) -> None:
        """See `UserStore.add`."""
        with self._state.lock:
            if user.id in self._state.users:
                raise ConflictError("there is an account with that id already")
            self._refuse_taken_name(user)
            self._state.users[user.id] = user

    def replace(self, user: User) -> None:
        """See `UserStore.replace`."""
        with self._state.lock:
            if user.id not in self._state.users:
                msg = f"there is no account {user.id!r}"
                raise NotFoundError(msg)
            self._refuse_taken_name(user)
            self._state.users[user.id] = user

    def change(self, user_id: str, how: Callable[[User, Sequence[User]], User]) -> User:
        """See `UserStore.change`."""
        with self._state.lock:
            if user_id not in self._state.users:
                msg = f"there is no account {user_id!r}"
                raise NotFoundError(msg)
            changed = how(self._state.users[user_id], list(self._state.users.values()))
            self.replace(changed)
            return changed

    def _refuse_taken_name(self, user: User) -> None:
        holder = self.find(user.name)
        if holder is not None and holder.id != user.id:
            raise ConflictError("there is an account of that name already")

    def get(self, user_id: str) -> User | None:
        """See `UserStore.get`."""
        with self._state.lock:
            return self._state.users.get(user_id)

    def find(self, name: str) -> User | None:
        """See `UserStore.find`."""
        with self._state.lock:
            wanted = name.casefold()
            matches = (u for u in self._state.users.values() if u.name.casefold() == wanted)
            return next(matches, None)

    def all(self) -> list[User]:
        """See `UserStore.all`."""
        with self._state.lock:
            return sorted(self._state.users.values(), key=lambda user: user.name)


class MemoryAuditLog:
    """Keeps the audit log in memory; see `AuditLog`."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def append(self, entry: AuditEntry) -> None:
        """See `AuditLog.append`."""
        with self._state.lock:
            self._state.audit_log.append(entry)

    def append_all(self, entries: Sequence[AuditEntry]) -> None:
        """See `AuditLog.append_all`."""
        with self._state.lock:
            self._state.audit_log.extend(entries)

    def page(self, criteria: AuditFilter, *, after: int | None, limit: int) -> AuditPage:
        """See `AuditLog.page`."""
        with self._state.lock:
            numbered = list(enumerate(self._state.audit_log, 1))
        matching = [
            (seq, entry)
            for seq, entry in reversed(numbered)
            if (after is None or seq < after) and _is_listed(entry, criteria)
        ]
        return AuditPage(
            entries=tuple(entry for _, entry in matching[:limit]),
            next_after=matching[limit - 1][0] if len(matching) > limit else None,
        )

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """See `AuditLog.recent`."""
        with self._state.lock:
            newest_first = reversed(self._state.audit_log)
            return [e for e in newest_first if subject is None or e.subject == subject][:limit]


def _is_listed(entry: AuditEntry, criteria: AuditFilter) -> bool:
    asked_and_there = (
        (criteria.actor, entry.actor),
        (criteria.act, entry.act),
        (criteria.subject, entry.subject),
    )
    if any(asked is not None and asked != there for asked, there in asked_and_there):
        return False
    if criteria.since is not None and entry.at < criteria.since:
        return False
    return criteria.before is None or entry.at < criteria.before


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStores:
    """One set of memory adapters, for every port that keeps or carries something."""

    backlog: MemoryBacklogStore
    comments: MemoryCommentStore
    verdicts: MemoryVerdictStore
    decisions: MemoryDecisionStore
    strokes: MemoryStrokeStore
    cases: MemoryCaseStore
    search: MemoryCaseSearch
    saved_views: MemorySavedViewStore
    sender_records: MemorySenderRecords
    figures: MemoryFigureStore
    traffic: MemoryTrafficStore
    campaigns: MemoryCampaignStore
    rings: MemoryRingStore
    claims: MemoryClaimStore
    asides: MemoryAsideStore
    scan_checks: MemoryScanCheckStore
    sender_notes: MemorySenderNoteStore
    watch: MemoryReviewWatch
    sites: MemorySiteStore
    users: MemoryUserStore
    sessions: MemorySessionStore
    second_factors: MemorySecondFactorStore
    personal_data: MemoryPersonalDataStore
    audit_log: MemoryAuditLog
    reports: MemoryReportStore
    endpoints: MemoryEndpointStore
    deliveries: MemoryDeliveryStore
    inbound: MemoryInboundStore
    opinions: MemoryOpinionStore
    back_scorings: MemoryBackScoringStore
    list_entries: MemoryListEntryStore
    retrainings: MemoryRetrainingStore
    reminders: MemoryReminderStore
    history: MemoryHistoryStore
    queue: MemoryScoringQueue


def memory_stores(*, sites: Sequence[Site] = ()) -> MemoryStores:
    """Return a fresh set of memory adapters that share one state, with these sites in it."""
    state = _State(sites={site.id: site for site in sites})
    deliveries = MemoryDeliveryStore(lambda comment_id: state.kept(comment_id).comment.site_id)
    strokes = MemoryStrokeStore(state.count_in_force, state.lock, state.audit_log)
    cases = MemoryCaseStore(state)
    comments = MemoryCommentStore(state)
    return MemoryStores(
        backlog=MemoryBacklogStore(cases.all, comments.pending, deliveries.all),
        comments=comments,
        verdicts=MemoryVerdictStore(state, deliveries),
        decisions=MemoryDecisionStore(state, deliveries, strokes),
        strokes=strokes,
        cases=cases,
        search=MemoryCaseSearch(cases.all),
        saved_views=MemorySavedViewStore(state.audit_log),
        sender_records=MemorySenderRecords(cases.all),
        figures=MemoryFigureStore(cases.all, lambda: tuple(state.decided)),
        traffic=MemoryTrafficStore(state.lock, state.uncounted),
        campaigns=MemoryCampaignStore(
            state.lock,
            traits=state.traits,
            campaign_of=state.campaign_of,
            case_of=lambda comment_id: state.case(state.kept(comment_id)),
        ),
        rings=MemoryRingStore(
            state.lock,
            acts=state.acts,
            ring_of=state.ring_of,
            traits=state.traits,
            case_of=lambda comment_id: state.case(state.kept(comment_id)),
        ),
        claims=MemoryClaimStore(),
        asides=MemoryAsideStore(state.lock, state.asides, state.audit_log),
        scan_checks=MemoryScanCheckStore(cases, strokes),
        sender_notes=MemorySenderNoteStore(state.lock, state.audit_log),
        watch=MemoryReviewWatch(cases),
        sites=MemorySiteStore(state),
        users=MemoryUserStore(state),
        sessions=MemorySessionStore(lambda user_id: user_id in state.users),
        second_factors=MemorySecondFactorStore(lambda user_id: user_id in state.users),
        personal_data=MemoryPersonalDataStore(state.cases, comments.withdraw, state.audit_log),
        audit_log=MemoryAuditLog(state),
        reports=MemoryReportStore(state, deliveries),
        endpoints=MemoryEndpointStore(state.site),
        deliveries=deliveries,
        inbound=MemoryInboundStore(state.site),
        opinions=MemoryOpinionStore(state.cases),
        back_scorings=MemoryBackScoringStore(state.cases),
        list_entries=MemoryListEntryStore(state.site),
        retrainings=MemoryRetrainingStore(),
        reminders=MemoryReminderStore(),
        history=MemoryHistoryStore(),
        queue=MemoryScoringQueue(),
    )
