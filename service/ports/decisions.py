"""Decisions on comments, one by one and many in one act."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.bulk_decision import BulkDecision
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decided_comment import DecidedComment, DecidedPage
from service.domain.decision import Decision
from service.domain.delivery import Delivery
from service.ports.audit import Acts, BulkDecisionAct

Tell = Callable[[Sequence[Case]], Sequence[Delivery]]


"""Returns what sites are to be told of cases as they stand.

A store calls it within a transaction, perhaps more than once: it must ask no store for anything.
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
        one person, of one moment and of one bulk decision or none, at most one of a comment, else
        `ValueError` is raised. Left out are those on comments that are not kept, withdrawn, or
        ruled alike already, with `open_only` on any that are ruled at all, those on a comment that
        their bulk decision has decided before, even if that was undone, and all of them if their
        bulk decision is unknown or was taken back. The bulk decision's counts and sites are kept in
        step. Of `deliveries` those on comments decided now are kept as `add` keeps them, and what
        `acts` returns, all in one transaction. Raise `ConflictError`, and keep nothing, if an id is
        taken.
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

    def find_of_bulk_decision(
        self, bulk_decision_id: str, *, after: int, limit: int
    ) -> DecidedPage:
        """Return a bulk decision's decisions in force as `find_in_force` does."""

    def find_unremembered(self, *, limit: int) -> list[DecidedComment]:
        """Return decisions whose making or undoing histories may not know of, the oldest first.

        `add` and `undo` put a decision here in their own transactions, `mark_remembered` takes it
        out again.
        """

    def mark_remembered(self, decisions: Sequence[Decision]) -> None:
        """Say that histories know of these decisions as they stand in the arguments.

        One that was undone since is left where it is: histories know of its making alone.
        """

    def find_in_force(self, *, after: int, limit: int) -> DecidedPage:
        """Return decisions in force in the order they were made in, from the first if `after` is 0.

        A page's `next_after` is the next one's `after`. What is decided meanwhile comes later.
        """

    def find_training_decisions(self, *, limit: int) -> list[tuple[int, CommentId]]:
        """Return the number and the comment of the newest decisions that can teach, in order.

        Those are people's, in force, on comments that were judged with all their evidence and that
        were not withdrawn.
        """

    def last_change(self) -> tuple[int, int]:
        """Return two numbers of which one rises with whatever changes what decisions teach.

        The first is the newest decision's, the second the newest act's in the audit log, as every
        undoing, withdrawal, erasure and change of a site's settings is an act.
        """


class BulkDecisionStore(Protocol):
    """Keeps bulk decisions; `DecisionStore.add_many` keeps their counts."""

    def begin(
        self, bulk_decision: BulkDecision, *, act: BulkDecisionAct | None = None
    ) -> BulkDecision:
        """Keep a bulk decision before its first decision; return the kept one if its id is known.

        The log's entry that `act` returns is kept in the same transaction, if the bulk decision is
        new.
        """

    def get(self, bulk_decision_id: str) -> BulkDecision:
        """Return a bulk decision. Raise `NotFoundError` for an unknown one."""

    def take_back(
        self, bulk_decision_id: str, *, by: str, at: datetime, act: BulkDecisionAct | None = None
    ) -> BulkDecision:
        """Mark a bulk decision as undone, so that it decides nothing more; return it so marked.

        The log's entry that `act` returns is kept in the same transaction. One that is undone
        already stays as it is. Raise `NotFoundError` for an unknown one.
        """

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[BulkDecision]:
        """Return the newest first, from the one after `before` on.

        With `site_ids` only those that touched no other site. An unknown `before` finds nothing.
        """
