"""A worker's and a moderator's work over a history store on a real server, with calls counted."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from service.domain.comment import CommentId, Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Verdict
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.judging import judge_batch
from service.moderation.remembering import rebuild_if_blank, remember_open
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.notes import RebuildPlace
from tests.factories import keep_all, make_comment
from tests.fakes import FixedClassifier, make_services

MARA = Sender(address_key="a1", network_key="n1", email_key="e1", name_key="m1")


class Desk:
    """Judges and decides comments of one sender, Mara; the database is a file in RAM.

    Time of day stands still; `monotonic` is the history's.
    """

    def __init__(self, url: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.history = ValkeyHistoryStore(url, monotonic=monotonic)
        self._place = RebuildPlace(url)
        self.services = make_services(
            history=self.history,
            rebuild_place=self._place,
            classifier=FixedClassifier(0.01),
            judges=False,
        )

    def keep(self, sender: Sender = MARA) -> CommentId:
        """Keep a comment and return its id."""
        comment = make_comment(sender=sender)
        keep_all(self.services.comments, comment)
        return comment.id

    def judge(self, count: int = 4) -> list[Verdict]:
        """Keep some comments, judge them in one batch and return their verdicts, all of them."""
        ids = [self.keep() for _ in range(count)]
        judge_batch(ids, self.services)
        verdicts = [self.services.cases.get(one).verdict for one in ids]
        return [verdict for verdict in verdicts if verdict is not None]

    def decide(self, ruling: Ruling = Ruling.REJECT) -> CommentId:
        """Have a moderator rule on a comment of Mara's and return its id."""
        comment_id = self.keep()
        decide_comment(comment_id, ruling, self.services, decided_by="mod")
        return comment_id

    def undo(self, comment_id: CommentId) -> None:
        """Have the moderator take a ruling back."""
        undo_decision(comment_id, self.services, undone_by="mod")

    def upkeep(self) -> None:
        """Do what is done on time; a store that is away is tried next time."""
        with contextlib.suppress(StoreUnavailableError):
            rebuild_if_blank(self.services, goes_on=lambda: True)
        with contextlib.suppress(StoreUnavailableError):
            remember_open(self.services)

    def unremembered(self) -> int:
        """Return how many decisions and undoings histories do not know of."""
        return len(self.services.decisions.find_unremembered(limit=1_000))

    def rejected(self) -> float:
        """Return how many rejections of Mara's comments the server knows of."""
        asked = make_comment(sender=MARA)
        [history] = self.history.gather([asked], now=self.services.clock())
        return history.email.everywhere.rejected

    def close(self) -> None:
        """Give the connections back."""
        self.history.close()
        self._place.close()
