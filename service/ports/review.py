"""The review queue: its cases, and who looks at which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.case import Case, CaseFilter, CasePage, Order
from service.domain.claim import Claim
from service.domain.comment import CommentId, SiteId
from service.domain.cutoff_preview import CutoffPreview
from service.domain.published import PublishedComment
from service.domain.tally import Tally
from service.scoring.weights import Cutoffs


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

    def published(
        self, site_id: SiteId, post_urls: Sequence[str], *, offset: int, limit: int
    ) -> list[PublishedComment]:
        """Return what a site shows under any of these addresses, as `as_published` says.

        The oldest come first, of one moment by id. Addresses longer than `MAX_POST_CHARS` find
        nothing.
        """

    def count(self, criteria: CaseFilter) -> int:
        """Return how many cases match."""

    def newcomers(
        self,
        *,
        site_ids: Sequence[SiteId] | None,
        received_after: datetime,
        judged_after: datetime,
        limit: int,
    ) -> list[CommentId]:
        """Return comments that wait for review and came in since then, the newest first.

        `site_ids` None means all sites.
        """

    def tally(
        self, site_id: SiteId, *, received_from: datetime, received_before: datetime
    ) -> Tally:
        """Return the counts of a site's comments received in this period of time."""

    def cutoff_preview(
        self, site_id: SiteId, *, received_from: datetime, cutoffs: Cutoffs
    ) -> CutoffPreview:
        """Return what these cutoffs would make of a site's comments received since then.

        Each has its verdict; its `p_spam` is compared anew, as `scoring.policy` does.
        """


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
