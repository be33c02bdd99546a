"""What an author is told of a comment that was held or rejected, and the signed link to it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import Comment
from service.domain.decision import EDIT_POLICY, Action
from service.domain.verdict import Outcome, Verdict, WeightKind

MAX_APPEAL_CHARS = 500


class Ground(StrEnum):
    """Why a comment is not shown: coarse, so that no spammer learns what to change."""

    PERSON = "person"
    PERSON_BEFORE_EDIT = "person_before_edit"
    CAMPAIGN = "campaign"
    RULE = "rule"
    UNCHECKED = "unchecked"
    ELSEWHERE = "elsewhere"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The reasons of a case as it stands: the ground, whether a person decided, and when."""

    ground: Ground
    by_person: bool
    at: datetime


def statement_of(case: Case) -> Statement | None:
    """Return what the author may be told of a case.

    None while there is no verdict, and for what the machine calls spam unless its site wants that
    explained: nothing tells the two apart. Neither is there any of a withdrawn comment.
    """
    verdict, decision = case.verdict, case.decision
    if verdict is None or case.withdrawn_at is not None:
        return None
    if verdict.outcome is Outcome.SPAM and not case.explains_spam:
        return None
    if decision is None:
        return Statement(ground=_ground_of(verdict), by_person=False, at=verdict.judged_at)
    ground = Ground.PERSON
    if not is_by_person(decision):
        was_edited = decision.decided_by.startswith(EDIT_POLICY)
        ground = Ground.PERSON_BEFORE_EDIT if was_edited else Ground.CAMPAIGN
    return Statement(ground=ground, by_person=ground is Ground.PERSON, at=decision.decided_at)


def may_appeal(case: Case) -> bool:
    """Return True if the author may appeal: once, and against what keeps the comment unseen."""
    is_unseen = case.action is not Action.PUBLISH
    return is_unseen and case.appeal is None and statement_of(case) is not None


def _ground_of(verdict: Verdict) -> Ground:
    if verdict.degraded:
        return Ground.UNCHECKED
    if verdict.followed or verdict.held_by:
        return Ground.RULE
    # What cannot be read in the comment itself has weights that are set or learnt.
    elsewhere = sum(
        one.contribution
        for one in verdict.signals
        if one.kind in {WeightKind.SET, WeightKind.LEARNT}
    )
    return Ground.ELSEWHERE if elsewhere > max(0.0, verdict.score - elsewhere) else Ground.WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLinks:
    """Makes and checks the links to statements; each leads to one comment of one site alone."""

    secret: bytes = field(repr=False)
    pages_url: str = ""

    def url_of(self, case: Case) -> str | None:
        """Return the link that the site may show to the author, None where nothing is held."""
        if case.action is Action.PUBLISH or statement_of(case) is None:
            return None
        return self.url_of_comment(case.comment)

    def url_of_comment(self, comment: Comment) -> str:
        """Return the link of a comment that is kept, whatever becomes of it.

        It is a path on this host where nobody told the service its own address.
        """
        return f"{self.pages_url}/public/statements/{comment.id}.{self._mac(comment)}"

    def is_signed(self, comment: Comment, mac: str) -> bool:
        """Return True if a token's second half was made here, for this comment."""
        return hmac.compare_digest(mac.encode(), self._mac(comment).encode())

    def _mac(self, comment: Comment) -> str:
        what = f"{comment.site_id}:{comment.id}".encode()
        return hmac.digest(self.secret, what, "sha256").hex()[:32]
