"""Holds every store to what it keeps in one transaction: the act, the log's entry, the messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.case import Case
from service.domain.comment import Label
from service.domain.decision import Ruling
from service.domain.delivery import Delivery, Endpoint, EventKind, InboundHook, Platform
from service.domain.errors import ConflictError, NotFoundError
from service.domain.retraining import Answer, Retraining
from service.domain.site import SiteKey
from service.domain.user import SecondFactor, User, UserSession
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from tests.contract.conftest import told
from tests.factories import (
    NOW,
    SITE,
    keep_one,
    make_decision,
    make_delivery,
    make_entry,
    make_report,
    make_verdict,
)
from tests.fakes import make_site


def verdict_of(case: Case, name: str) -> Delivery:
    decision_id = case.decision.id if case.decision else None
    return make_delivery(case.comment.id, id=name, event=EventKind.VERDICT, decision_id=decision_id)


def entry(act: str, subject: str = "s", detail: str = "") -> AuditEntry:
    return AuditEntry(at=NOW, actor="ada", act=act, subject=subject, detail=detail)


def acts(changed) -> list[AuditEntry]:
    return [entry("undo" if one.undone_at else one.ruling.value, one.id) for one in changed]


def logged(stores) -> list[tuple[str, str]]:
    return [(one.act, one.subject) for one in stores.audit_log.recent()][::-1]


def test_of_a_comment_that_somebody_has_spoken_of_a_verdict_tells_what_stands(stores):
    fresh, decided, reported = (keep_one(stores) for _ in range(3))
    stores.decisions.add(make_decision("d1", decided))
    stores.reports.add(make_report(reported, Label.SPAM))
    given: list[Case] = []

    def tell(cases):
        given[:] = cases
        return [verdict_of(case, f"anew {case.comment.id}") for case in cases]

    ids = (fresh, decided, reported)
    stores.verdicts.add(
        [make_verdict(one, Outcome.HAM) for one in ids],
        audit=frozenset(ids),
        deliveries=[make_delivery(one, id=f"first {one}", event=EventKind.VERDICT) for one in ids],
        tell=tell,
    )

    assert sorted(told(stores)) == sorted([f"first {fresh}", f"anew {decided}", f"anew {reported}"])
    assert given == stores.cases.find([case.comment.id for case in given])
    assert {case.comment.id: case.needs_review for case in given} == {
        decided: False,
        reported: True,
    }


def test_a_verdict_that_told_a_ruling_is_told_anew_when_that_is_undone_before_anybody_heard(stores):
    kept = keep_one(stores)
    decision = make_decision("d1", kept)
    ruling = make_delivery(kept, id="ruling", event=EventKind.DECISION, decision_id=decision.id)
    stores.decisions.add(decision, deliveries=[ruling])
    stores.verdicts.add(
        [make_verdict(kept)],
        audit=frozenset(),
        tell=lambda cases: [verdict_of(case, "with it") for case in cases],
    )
    before = told(stores)

    stores.decisions.undo(
        kept,
        by="ada",
        at=NOW,
        deliveries=[
            make_delivery(kept, id="undoing", event=EventKind.DECISION),
            make_delivery(kept, id="without it", event=EventKind.VERDICT),
        ],
    )

    assert before == ["ruling", "with it"]
    assert told(stores) == ["without it"]


def test_a_verdict_that_told_a_ruling_is_told_with_the_one_that_replaces_it(stores):
    kept = keep_one(stores)
    first, second = make_decision("d1", kept), make_decision("d2", kept, ruling=Ruling.APPROVE)
    stores.decisions.add(first)
    stores.verdicts.add(
        [make_verdict(kept)],
        audit=frozenset(),
        tell=lambda cases: [verdict_of(case, "with the first") for case in cases],
    )

    stores.decisions.add(
        second,
        deliveries=[
            make_delivery(kept, id="second", event=EventKind.DECISION, decision_id="d2"),
            make_delivery(kept, id="with the second", event=EventKind.VERDICT, decision_id="d2"),
        ],
    )

    assert told(stores) == ["second", "with the second"]


def test_a_verdict_that_told_no_ruling_is_not_told_again(stores):
    kept = keep_one(stores)
    stores.verdicts.add(
        [make_verdict(kept)],
        audit=frozenset(),
        deliveries=[make_delivery(kept, id="verdict", event=EventKind.VERDICT)],
    )
    again = [
        make_delivery(kept, id=name, event=EventKind.VERDICT) for name in ("again", "and again")
    ]

    stores.decisions.add(make_decision("d1", kept), deliveries=again[:1])
    stores.decisions.undo(kept, by="ada", at=NOW, deliveries=again[1:])

    assert told(stores) == ["verdict"]


def test_decisions_and_their_undoing_are_kept_with_the_log_s_entries(stores):
    one, other = keep_one(stores), keep_one(stores)
    stores.decisions.add(make_decision("d1", one), acts=acts)
    stores.decisions.add(make_decision("d2", one, ruling=Ruling.APPROVE), acts=acts)
    many = [make_decision("d3", one), make_decision("d4", other)]
    stores.decisions.add_many(many, acts=acts)
    stores.decisions.undo(one, by="bea", at=NOW, acts=acts)
    stores.decisions.undo_many(many, by="bea", at=NOW, acts=acts)
    stores.decisions.undo_many(many, by="bea", at=NOW, acts=acts)

    assert logged(stores) == [
        *(("reject", "d1"), ("undo", "d1"), ("approve", "d2"), ("undo", "d2")),
        *(("reject", "d3"), ("reject", "d4"), ("undo", "d3"), ("undo", "d4")),
    ]


def test_an_undo_that_names_a_decision_takes_back_no_other(stores):
    kept = keep_one(stores)
    stores.decisions.add(make_decision("d1", kept))
    stores.decisions.add(make_decision("d2", kept, ruling=Ruling.APPROVE))

    with pytest.raises(ConflictError):
        stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d1", acts=acts)
    undone = stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d2", acts=acts)
    with pytest.raises(NotFoundError):
        stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d2", acts=acts)

    assert undone.id == "d2"
    assert logged(stores) == [("undo", "d2")]


def test_a_withdrawal_is_logged_once_and_an_erasure_with_its_number(stores):
    one, other = keep_one(stores), keep_one(stores)
    for _ in range(2):
        stores.personal_data.withdraw(
            [one], at=NOW, act=lambda n: entry("withdraw", one) if n else None
        )
    for _ in range(2):
        stores.personal_data.withdraw(
            [one, other], at=NOW, act=lambda n: entry("erase", "person", f"{n}")
        )
    stores.personal_data.erase_senders([one], act=entry("forget sender"))

    log = [(act.act, act.detail) for act in stores.audit_log.recent()][::-1]
    assert log == [("withdraw", ""), ("erase", "1"), ("erase", "0"), ("forget sender", "")]


def test_accounts_keys_and_lists_are_logged_with_what_changes(stores):
    ada = User(id="u1", name="Ada", password_hash="$x", created_at=NOW)
    session = UserSession(id="ses_1", user_id="u1", created_at=NOW, last_seen_at=NOW)
    factor = SecondFactor(user_id="u1", seed="s", since=NOW, last_step=0)
    keys = [
        SiteKey(id=name, site_id=SITE, hint="slop_", secret_sha256=name, created_at=NOW)
        for name in ("k1", "k2")
    ]
    blocked = make_entry(site_id=SITE, comment_id=None)

    def act(one) -> AuditEntry:
        return entry("count", detail=str(one)) if isinstance(one, int) else entry("list", one.id)

    stores.users.add(ada, act=entry("add"))
    for _ in range(2):
        stores.sessions.add(session, password_hash=ada.password_hash)
        stores.users.change("u1", lambda now, _: now, end_sessions_at=NOW, act=entry("change"))
        assert stores.sessions.end_all("u1", at=NOW, act=act) == 0
        session = replace(session, id="ses_2")
    stores.second_factors.put(factor, recovery_digests=["a"], act=entry("put"))
    for _ in range(2):
        stores.second_factors.use_recovery("u1", "a", act=act)
    for _ in range(2):
        stores.second_factors.remove("u1", act=entry("remove"))
    stores.sites.add(make_site(id="site-3", name="Three"), key=keys[0], acts=[entry("site")])
    stores.sites.add_key(keys[1], expiring={"k1": NOW}, acts=[entry("key")])
    stores.sites.end_key("k2", revoked_at=NOW, act=entry("end"))
    stores.list_entries.add([blocked], act=act)
    for _ in range(2):
        stores.list_entries.remove(blocked.id, by="ada", at=NOW, act=act)
    for _ in range(2):
        stores.list_entries.restore(blocked.id, at=NOW, act=act)

    assert [one.act for one in stores.audit_log.recent()][::-1] == [
        *("add", "change", "change", "put", "count", "remove", "site", "key", "end"),
        *("list", "list", "list"),
    ]
    assert [key.expires_at for key in stores.sites.list_keys(SITE)] == [NOW, None]


def test_callbacks_hooks_and_campaigns_are_logged_with_what_changes(stores):
    kept = keep_one(stores)
    endpoint = Endpoint(site_id=SITE, url="https://blog.example/hook", secrets=("whsec_x",))
    hook = InboundHook(
        id="hook_1", site_id=SITE, platform=Platform.STANDARD, secret="x", created_at=NOW
    )
    retraining = Retraining(id="rtr_1", asked_by="ada", asked_at=NOW)

    stores.endpoints.put(endpoint, act=entry("put"))
    stores.endpoints.remove(SITE, act=entry("remove"))
    stores.inbound.add(hook, act=entry("add"))
    stores.inbound.revoke("hook_1", at=NOW, act=entry("revoke"))
    stores.retrainings.put(retraining, act=entry("ask"))
    stores.retrainings.answer("rtr_1", Answer.REFUSED, by="ada", at=NOW, act=entry("refuse"))
    with pytest.raises(ConflictError):
        stores.retrainings.answer("rtr_1", Answer.PROMOTED, by="ada", at=NOW, act=entry("late"))

    def none(count: int) -> AuditEntry:
        return entry("none", detail=f"{count}")

    stores.deliveries.replay(["no"], at=NOW, act=none)
    stores.campaigns.leave("camp_1", [kept], act=none)
    stores.campaigns.rejoin("camp_1", site_ids=None, act=none)

    assert [one.act for one in stores.audit_log.recent()][::-1] == [
        *("put", "remove", "add", "revoke", "ask", "refuse")
    ]


def test_a_report_tells_of_a_comment_that_comes_to_wait_by_it_and_of_no_other(stores):
    ham, unsure, decided = (
        keep_one(stores, one) for one in (Outcome.HAM, Outcome.UNSURE, Outcome.HAM)
    )
    stores.decisions.add(make_decision("d1", decided))

    for number, comment_id in enumerate([ham, ham, unsure, decided]):
        stores.reports.add(
            make_report(comment_id, Label.SPAM, id=f"r{number}"),
            tell=lambda cases: [
                make_delivery(
                    case.comment.id, id=f"of {case.reports[-1].id}", event=EventKind.REVIEW
                )
                for case in cases
            ],
        )

    assert told(stores) == ["of r0"]
