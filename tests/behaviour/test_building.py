"""A static site is built again when its comments have changed, once for all changes of a minute."""

import itertools
from collections.abc import Callable

import pytest

from service.domain.decision import Ruling
from service.domain.delivery import DeliveryState
from service.domain.errors import InvalidInputError
from service.moderation.callbacks import resume_applier, set_build_hook
from service.moderation.erasing import erase_person, find_person
from service.moderation.revise import withdraw_comment
from tests.factories import SITE
from tests.platforms import TOKEN, ToldSite
from tests.sites import Answer, Received, Site, with_status

HAM, UNSURE, SPAM = 0.01, 0.5, 0.99


class BuiltSite(ToldSite):
    """A site that is built by a hook, and what the hook was called with."""

    ruling = Ruling.APPROVE
    step_seconds = 5

    def __init__(self) -> None:
        self.answers: Answer = with_status(200)
        self.said: list[str] = []
        self.hook = Site(answer=self._answer)
        super().__init__(self.hook.port)
        self.url = self.hook.url("/build_hooks/hush")
        set_build_hook(SITE, self.url, self.services, actor="test")

    @property
    def calls(self) -> int:
        return len(self.hook.received)

    def _answer(self, received: Received) -> list[bytes]:
        answer = list(self.answers(received))
        said = answer[0].split()[1].decode()
        self.said.append(f"{received.line.rpartition(' ')[0]} → {said}")
        return answer


def judged(
    p_spam: float = UNSURE, ruling: Ruling | None = None, *, undone: bool = False
) -> Callable[[BuiltSite], None]:
    def happens(site: BuiltSite) -> None:
        comment = site.submit(p_spam)
        if ruling:
            site.decide(comment, ruling)
        site.wait(120)
        if undone:
            site.undo(comment)
            site.wait(120)

    return happens


def twenty_approved(site: BuiltSite) -> None:
    for comment in [site.submit() for _ in range(20)]:
        site.decide(comment)
        site.wait(2, step=2)
    site.wait(120)


# What happens, and what the hook answered to the calls that it caused.
SCENARIOS = [
    (judged(HAM), ["200"]),
    (judged(SPAM), []),
    (judged(UNSURE), []),
    (judged(UNSURE, Ruling.REJECT), []),
    (judged(UNSURE, Ruling.APPROVE), ["200"]),
    (twenty_approved, ["200"]),
    (judged(UNSURE, Ruling.APPROVE, undone=True), ["200", "200"]),
]


@pytest.fixture
def world():
    made = BuiltSite()
    yield made
    made.hook.close()


@pytest.mark.parametrize(("happens", "answers"), SCENARIOS)
def test_what_the_hook_is_called_for(happens, answers, world):
    happens(world)

    assert world.said == [f"POST /build_hooks/hush → {one}" for one in answers]
    assert {one.state for one in world.messages()} <= {DeliveryState.DELIVERED}


def test_changes_of_three_minutes_are_a_minute_apart_at_least(world):
    at = []
    for number in range(36):
        world.decide(world.submit())
        before = world.calls
        world.wait(5)
        at += [5 * number] * (world.calls - before)

    assert 2 <= len(at) <= 3
    assert all(later - earlier >= 60 for earlier, later in itertools.pairwise(at))


def test_what_is_shown_without_a_ruling_is_built_in_and_its_rejection_out(world):
    comment = world.submit(HAM)
    world.wait(120)
    shown = world.calls
    # An approval changes nothing that is shown.
    world.decide(comment)
    world.wait(120)
    approved = world.calls
    world.decide(comment, Ruling.REJECT)
    world.wait(120)

    assert (shown, approved, world.calls) == (1, 1, 2)


def test_an_approval_that_another_build_took_along_is_built_out_when_it_is_undone(world):
    world.decided(wait=50)
    comment = world.decided(wait=10)
    took_along = world.calls
    world.undo(comment)
    world.wait(120)

    assert (took_along, world.calls) == (1, 2)


def test_what_is_withdrawn_at_the_site_or_erased_is_built_out(world):
    first, second = world.submit(HAM), world.submit(HAM)
    held = world.submit(UNSURE)
    world.wait(120)
    shown = world.calls
    withdraw_comment(held.id, world.services, by="site")
    world.wait(120)
    after_held = world.calls
    withdraw_comment(first.id, world.services, by="site")
    world.wait(120)
    after_withdrawal = world.calls
    name = world.services.cases.get(second.id).comment.author.name
    erase_person(find_person(world.services, name=name), world.services, by="ada")
    world.wait(120)

    assert (shown, after_held, after_withdrawal, world.calls) == (1, 1, 2, 3)


def test_while_the_host_is_away_it_is_called_once_a_minute_at_most_and_nothing_is_lost(world):
    world.answers = with_status(503)
    for _ in range(5):
        world.decide(world.submit())
    world.wait(600)
    tried = world.calls

    world.answers = with_status(200)
    world.wait(7_200, step=60)

    assert 2 <= tried <= 10
    assert world.calls == tried + 1
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_hook_that_is_gone_stops_and_loses_nothing(world, status):
    world.answers = with_status(status)
    world.decided(wait=24 * 3_600, step=3_600)
    world.decided(wait=3_600, step=60)
    stopped = world.services.endpoints.get(SITE).refused_at

    world.answers = with_status(200)
    resume_applier(SITE, world.services, actor="ada")
    world.wait(120)

    assert stopped is not None
    assert world.calls == 2
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}


@pytest.mark.parametrize(
    ("path", "token", "body"),
    [
        ("/build_hooks/hush", None, b""),
        # GitHub is sent an event.
        ("/repos/ada/blog/dispatches", TOKEN, b'{"event_type": "slopsieve"}'),
    ],
)
def test_a_call_is_a_post_that_names_no_comment(world, path, token, body):
    given = token and f"{token}\n"
    set_build_hook(SITE, world.hook.url(path), world.services, actor="test", token=given)
    world.answers = with_status(204)
    world.decided(wait=60)

    [received] = world.hook.received
    assert (received.line, received.body) == (f"POST {path} HTTP/1.1", body)
    assert received.headers.get("authorization") == (token and f"Bearer {token}")
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}
    assert TOKEN not in repr(world.services.endpoints.get(SITE))


def test_a_wrong_token_is_refused(world):
    with pytest.raises(InvalidInputError, match="token"):
        set_build_hook(SITE, world.url, world.services, actor="ada", token="short")
