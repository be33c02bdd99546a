"""Comments of one campaign meet: by copies, by targets, by meaning; in bounded room."""

import random

import pytest

from service.campaigns.grouping import Found, Grouping
from service.campaigns.traits import Traits
from service.domain.comment import CommentId
from tests.factories import make_traits


def vector(*numbers: float) -> tuple[float, ...]:
    """Return a unit vector whose first numbers are in the proportion given; 64 in all."""
    length = sum(n * n for n in numbers) ** 0.5
    return tuple(n / length for n in numbers) + (0.0,) * (64 - len(numbers))


def spread(seed: int) -> tuple[float, ...]:
    rng = random.Random(seed)
    return vector(*(rng.gauss(0, 1) for _ in range(64)))


def moved(start: tuple[float, ...], by: float, seed: int) -> tuple[float, ...]:
    return vector(*(a + by * b for a, b in zip(start, spread(seed), strict=True)))


def traits(name: str, *targets: str, **changes) -> Traits:
    values = {"embedding": None, "copies": (), "targets": frozenset(targets)}
    return make_traits(CommentId(name), **(values | changes))


def found(name: str, campaign: str | None = None) -> Found:
    return Found(comment_id=CommentId(name), campaign_id=campaign)


@pytest.fixture
def grouping() -> Grouping:
    return Grouping(max_remembered=100)


def test_a_copy_is_found(grouping):
    grouping.remember(traits("a", copies=("k1", "k2")), None)

    assert grouping.find(traits("b", copies=("k0", "k2"))) == found("a")


def test_doubts_are_not_tied_to_one_another_by_meaning_alone(grouping):
    grouping.remember(traits("a", embedding=spread(1), p_spam=0.6), None)
    close = moved(spread(1), 0.2, 7)

    doubt = grouping.find(traits("b", embedding=close, p_spam=0.7))
    sure = grouping.find(traits("c", embedding=close, p_spam=0.99))

    assert doubt is None
    assert sure == found("a")


def test_what_looks_sincere_draws_nobody_in_and_is_drawn_in_by_copies_and_addresses(grouping):
    grouping.remember(traits("a", copies=("k",), embedding=spread(1), p_spam=0.05), None)
    grouping.remember(traits("b", "phone:1", embedding=spread(2), p_spam=0.99), "c-1")

    of_sincere = grouping.find(traits("c", copies=("k",), p_spam=0.99))
    by_address = grouping.find(traits("d", "phone:1", p_spam=0.05))
    by_meaning = grouping.find(traits("e", embedding=spread(2), p_spam=0.05))

    assert of_sincere is None
    assert by_address == found("b", "c-1")
    assert by_meaning is None


def test_an_address_that_sincere_comments_lead_to_ties_no_others(grouping):
    grouping.remember(traits("a", "site:blog.com", p_spam=0.05), None)
    grouping.remember(traits("b", "site:blog.com", p_spam=0.6), None)
    grouping.remember(traits("c", "site:shop.com", p_spam=0.6), None)

    assert grouping.find(traits("d", "site:blog.com", p_spam=0.6)) is None
    assert grouping.find(traits("e", "site:shop.com", p_spam=0.6)) is not None


def test_one_planted_sincere_comment_does_not_untie_a_long_campaign(grouping):
    for number in range(12):
        grouping.remember(traits(f"s-{number}", "site:shop.com", p_spam=0.99), "c-1")
    grouping.remember(traits("planted", "site:shop.com", p_spam=0.05), None)

    assert grouping.find(traits("d", "site:shop.com", p_spam=0.6)) is not None


def test_meanings_of_different_models_are_not_compared(grouping):
    grouping.remember(traits("a", embedding=spread(1)), None)

    assert grouping.find(traits("b", embedding=spread(1), space="model-2")) is None


def test_a_shared_name_needs_a_like_meaning(grouping):
    grouping.remember(traits("a", "name:nervolin", embedding=spread(1)), None)

    like = traits("b", "name:nervolin", embedding=moved(spread(1), 1.0, 7))
    unlike = traits("c", "name:nervolin", embedding=tuple(-n for n in spread(1)))

    assert grouping.find(like) == found("a")
    assert grouping.find(unlike) is None


def test_without_meaning_two_names_are_needed(grouping):
    grouping.remember(traits("a", "name:nervolin", "name:doctoralba"), None)

    assert grouping.find(traits("b", "name:nervolin")) is None
    assert grouping.find(traits("c", "name:nervolin", "name:doctoralba")) is not None


def test_a_name_that_many_campaigns_use_says_nothing(grouping):
    for n in range(9):
        grouping.remember(traits(f"a{n}", "name:london", embedding=spread(1)), f"c-{n}")

    met = grouping.find(traits("b", "name:london", embedding=moved(spread(1), 1.0, 7)))

    assert met is None


def test_what_is_forgotten_is_not_found(grouping):
    one = traits("a", "site:x.com", copies=("k",), embedding=spread(1))
    grouping.remember(one, None)

    grouping.forget(CommentId("a"))
    grouping.forget(CommentId("never known"))

    assert len(grouping._slots) == 0
    assert grouping.find(traits("b", "site:x.com", copies=("k",), embedding=spread(1))) is None


def test_the_oldest_are_forgotten_when_the_room_is_full():
    grouping = Grouping(max_remembered=3)
    for n in range(10):
        grouping.remember(traits(f"a{n}", f"site:x{n}.com", "site:all.com"), None)

    assert len(grouping._slots) == 3
    assert grouping.find(traits("b", "site:x6.com")) is None
    assert grouping.find(traits("b", "site:x7.com")).comment_id == "a7"
    assert grouping.find(traits("b", "site:all.com")).comment_id == "a9"


def test_a_flood_of_one_target_hides_no_other():
    grouping = Grouping(max_remembered=2_000)
    grouping.remember(traits("a", "site:rare.com"), None)
    for n in range(1_500):
        grouping.remember(traits(f"flood-{n}", "site:flood.com"), None)

    assert grouping.find(traits("b", "site:rare.com")).comment_id == "a"
