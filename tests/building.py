"""What a build hook is called for, in each of the situations that a static site can meet.

Each scenario is held by `tests/behaviour/test_building.py`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.delivery import Delivery, DeliveryState
from service.domain.site import SiteSettings
from service.moderation.review.decide import decide_comment, undo_decision
from service.moderation.telling.callbacks import set_build_hook
from service.moderation.telling.deliver import deliver, take_deliveries
from service.outbound.guard import OutboundRules
from service.outbound.sender import HttpSiteNotifier
from tests.factories import SITE, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site, submit_to
from tests.sites import Answer, Received, Site, with_status

HAM, UNSURE, SPAM = 0.01, 0.5, 0.99


class BuiltSite:
    """A site that is built by a hook, and what the hook was called with."""

    def __init__(self) -> None:
        self.clock, self.classifier = FixedClock(), FixedClassifier()
        self.answers: Answer = with_status(200)
        self.said: list[str] = []
        self.hook = Site(answer=self._answer)
        rules = OutboundRules(
            ports=frozenset({self.hook.port}),
            plain_http=True,
            allow_networks=(ipaddress.ip_network("127.0.0.0/8"),),
        )
        self.services = make_services(
            sites=[make_site(settings=SiteSettings(undo_seconds=30))],
            clock=self.clock,
            classifier=self.classifier,
            notifier=HttpSiteNotifier(rules, clock=self.clock, seconds=5),
        )
        self.url = self.hook.url("/build_hooks/hush")
        set_build_hook(SITE, self.url, self.services, actor="test")
        self.count = 0

    @property
    def calls(self) -> int:
        """Return how often the hook was called."""
        return len(self.hook.received)

    def _answer(self, received: Received) -> list[bytes]:
        answer = list(self.answers(received))
        said = answer[0].split()[1].decode() if answer else "no answer"
        self.said.append(f"{received.line.rpartition(' ')[0]} → {said}")
        return answer

    def submit(self, p_spam: float = UNSURE) -> CommentId:
        """Have a comment judged, with this probability of spam."""
        self.classifier.answer = ModelOutput(p_spam=p_spam)
        self.count += 1
        comment = make_comment(f"It is number {self.count}.")
        submit_to(self.services, comment)
        return comment.id

    def decide(self, comment_id: CommentId, ruling: Ruling = Ruling.APPROVE) -> None:
        """Have a moderator decide."""
        decide_comment(comment_id, ruling, self.services, decided_by="ada")

    def undo(self, comment_id: CommentId) -> None:
        """Have the decision undone."""
        undo_decision(comment_id, self.services, undone_by="ada")

    def wait(self, seconds: int, *, step: int = 5) -> None:
        """Let time pass; as the dispatcher does, messages that are due are taken four at a time."""
        for _ in range(0, seconds, step):
            self.clock.advance(seconds=step)
            while due := take_deliveries(self.services, limit=4):
                for one in due:
                    deliver(one, self.services)

    def messages(self, state: DeliveryState | None = None) -> list[Delivery]:
        """Return what the site was to be told."""
        return self.services.deliveries.recent(state=state, site_id=SITE, limit=99)


def judged_ham(site: BuiltSite) -> None:
    """A verdict publishes."""
    site.submit(HAM)
    site.wait(120)


def judged_spam_or_unsure(site: BuiltSite) -> None:
    """Nothing is shown."""
    site.submit(SPAM)
    site.submit(UNSURE)
    site.wait(120)


def rejected_while_held(site: BuiltSite) -> None:
    """A person rejects what nobody saw."""
    site.decide(site.submit(), Ruling.REJECT)
    site.wait(120)


def approved(site: BuiltSite) -> None:
    """A person publishes what was held."""
    site.decide(site.submit())
    site.wait(120)


def twenty_approved(site: BuiltSite) -> None:
    """A person clears the queue in forty seconds."""
    for comment_id in [site.submit() for _ in range(20)]:
        site.decide(comment_id)
        site.wait(2, step=2)
    site.wait(120)


def approved_and_undone(site: BuiltSite) -> None:
    """An approval is undone after it was built in."""
    comment_id = site.submit()
    site.decide(comment_id)
    site.wait(120)
    site.undo(comment_id)
    site.wait(120)


def away_for_an_hour(site: BuiltSite) -> None:
    """The host takes no connection for an hour."""
    port = site.hook.port
    site.decide(site.submit())
    site.hook.close()
    site.wait(3_600, step=60)
    site.hook = Site(port=port, answer=site._answer)
    site.wait(10_800, step=300)


def answer_lost(site: BuiltSite) -> None:
    """The host builds, and its answer is lost."""
    site.answers = lambda _: []
    site.decide(site.submit())
    site.wait(60)
    site.answers = with_status(200)
    site.wait(120)


def too_many_calls(site: BuiltSite) -> None:
    """The host asks for two minutes."""
    site.answers = with_status(429, "Retry-After: 120\r\n")
    site.decide(site.submit())
    site.wait(120)
    site.answers = with_status(200)
    site.wait(120)


@dataclass(frozen=True)
class Scenario:
    """What happens, and what the hook answered to the calls that it caused."""

    name: str
    happens: Callable[[BuiltSite], None]
    answers: tuple[str, ...]


SCENARIOS = (
    Scenario("judged ham", judged_ham, ("200",)),
    Scenario("judged spam, or unsure", judged_spam_or_unsure, ()),
    Scenario("rejected while it was held", rejected_while_held, ()),
    Scenario("approved", approved, ("200",)),
    Scenario("twenty approved within a minute", twenty_approved, ("200",)),
    Scenario("approved, undone after the build", approved_and_undone, ("200", "200")),
    Scenario("approved, host away for an hour", away_for_an_hour, ("200",)),
    Scenario("approved, answer lost", answer_lost, ("no answer", "200")),
    Scenario("429, asks for two minutes", too_many_calls, ("429", "200")),
)
