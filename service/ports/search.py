"""Search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.domain.case import CasePage
from service.domain.comment import CommentId, SiteId
from service.domain.search import SearchQuery


class CaseSearch(Protocol):
    """Finds comments by their words, links, senders, verdicts and decisions.

    A query's `site:` terms are for the use case to resolve; here `site_ids` says which sites are
    looked at, None for all. Withdrawn comments are never found.
    """

    def index_due(self, *, limit: int) -> int:
        """Let comments be found that were kept or judged since; return how many, at most `limit`.

        The newest come first. Until then they are not found, or as they were before their
        verdict; decisions and reports are known at once. Safe to run at any time, twice too.
        """

    def drop_left_out(self) -> None:
        """Have the index hold no word that only withdrawn comments had.

        They are not found any more as soon as they are withdrawn, but an index may go on holding
        their words until it is written anew. Others may write meanwhile. Safe to run at any time,
        twice too; it takes time in line with the index's size.
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
