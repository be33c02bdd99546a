"""Whatever happens to comments, in whatever order, and whatever store fails: the same holds.

Each act stands once in the log, undoing takes back only what was seen, and what a site is told last
is what holds.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from models.inputs import ModelOutput
from service.domain.comment import CommentId, Label, Lane
from service.domain.decision import ChosenBy, Mode, Ruling
from service.domain.errors import ConflictError, NotFoundError, StoreUnavailableError
from service.domain.sender import make_sender
from service.domain.site import SiteSettings
from service.moderation.callbacks import set_callback
from service.moderation.decisions import (
    decide_comment,
    decide_together,
    undo_as_seen,
    undo_bulk_decision,
    undo_decision,
)
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.erasing import erase_person, find_person
from service.moderation.intake import submit_comments
from service.moderation.remembering import remember_open
from service.moderation.revise import report_comment, withdraw_comment
from service.ports.comments import NewComment
from tests.factories import SITE, make_comment
from tests.fakes import FixedClassifier, deliver_all, make_site
from tests.worlds import FailingAt, services_in

PEOPLE = ("mara@example.org", "ola@example.org")
MODERATORS = st.sampled_from(["ada", "bob"])
RULINGS = st.sampled_from(list(Ruling))
# Which call of a store fails, none for 0, and whether it had done its work before.
Fault = tuple[int, bool]
FAULTS = st.tuples(st.just(0) | st.integers(1, 12), st.booleans())


class CommentsLife(RuleBasedStateMachine):
    """Lets moderators, the site and its failing stores act on comments; knows what must hold."""

    comments = Bundle("comments")
    bulk_decisions = Bundle("bulk_decisions")
    begin = staticmethod(services_in)

    def __init__(self) -> None:
        super().__init__()
        self.opened = contextlib.ExitStack()
        self.classifier = FixedClassifier()
        site = make_site(settings=SiteSettings(mode=Mode.ENFORCE, undo_seconds=30))
        self.services = self.opened.enter_context(
            self.begin(sites=[site], judges=False, classifier=self.classifier)
        )
        set_callback(SITE, "https://blog.example/hook", self.services, actor="owner")
        self.acts = Counter([("owner", "set callback", SITE)])
        self.ruled: dict[CommentId, tuple[Ruling, str] | None] = {}
        self.writer: dict[CommentId, str] = {}
        self.withdrawn: set[CommentId] = set()
        self.seen: dict[tuple[str, CommentId], str | None] = {}
        self.bulk_decision_of: dict[CommentId, str] = {}
        self.undone_bulk_decisions: set[str] = set()

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            self.opened.close()

    def do(self, fault: Fault, act: Callable[..., Any], *given: Any, **named: Any) -> None:
        """Call a use case; if a store fails in it, call it again."""
        at, answer_lost = fault
        try:
            act(*given, FailingAt(self.services, at, answer_lost=answer_lost).services, **named)
        except StoreUnavailableError:
            act(*given, self.services, **named)

    def stands(self, comment_id: CommentId) -> str | None:
        decision = self.services.cases.get(comment_id).decision
        return decision.id if decision else None

    def now_ruled(self, comment_id: CommentId, ruling: Ruling | None, by: str) -> None:
        """Note what an act on a single comment leaves, and that the log tells of it."""
        if self.ruled[comment_id] is not None:
            self.acts[by, "undo", comment_id] += 1
        if ruling is not None:
            self.acts[by, ruling.value, comment_id] += 1
        self.ruled[comment_id] = (ruling, by) if ruling else None
        self.bulk_decision_of.pop(comment_id, None)

    @rule(
        target=comments,
        p_spam=st.sampled_from([0.01, 0.5, 0.99]),
        who=st.sampled_from(PEOPLE),
        fault=FAULTS,
    )
    def submit(self, p_spam: float, who: str, fault: Fault) -> CommentId:
        number = len(self.ruled)
        comment_id = CommentId(f"c{number}")
        text = f"{who} asks for the {number}th time about valves."
        self.classifier.by_text[text] = ModelOutput(p_spam=p_spam)
        comment = make_comment(
            text,
            id=comment_id,
            site_comment_id=f"wp-{number}",
            sender=make_sender(address=None, email=who, secrets=self.services.sender_secrets),
        )
        self.do(fault, submit_comments, [NewComment(comment=comment, lane=Lane.BULK)])
        self.ruled[comment_id] = None
        self.writer[comment_id] = who
        return comment_id

    @rule()
    def judge(self) -> None:
        # What the queue lost the sweep finds.
        waiting = [one for one in self.ruled if one not in self.withdrawn]
        self.services.queue.put(waiting, Lane.BULK)
        self.services.queue.run()

    @rule(comment_id=comments, who=MODERATORS)
    def look(self, comment_id: CommentId, who: str) -> None:
        self.seen[who, comment_id] = self.stands(comment_id)

    @rule(comment_id=comments, who=MODERATORS, ruling=RULINGS, fault=FAULTS)
    def decide(self, comment_id: CommentId, who: str, ruling: Ruling, fault: Fault) -> None:
        before, seen = self.ruled[comment_id], self.seen.get((who, comment_id))
        is_alike = before is not None and before[0] is ruling
        is_stale = before is not None and self.stands(comment_id) != seen
        refused = comment_id in self.withdrawn or (is_stale and not is_alike)
        with self.refusing(refused):
            how = {"decided_by": who, "instead_of": [seen] if seen else []}
            self.do(fault, decide_comment, comment_id, ruling, **how)
            if not is_alike:
                self.now_ruled(comment_id, ruling, who)

    @rule(comment_id=comments, who=MODERATORS, fault=FAULTS)
    def undo(self, comment_id: CommentId, who: str, fault: Fault) -> None:
        seen, stands = self.seen.get((who, comment_id)), self.stands(comment_id)
        refused = stands is not None and (stands != seen or comment_id in self.withdrawn)
        with self.refusing(refused):
            self.do(fault, undo_as_seen, comment_id, undone_by=who, seen_decision_id=seen)
            if stands is not None:
                self.now_ruled(comment_id, None, who)

    @rule(comment_id=comments, ruling=RULINGS, fault=FAULTS)
    def site_decides(self, comment_id: CommentId, ruling: Ruling, fault: Fault) -> None:
        before = self.ruled[comment_id]
        with self.refusing(comment_id in self.withdrawn):
            self.do(fault, decide_comment, comment_id, ruling, decided_by="site", at_once=True)
            if before is None or before[0] is not ruling:
                self.now_ruled(comment_id, ruling, "site")

    @rule(comment_id=comments, fault=FAULTS)
    def site_undoes(self, comment_id: CommentId, fault: Fault) -> None:
        stands = self.stands(comment_id)
        with self.refusing(comment_id in self.withdrawn or stands is None):
            self.do(fault, undo_decision, comment_id, undone_by="site", decision_id=stands)
            self.now_ruled(comment_id, None, "site")

    @rule(comment_id=comments, label=st.sampled_from(list(Label)), fault=FAULTS)
    def report(self, comment_id: CommentId, label: Label, fault: Fault) -> None:
        case, site = self.services.cases.get(comment_id), self.services.sites.get(SITE)
        text = case.comment.text or "a comment that is gone"
        self.do(
            fault, lambda services: report_comment(label, site=site, text=text, services=services)
        )

    @rule(comment_id=comments, fault=FAULTS)
    def withdraw(self, comment_id: CommentId, fault: Fault) -> None:
        self.do(fault, withdraw_comment, comment_id, by="site")
        if comment_id not in self.withdrawn:
            self.acts["site", "withdraw", comment_id] += 1
        self.withdrawn.add(comment_id)

    @rule(who=st.sampled_from(PEOPLE), fault=FAULTS)
    def erase(self, who: str, fault: Fault) -> None:
        self.do(fault, erase_person, find_person(self.services, email=who), by="owner")
        self.withdrawn |= {one for one, writer in self.writer.items() if writer == who}

    @rule(target=bulk_decisions, who=MODERATORS, ruling=RULINGS, fault=FAULTS)
    def decide_all(self, who: str, ruling: Ruling, fault: Fault) -> Any:
        bulk_decision_id = f"str-{self.acts.total()}"
        how = {"decided_by": who, "what": ChosenBy.SELECTION, "bulk_decision_id": bulk_decision_id}
        self.do(fault, decide_together, list(self.ruled), ruling, **how)
        self.acts[who, f"{ruling.value} together", bulk_decision_id] += 1
        for comment_id, before in self.ruled.items():
            if comment_id not in self.withdrawn and (before is None or before[0] is not ruling):
                self.ruled[comment_id] = (ruling, who)
                self.bulk_decision_of[comment_id] = bulk_decision_id
        return bulk_decision_id if self.ruled else multiple()

    @rule(bulk_decision_id=bulk_decisions, who=MODERATORS, fault=FAULTS)
    def undo_all(self, bulk_decision_id: str, who: str, fault: Fault) -> None:
        self.do(fault, undo_bulk_decision, bulk_decision_id, undone_by=who)
        if bulk_decision_id not in self.undone_bulk_decisions:
            self.acts[who, "undo together", bulk_decision_id] += 1
        self.undone_bulk_decisions.add(bulk_decision_id)
        for comment_id, of in list(self.bulk_decision_of.items()):
            if of == bulk_decision_id and comment_id not in self.withdrawn:
                self.ruled[comment_id] = None
                del self.bulk_decision_of[comment_id]

    @rule(seconds=st.sampled_from([1, 31]), is_up=st.booleans())
    def tell(self, seconds: int, *, is_up: bool) -> None:
        self.services.clock.advance(seconds=seconds)
        self.services.notifier.status = 204 if is_up else None
        for one in take_deliveries(self.services, limit=99):
            deliver(one, self.services)

    @invariant()
    def decisions_stand_as_they_were_made(self) -> None:
        stand = {}
        for case in self.services.cases.find(list(self.ruled)):
            one = case.decision
            stand[case.comment.id] = (one.ruling, one.decided_by) if one else None

        assert stand == self.ruled

    @invariant()
    def the_log_holds_each_act_once(self) -> None:
        entries = self.services.audit_log.recent(limit=9_999)
        logged = Counter(
            (one.actor, one.act, one.subject) for one in entries if one.act != "erase person"
        )

        assert logged == self.acts

    @contextlib.contextmanager
    def refusing(self, refused: bool) -> Any:  # noqa: FBT001  # reads as a sentence
        """Expect that an act is refused, or is not."""
        was_refused = False
        try:
            yield
        except (ConflictError, NotFoundError):
            was_refused = True
        assert was_refused == refused

    def settle(self) -> None:
        """Let everything happen that happens by itself, and look at what the site knows then."""
        self.judge()
        remember_open(self.services)
        self.services.notifier.status = 204
        self.services.clock.advance(days=1)
        deliver_all(self.services)
        told = {
            one.comment_id: json.loads(one.payload)["data"]
            for one, _ in self.services.notifier.sent
        }
        for case in self.services.cases.find(list(self.ruled)):
            if case.withdrawn_at is None:
                last = told[case.comment.id]
                ruling = case.decision.ruling.value if case.decision else None
                assert case.verdict is not None
                assert (last["ruling"], last["action"]) == (ruling, case.action.value)
                assert (last["outcome"], last["state"]) == (case.verdict.outcome, case.state)
        assert self.services.decisions.find_unremembered(limit=99) == []


TestCommentsLife = CommentsLife.TestCase
TestCommentsLife.settings = settings(
    max_examples=20,
    stateful_step_count=20,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
