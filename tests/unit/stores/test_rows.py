"""Rows written by an older version are read all the same."""

from __future__ import annotations

from types import SimpleNamespace

from service.domain.comment import CommentId
from service.domain.verdict import WeighedSignal, WeightKind
from service.stores.sql.rows import verdict_from, verdict_values
from tests.factories import make_signal, make_verdict


def test_a_verdict_of_before_there_were_boundaries_has_none():
    signal = WeighedSignal(signal=make_signal(boundaries=(3,)), weight=1.0, contribution=1.0)
    values = verdict_values(make_verdict(CommentId("c"), signals=(signal,)))
    for written in values["signals"]:
        del written["boundaries"]

    verdict = verdict_from(SimpleNamespace(**values))

    assert [weighed.signal.boundaries for weighed in verdict.signals] == [()]


def test_the_kind_of_a_weight_is_kept_and_an_old_verdict_tells_none():
    learnt = WeighedSignal(
        signal=make_signal(),
        weight=1.0,
        contribution=1.0,
        kind=WeightKind.LEARNT,
        decisions=34,
    )
    values = verdict_values(make_verdict(CommentId("c"), signals=(learnt,)))

    kept = verdict_from(SimpleNamespace(**values))
    for written in values["signals"]:
        del written["kind"], written["decisions"]
    old = verdict_from(SimpleNamespace(**values))

    assert kept.signals == (learnt,)
    assert [(one.kind, one.decisions) for one in old.signals] == [(None, 0)]
