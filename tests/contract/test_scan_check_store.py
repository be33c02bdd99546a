"""Holds every store to the contract of what is left out of a scanned screen and looked at alone."""

from __future__ import annotations

from datetime import timedelta

from service.domain.bulk_decision import ChosenBy
from service.domain.decision import Decision, Ruling
from service.domain.scan import Agreement, ScanCheck
from tests.contract.test_bulk_decision_store import keep, make_bulk_decision, make_decisions
from tests.factories import NOW


def rule(stores, comment_id, ruling: Ruling, *, seconds: int = 0) -> None:
    stores.decisions.add(
        Decision(
            id=f"dec-{comment_id}-{ruling}",
            comment_id=comment_id,
            ruling=ruling,
            decided_by="mara",
            decided_at=NOW + timedelta(seconds=seconds),
        )
    )


def begin(stores, name: str, ids, **changes) -> None:
    stores.bulk_decisions.begin(
        make_bulk_decision(name, what=ChosenBy.SCAN, ruling=Ruling.APPROVE, **changes), act=None
    )
    stores.scan_checks.keep(
        [ScanCheck(comment_id=one, bulk_decision_id=name, ruling=Ruling.APPROVE) for one in ids]
    )


def test_agreement_counts_what_was_ruled_alone_on_checks_whoever_ruled(stores):
    ids = keep(stores, 5)
    begin(stores, "str_1", ids)
    rule(stores, ids[0], Ruling.APPROVE)
    rule(stores, ids[1], Ruling.REJECT, seconds=1)
    rule(stores, ids[2], Ruling.REJECT, seconds=2)

    agreement = stores.scan_checks.agreement("ada")

    assert agreement == Agreement(alike=1, otherwise=(ids[2], ids[1]), waiting=2)
    assert agreement.checked == 3
    assert stores.scan_checks.agreement("mara") == Agreement()


def test_a_check_that_another_bulk_decision_decided_tells_nothing(stores):
    ids = keep(stores, 2)
    begin(stores, "str_1", ids)
    stores.bulk_decisions.begin(make_bulk_decision("str_2"), act=None)
    stores.decisions.add_many(make_decisions(ids, "str_2"))

    assert stores.scan_checks.agreement("ada") == Agreement()


def test_checks_of_a_bulk_decision_that_was_taken_back_are_none_any_more(stores):
    ids = keep(stores, 2)
    begin(stores, "str_1", ids)
    assert stores.scan_checks.find(ids) == frozenset(ids)

    stores.bulk_decisions.take_back("str_1", by="ada", at=NOW)

    assert stores.scan_checks.find(ids) == frozenset()
    assert stores.scan_checks.agreement("ada") == Agreement()


def test_a_comment_checks_the_last_bulk_decision_that_left_it_out(stores):
    [one] = keep(stores, 1)
    begin(stores, "str_1", [one])
    stores.bulk_decisions.take_back("str_1", by="ada", at=NOW)

    begin(stores, "str_2", [one], decided_by="mara")

    assert stores.scan_checks.find([one]) == frozenset([one])
    assert stores.scan_checks.agreement("mara") == Agreement(waiting=1)
