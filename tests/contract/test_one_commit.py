"""Holds every store to what it keeps in one transaction: the act, the log's entry, the messages."""

from dataclasses import replace

import pytest

from service.domain.case import Case
from service.domain.comment import Label
from service.domain.decision import Ruling
from service.domain.delivery import Delivery, EventKind
from service.domain.errors import ConflictError, NotFoundError
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


def test_an_undo_that_names_a_decision_takes_back_no_other(stores):
    kept = keep_one(stores)
    stores.decisions.add(make_decision("d1", kept))
    stores.decisions.add(make_decision("d2", kept, ruling=Ruling.APPROVE))

    with pytest.raises(ConflictError):
        stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d1")
    [undone] = stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d2")
    with pytest.raises(NotFoundError):
        stores.decisions.undo(kept, by="ada", at=NOW, decision_id="d2")

    assert undone.id == "d2"
    assert logged(stores)[-2:] == [("approve", kept), ("undo", kept)]


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
    with pytest.raises(ConflictError):
        stores.sites.add(make_site(id="site-3", name="Three"), keys=[*keys, keys[0]])
    stores.sites.add(make_site(id="site-3", name="Three"), keys=keys[:1], acts=[entry("site")])
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
