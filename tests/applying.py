"""What is sent to a platform in each of the situations that a decision can meet there.

Each scenario is held by `tests/behaviour/test_applying.py`.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from models.inputs import ModelOutput
from service.domain.comment import Author, Comment
from service.domain.decision import Mode, Ruling
from service.domain.delivery import Endpoint
from service.domain.site import SiteSettings
from service.moderation.review.decide import decide_comment, undo_decision
from service.moderation.telling.callbacks import resume_applier, set_applier
from service.moderation.telling.deliver import deliver, take_deliveries
from service.outbound.guard import OutboundRules
from service.outbound.sender import HttpSiteNotifier
from service.ports.services import Services
from tests.factories import SITE, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site, submit_to
from tests.platforms import PLATFORMS, TOKEN, Platform

UNDO_SECONDS = 30
OTHER_TOKEN = "another-token-9876543210"


@dataclass
class World:
    """A site whose decisions are applied at one platform, and its one comment."""

    platform: Platform
    services: Services
    clock: FixedClock
    classifier: FixedClassifier

    def submit(self, p_spam: float = 0.5, **changes: object) -> Comment:
        """Have a comment of the platform judged, with this probability of spam."""
        self.classifier.answer = ModelOutput(p_spam=p_spam)
        given = {
            "site_comment_id": self.platform.site_comment_id,
            "author": Author(name="Mara", account_id="1093"),
        }
        comment = make_comment(**(given | changes))
        submit_to(self.services, comment)
        return comment

    def decide(self, comment: Comment, ruling: Ruling = Ruling.REJECT) -> None:
        """Have a moderator decide."""
        decide_comment(comment.id, ruling, self.services, decided_by="ada")

    def undo(self, comment: Comment) -> None:
        """Have the decision undone."""
        undo_decision(comment.id, self.services, undone_by="ada")

    def apply(self, token: str = TOKEN, **given: Any) -> None:
        """Have the site's decisions applied at its platform."""
        services, given = self.services, {"url": self.platform.url} | given
        form = self.platform.form
        set_applier(SITE, form, token, services, actor="ada", **given)

    def deliver_due(self) -> None:
        """Send what is due now."""
        while due := take_deliveries(self.services, limit=99):
            for one in due:
                deliver(one, self.services)

    def wait(self, seconds: int, *, step: int = 10) -> None:
        """Let time pass, and send what becomes due in it."""
        self.deliver_due()
        for _ in range(0, seconds, step):
            self.clock.advance(seconds=step)
            self.deliver_due()

    def endpoint(self) -> Endpoint:
        """Return how the endpoint stands."""
        found = self.services.endpoints.get(SITE)
        assert found is not None
        return found


@contextlib.contextmanager
def world_of(name: str, *, mode: Mode = Mode.HOLD) -> Iterator[World]:
    """Give a world with this platform."""
    clock, classifier = FixedClock(), FixedClassifier()
    settings = SiteSettings(undo_seconds=UNDO_SECONDS, mode=mode)
    platform = PLATFORMS[name]()
    rules = OutboundRules(
        ports=frozenset({platform.site.port}),
        plain_http=True,
        allow_networks=(ipaddress.ip_network("127.0.0.0/8"),),
    )
    services = make_services(
        sites=[make_site(settings=settings)],
        clock=clock,
        classifier=classifier,
        notifier=HttpSiteNotifier(rules, clock=clock, seconds=5),
    )
    try:
        world = World(platform, services, clock, classifier)
        world.apply()
        yield world
    finally:
        platform.close()


def judged_spam_where_verdicts_reject(world: World) -> None:
    """A verdict acts where the site lets it."""
    world.submit(0.99)
    world.wait(60)


def judged_unsure(world: World) -> None:
    """Nothing follows from doubt."""
    world.submit(0.5)
    world.wait(60)


def judged_then_decided(world: World) -> None:
    """A person rejects what the verdict has hidden already."""
    comment = world.submit(0.99)
    world.wait(60)
    world.decide(comment)
    world.wait(60)


def decided(world: World) -> None:
    """A person rejects."""
    world.decide(world.submit())
    world.wait(60)


def approved(world: World) -> None:
    """A person approves what nobody hid."""
    world.decide(world.submit(), Ruling.APPROVE)
    world.wait(60)


def undone(world: World) -> None:
    """A rejection is undone after it was sent."""
    comment = world.submit()
    world.decide(comment)
    world.wait(60)
    world.undo(comment)
    world.wait(60)


def undone_before_it_was_sent(world: World) -> None:
    """A rejection is undone within the undo time."""
    comment = world.submit()
    world.decide(comment)
    world.wait(20)
    world.undo(comment)
    world.wait(120)


def verdict_overruled(world: World) -> None:
    """A person approves what a verdict had hidden."""
    comment = world.submit(0.99)
    world.wait(60)
    world.decide(comment, Ruling.APPROVE)
    world.wait(60)


def away_for_an_hour(world: World) -> None:
    """The platform takes no connection for an hour."""
    comment = world.submit()
    world.platform.go_away()
    world.decide(comment)
    world.wait(3_600, step=60)
    world.platform.come_back()
    # The next try after the fifth is two hours later.
    world.wait(10_800, step=300)


def away_and_undone_meanwhile(world: World) -> None:
    """Decided and undone while the platform takes no connection."""
    comment = world.submit()
    world.platform.go_away()
    world.decide(comment)
    world.wait(1_800, step=60)
    world.undo(comment)
    world.wait(1_800, step=60)
    world.platform.come_back()
    world.wait(10_800, step=300)


def answer_lost_and_undone(world: World) -> None:
    """The platform did it, its answer was lost, and the decision was undone before the next try."""
    comment = world.submit()
    world.decide(comment)
    world.platform.loses_answers = True
    world.wait(30)
    world.undo(comment)
    world.platform.loses_answers = False
    world.wait(60)


def answer_lost(world: World) -> None:
    """The platform did it, and its answer was lost; the decision stands."""
    world.decide(world.submit())
    world.platform.loses_answers = True
    world.wait(30)
    world.platform.loses_answers = False
    world.wait(60)


def token_revoked_then_mended(world: World) -> None:
    """The token ends; a day later the owner gives another."""
    first = world.submit()
    world.platform.token = OTHER_TOKEN
    world.decide(first)
    world.wait(24 * 3_600, step=600)
    world.apply(OTHER_TOKEN)
    world.wait(60)


def rights_given_back(world: World) -> None:
    """The token's rights end and come back; the owner has it tried again."""
    comment = world.submit()
    world.platform.token = OTHER_TOKEN
    world.decide(comment)
    world.wait(3_600, step=60)
    world.platform.token = TOKEN
    resume_applier(SITE, world.services, actor="ada")
    world.wait(60)


def too_many_calls(world: World) -> None:
    """The platform asks for two minutes, which also holds what else is due."""
    world.platform.fails = world.platform.limit
    first = world.submit()
    world.decide(first)
    world.wait(UNDO_SECONDS)
    world.decide(world.submit(text="Another.", site_comment_id=f"{world.platform.form.value}:2"))
    world.wait(110)
    world.platform.fails = None
    world.wait(30)


@dataclass(frozen=True)
class Scenario:
    """What happens, and in which mode of the site."""

    name: str
    happens: Callable[[World], None]
    mode: Mode = Mode.HOLD


SCENARIOS = (
    Scenario("judged spam, mode enforce", judged_spam_where_verdicts_reject, Mode.ENFORCE),
    Scenario("judged spam, mode hold", judged_spam_where_verdicts_reject),
    Scenario("judged unsure, mode enforce", judged_unsure, Mode.ENFORCE),
    Scenario("judged spam, then rejected", judged_then_decided, Mode.ENFORCE),
    Scenario("rejected", decided),
    Scenario("approved, never hidden", approved),
    Scenario("rejected, undone after it was sent", undone),
    Scenario("rejected, undone within the undo time", undone_before_it_was_sent),
    Scenario("hidden by a verdict, approved", verdict_overruled, Mode.ENFORCE),
    Scenario("rejected, platform away for an hour", away_for_an_hour),
    Scenario("rejected and undone while it was away", away_and_undone_meanwhile),
    Scenario("rejected, answer lost", answer_lost),
    Scenario("rejected, answer lost, undone", answer_lost_and_undone),
    Scenario("token revoked, another given a day later", token_revoked_then_mended),
    Scenario("rights lost, tried again after an hour", rights_given_back),
    Scenario("429 or its like, asks for two minutes", too_many_calls),
)
