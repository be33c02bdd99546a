"""Holds every verdict store to its contract."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.comment import CommentId
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.verdict import Outcome, Span, WeighedSignal
from tests.factories import keep_one, make_delivery, make_signal, make_verdict


def test_a_verdict_comes_back_as_it_was_to_the_last_bit(stores):
    kept = keep_one(stores)
    weighed = tuple(
        WeighedSignal(
            signal=make_signal(
                name, strength=1 / 3, spans=(Span(start=2, end=9),), boundaries=(2, 9)
            ),
            weight=math.pi,
            contribution=math.pi / 3,
        )
        for name in ("front_page_link", "abrupt_shift")
    )
    verdict = make_verdict(
        kept,
        signals=(*weighed, WeighedSignal(signal=make_signal(spans=()), weight=0, contribution=0)),
        promo_spans=(Span(start=0, end=4), Span(start=7, end=70_000)),
        score=0.1 + 0.2,
        p_spam=math.nextafter(0.5, 1),
        model_p_spam=5e-324,
        model_contribution=-1e300,
    )

    stores.verdicts.add([verdict], audit=frozenset())

    assert stores.cases.get(kept).verdict == verdict


def instructed(label: str | None) -> Instruction:
    return Instruction(
        entry_id="ent_1",
        effect=Effect.BLOCK,
        kind=EntryKind.PHRASE,
        label=label,
        reason="Sells pills",
    )


@pytest.mark.parametrize(
    "told",
    [
        {"outcome": Outcome.SPAM, "instruction": instructed("pills \x00 % example")},
        {"outcome": Outcome.SPAM, "instruction": instructed(None)},
        {
            "model_p_spam": None,
            "signals": (),
            "promo_spans": (),
            "degraded_by": ("history", "model"),
        },
    ],
    ids=["instructed", "of an erased label", "degraded"],
)
def test_a_verdict_that_lacks_or_follows_something_comes_back_as_it_was(stores, told):
    kept = keep_one(stores)
    verdict = make_verdict(kept, **told)

    stores.verdicts.add([verdict], audit=frozenset())

    assert stores.cases.get(kept).verdict == verdict


def test_the_first_verdict_stays_untouched(stores):
    judged, fresh = keep_one(stores), keep_one(stores)
    first = make_verdict(judged, Outcome.HAM)
    stores.verdicts.add([first], audit=frozenset())

    stored = stores.verdicts.add(
        [make_verdict(judged, Outcome.SPAM), make_verdict(fresh)], audit=frozenset([judged])
    )

    assert stored == [fresh]
    case = stores.cases.get(judged)
    assert case.verdict == first
    assert not case.audit


def test_what_was_stored_is_answered_in_the_order_it_was_given_without_what_is_not_kept(stores):
    ids = [keep_one(stores) for _ in range(30)][::-1]
    given = [*ids[:9], CommentId("no"), *ids[9:]]

    stored = stores.verdicts.add([make_verdict(one) for one in given], audit=frozenset())

    assert stored == ids


def test_of_several_judges_of_one_comment_exactly_one_is_heard(stores):
    ids = [keep_one(stores) for _ in range(20)]
    together = threading.Barrier(4, timeout=30)

    def judge(number: int) -> list[CommentId]:
        stored = []
        for one in ids:
            verdict = make_verdict(one, model_version=f"judge-{number}")
            together.wait()
            stored += stores.verdicts.add([verdict], audit=frozenset())
        return stored

    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(judge, range(4)))

    assert sorted(one for some in stored for one in some) == sorted(ids)
    for number, some in enumerate(stored):
        for one in some:
            verdict = stores.cases.get(one).verdict
            assert verdict is not None
            assert verdict.model_version == f"judge-{number}"


def test_judges_whose_batches_cross_do_not_hinder_each_other(stores):
    ids = [keep_one(stores) for _ in range(40)]

    def judge(number: int) -> list[CommentId]:
        order = ids if number % 2 else ids[::-1]
        return stores.verdicts.add([make_verdict(one) for one in order], audit=frozenset())

    with ThreadPoolExecutor(6) as pool:
        stored = list(pool.map(judge, range(12)))

    assert sorted(one for batch in stored for one in batch) == sorted(ids)


def test_what_is_to_be_told_is_kept_with_the_verdict_and_only_with_it(stores):
    fresh, judged, unknown = keep_one(stores), keep_one(stores), CommentId("unknown")
    stores.verdicts.add([make_verdict(judged)], audit=frozenset())
    deliveries = [make_delivery(one) for one in (fresh, judged, unknown)]

    stores.verdicts.add(
        [make_verdict(one) for one in (fresh, judged, unknown)],
        audit=frozenset(),
        deliveries=deliveries,
    )

    kept = stores.deliveries.recent(state=None, site_id=None, limit=9)
    assert [one.id for one in kept] == [deliveries[0].id]
