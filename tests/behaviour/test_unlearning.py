"""Whatever was judged, decided, undone, erased and set: only what is left has taught."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import Author, CommentId, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Person
from service.domain.user import Role
from service.learning.features import IdArray
from service.learning.learned_state import LearnedState
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import erase_person
from service.moderation.judging import judge_batch
from service.moderation.revise import withdraw_comment
from service.moderation.sites import change_site_settings
from service.ports.services import Services
from service.stores.learning_cache import READ_ALL_SECONDS, LearningCache
from tests.databases import databases_given_back, fresh_stores
from tests.factories import OTHER_SITE, SITE
from tests.fakes import ForgetfulHistory, away, make_services, make_site, submit_one
from tests.unit.learning.test_learned_state import state
from tests.unit.learning.training_examples import HAM, SPAM, cache_over, features_of

SITES = (SITE, OTHER_SITE)
REVIEWERS = ("ada", "newcomer", "site", "import", "report: reader")
N_COMMENTS = 8


@dataclass
class World:
    """Two sites, an owner named ada, and a worker whose clock the test sets."""

    judges: bool = True
    seconds: float = 0.0
    stores: Any = field(
        default_factory=lambda: fresh_stores(
            sites=[make_site(), make_site(id=OTHER_SITE, name="Tap blog")]
        )
    )

    def __post_init__(self) -> None:
        self.worker, self.other_worker = self.start_worker(), self.start_worker()
        # Verdicts must not hang on who else has posted: only what is learnt of them is compared.
        self.services: Services = make_services(
            stores=self.stores, judges=self.judges, history=ForgetfulHistory()
        )
        add_user("ada", self.services, actor="test", role=Role.OWNER)

    def start_worker(self) -> LearningCache:
        return cache_over(self.stores, monotonic=lambda: self.seconds)

    def state(self) -> list[bytes]:
        """Return the features that a new worker has learnt."""
        return state(self.start_worker().current())

    def post(self, number: int, **changes: Any) -> CommentId:
        """Post one of the comments that all worlds know; each is somebody else's."""
        values = {
            "id": comment_id(number),
            "site_id": SITES[number % 3 == 0],
            "text": (SPAM if number % 2 else HAM).format(number),
            "author": Author(name=f"Writer {number}"),
        }
        return submit_one(self.services, lane=Lane.INTERACTIVE, **(values | changes)).id


def comment_id(number: int) -> CommentId:
    return CommentId(f"comment-{number}")


def is_withdrawn(world: World, number: int) -> bool:
    return world.services.cases.get(comment_id(number)).withdrawn_at is not None


def rule(world: World, number: int, by: str, ruling: Ruling) -> None:
    if not is_withdrawn(world, number):
        decide_comment(comment_id(number), ruling, world.services, decided_by=by)


def undo(world: World, number: int) -> None:
    case = world.services.cases.get(comment_id(number))
    if case.withdrawn_at is None and case.decision is not None:
        undo_decision(comment_id(number), world.services, undone_by="ada")


def erase(world: World, number: int) -> None:
    person = Person(sender=Sender(), author_name=f"Writer {number}")
    erase_person(person, world.services, by="ada")


def set_site(world: World, number: int, **changes: Any) -> None:
    site = SITES[number % 2]
    change_site_settings(site, lambda now: replace(now, **changes), world.services, actor="ada")


ACTS = {
    "approve": lambda world, n, by: rule(world, n, by, Ruling.APPROVE),
    "reject": lambda world, n, by: rule(world, n, by, Ruling.REJECT),
    "undo": lambda world, n, by: undo(world, n),
    "erase": lambda world, n, by: erase(world, n),
    "withdraw": lambda world, n, by: withdraw_comment(comment_id(n), world.services, by="site"),
    "switch off": lambda world, n, by: set_site(world, n, learns=False),
    "switch on": lambda world, n, by: set_site(world, n, learns=True),
    "forget": lambda world, n, by: set_site(world, n, learns_since=world.services.clock()),
    "ask": lambda world, n, by: world.worker.current(),
    "ask another": lambda world, n, by: world.other_worker.current(),
}
JUDGING = {"judge": lambda world, n, by: judge_batch([comment_id(n)], world.services)}


def _acts(*more: str) -> st.SearchStrategy[list[tuple[str, int, str]]]:
    names = st.sampled_from(["approve", "reject", "reject", *ACTS, "ask", *more])
    numbers, reviewers = st.integers(0, N_COMMENTS - 1), st.sampled_from(REVIEWERS)
    return st.lists(st.tuples(names, numbers, reviewers), max_size=20)


@settings(deadline=None, max_examples=15)
@given(early=_acts("judge", "judge"), late=_acts())
@databases_given_back()
def test_only_what_is_left_in_force_has_taught_to_the_last_bit(early, late):
    world = World(judges=False)
    for number in range(N_COMMENTS):
        world.post(number)

    def happens(acts):
        for act, number, by in acts:
            world.services.clock.advance(hours=7)
            (ACTS | JUDGING)[act](world, number, by)

    happens(early)
    happens([("judge", number, "") for number in range(N_COMMENTS)])
    # A late verdict leaves no trace, and is found by reading all.
    world.seconds += READ_ALL_SECONDS
    happens([("ask", 0, ""), ("ask another", 0, ""), *late])

    rest = world_of_the_rest(world).state()
    assert state(world.worker.current()) == state(world.other_worker.current()) == rest


def world_of_the_rest(world: World) -> World:
    """Return a world in which nothing ever happened but what is in force in this one."""
    rest = World()
    kept = {site.id: site.settings for site in world.services.sites.all()}
    left = [
        one
        for one in world.services.decisions.find_in_force(after=0, limit=999).items
        if not is_withdrawn(world, number_of(one.comment.id))
        and kept[one.comment.site_id].learns
        and (
            (since := kept[one.comment.site_id].learns_since) is None
            or one.decision.decided_at >= since
        )
    ]
    for one in left:
        rest.post(number_of(one.comment.id))
    for one in left:
        rest.services.clock.now = one.decision.decided_at
        by = one.decision.decided_by
        decide_comment(one.comment.id, one.decision.ruling, rest.services, decided_by=by)
    return rest


def number_of(key: CommentId) -> int:
    return int(key.rpartition("-")[2])


@pytest.mark.parametrize(
    ("store", "method"),
    [
        ("users", "all"),
        ("decisions", "find_training_decisions"),
        ("cases", "find"),
        ("sites", "all"),
    ],
)
def test_what_a_failing_store_kept_a_worker_from_learning_is_made_good(monkeypatch, store, method):
    world = World()
    for number in range(N_COMMENTS):
        world.post(number)
        ACTS["reject" if number % 2 else "approve"](world, number, "ada")
    world.worker.current()
    ACTS["reject"](world, 2, "ada")
    monkeypatch.setattr(getattr(world.stores, store), method, away)
    with pytest.raises(StoreUnavailableError):
        world.worker.current()
    monkeypatch.undo()

    assert state(world.worker.current()) == world.state()


def test_an_erased_persons_words_are_in_no_table_and_in_nothing_that_a_worker_keeps():
    world, never = World(), World()
    text = "quokka zeppelin marzipan obelisk tundra waltz"
    author = Author(name="Zed Wolkow", url="https://zed-wolkow.example/")
    for number in range(N_COMMENTS):
        if number == N_COMMENTS // 2:
            world.post(99, text=text, author=author, site_id=SITE)
            rule(world, 99, "ada", Ruling.REJECT)
        for one in (world, never):
            rule(one, number_of(one.post(number, site_id=SITE)), "ada", Ruling.REJECT)
    words = features_of(text).ids
    before = world.worker.current()

    erase_person(Person(sender=Sender(), author_name="Zed Wolkow"), world.services, by="ada")

    after = world.worker.current()
    untouched = tables_at(never.worker.current(), words)
    assert tables_at(before, words) != untouched
    assert tables_at(after, words) == untouched
    assert state(after) == never.state()
    theirs = only_theirs(words, never)
    assert len(theirs) > len(text.split())
    assert not any(np.isin(theirs, one.features.ids).any() for one in kept_by(world))


def tables_at(learned: LearnedState, ids: IdArray) -> list[bytes]:
    """Return the tables' values in the slots of these features."""
    residuals = [learned.sites[SITE].residual, learned.shared._residual]
    return [
        table[one._mask & ids].tobytes()
        for one in residuals
        for table in (one._weights, one._squares)
    ]


def only_theirs(ids: IdArray, never: World) -> IdArray:
    """Return the features that no comment of this world has."""
    return np.setdiff1d(ids, np.concatenate([one.features.ids for one in kept_by(never)]))


def kept_by(world: World) -> list[Any]:
    return [example for example, _ in world.worker._read.values()]
