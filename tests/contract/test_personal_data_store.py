"""Holds every store to what it knows of persons, and how it forgets them."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from service.domain.case import (
    MAX_OTHER_NAMES,
    CaseFilter,
    SpamOnly,
    Trait,
    TraitRecord,
)
from service.domain.comment import (
    Author,
    Comment,
    CommentId,
    FormEvidence,
    Lane,
    Listing,
    ListKind,
    Sender,
    SiteId,
)
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.sender import Person
from service.domain.text import content_key
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from service.ports.comments import AddOutcome, NewComment
from service.stores.sql.tables import comments
from tests.contract.conftest import at_once, to_review
from tests.factories import (
    MARK,
    NOW,
    SITE,
    keep_all,
    keep_one,
    make_comment,
    make_decision,
    make_entry,
    make_full_comment,
    make_report,
    make_verdict,
)

EMAIL = Person(sender=Sender(email_key="e1"))


def test_a_name_finds_what_has_no_key_of_it_or_one_of_a_lost_secret(stores):
    name = "M\u202eara \U0001f331"
    keyless = keep_one(stores, author=Author(name=name))
    keyed = keep_one(stores, author=Author(name=name), sender=Sender(name_key="other"))
    keep_one(stores, author=Author(name="Mara"))

    assert found_by(stores, Sender(), author_name=name) == [keyless, keyed]


def test_comments_come_in_pages_ascending_and_are_counted_by_site(stores):
    kept = sorted(keep_one(stores, sender=Sender(email_key="e1")) for _ in range(4))
    kept = sorted([*kept, keep_one(stores, sender=Sender(email_key="e1"), site_id="site-2")])

    first = stores.personal_data.find(EMAIL, after=None, limit=3)
    second = stores.personal_data.find(EMAIL, after=first[-1], limit=3)

    assert first + second == kept
    assert stores.personal_data.count_by_site(EMAIL) == {SITE: 4, "site-2": 1}


def find_old(stores, *, only: SpamOnly | None = None, limit: int = 99) -> set[str]:
    ids = stores.personal_data.find_old(
        received_before=NOW - timedelta(days=30), only=only, limit=limit
    )
    return set(ids)


def test_old_comments_that_nothing_waits_for_are_found_by_age(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    done = [keep_one(stores, outcome, **old) for outcome in (Outcome.HAM, Outcome.SPAM)]
    decided = keep_one(stores, Outcome.UNSURE, **old)
    stores.decisions.add(make_decision(f"d-{decided}", decided, Ruling.REJECT))
    keep_one(stores, Outcome.UNSURE, **old)
    keep_one(stores, Outcome.HAM, audit=True, **old)
    keep_one(stores, None, **old)
    keep_one(stores, Outcome.HAM)

    assert find_old(stores) == {*done, decided}
    assert len(find_old(stores, limit=2)) == 2


def test_of_spam_alone_what_somebody_approved_or_of_held_spam_decided_is_left(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    held, approved, rejected, meanwhile = (keep_one(stores, Outcome.SPAM, **old) for _ in range(4))
    keep_one(stores, Outcome.SPAM)
    keep_one(stores, Outcome.SPAM, audit=True, **old)
    keep_one(stores, Outcome.HAM, **old)
    for one, ruling in ((approved, Ruling.APPROVE), (rejected, Ruling.REJECT)):
        stores.decisions.add(make_decision(f"d-{one}", one, ruling))

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {held, rejected, meanwhile}
    assert find_old(stores, only=SpamOnly.HELD) == {held, meanwhile}

    for one, days_ago in ((approved, 30), (rejected, 31)):
        stores.decisions.undo(one, by="mod", at=NOW - timedelta(days=days_ago))

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {held, rejected, meanwhile}
    found = find_old(stores, only=SpamOnly.HELD)
    assert found == {held, rejected, meanwhile}
    # What is decided after it was found stays, too.
    stores.decisions.add(make_decision("d", meanwhile, Ruling.APPROVE))
    assert stores.personal_data.withdraw(list(found), at=NOW, only=SpamOnly.HELD) == 2
    assert stores.cases.get(meanwhile).withdrawn_at is None


@pytest.mark.parametrize(
    ("detail", "days_ago", "is_old"),
    [
        ("mode: observe to hold; learns: True to False", 29, False),
        ("mode: observe to hold", 31, True),
        ("learns: True to False", 29, True),
    ],
)
def test_spam_that_was_published_is_held_since_its_sites_mode_changed(
    stores, detail, days_ago, is_old
):
    held = keep_one(stores, Outcome.SPAM, received_at=NOW - timedelta(days=90))
    at = NOW - timedelta(days=days_ago)
    stores.audit_log.append(
        AuditEntry(at=at, actor="ada", act="change settings", subject=SITE, detail=detail)
    )

    assert find_old(stores, only=SpamOnly.HELD) == ({held} if is_old else set())


FULL = Sender(
    address_key="a1",
    network_key="n1",
    wide_network_key="w1",
    system=64500,
    email_key="e1",
    email_domain="example.org",
    name_key="m1",
    before_rotation=Sender(address_key="a0", email_key="e0"),
    listings=(Listing(list_name="tor", kind=ListKind.NETWORKS, age_days=1.0),),
)


def found_by(stores, sender: Sender, **named) -> list[str]:
    return stores.personal_data.find(Person(sender=sender, **named), after=None, limit=99)


def test_a_persons_comments_are_found_by_address_email_or_name(stores):
    full = keep_one(stores, sender=FULL)
    older = keep_one(stores, sender=Sender(email_key="e0"))
    by_name = keep_one(stores, sender=Sender(name_key="m1"))
    keep_one(stores, sender=Sender(address_key="a2", email_key="a1", name_key="e1"))
    rotated = Sender(email_key="e1", before_rotation=Sender(email_key="e0"))

    assert found_by(stores, Sender(address_key="a1")) == [full]
    assert found_by(stores, Sender(email_key="e1")) == [full]
    assert found_by(stores, rotated) == [full, older]
    assert found_by(stores, Sender(email_key="e1", name_key="m1")) == [full, by_name]


def test_what_others_share_finds_nobody(stores):
    keep_one(stores, sender=FULL)

    shared = Sender(
        network_key="n1", wide_network_key="w1", system=64500, email_domain="example.org"
    )

    assert found_by(stores, shared) == found_by(stores, Sender()) == []
    assert stores.personal_data.count_by_site(Person(sender=Sender())) == {}


def test_an_erased_sender_leaves_the_comment_as_it_was_otherwise(stores):
    erased, other = make_comment(sender=FULL), make_comment(sender=FULL)
    keep_all(stores.comments, erased, other)

    for ids in ([erased.id, "unknown"], [erased.id], []):
        stores.personal_data.erase_senders(ids)

    assert stores.cases.get(erased.id).comment == replace(erased, sender=Sender())
    assert stores.cases.get(other.id).comment == other


def test_a_repeat_of_an_erased_senders_comment_is_still_known_as_one(stores):
    first = keep_one(stores, sender=FULL, site_comment_id="17")
    stores.personal_data.erase_senders([first])

    [added] = keep_all(stores.comments, make_comment(sender=FULL, site_comment_id="17"))

    assert (added.outcome, added.comment_id) == (AddOutcome.REPEAT, first)


LATER = NOW + timedelta(days=1)


def keep_given(
    stores, *given: Comment, outcome: Outcome | None = None, key: str | None = None
) -> None:
    stores.comments.add([NewComment(comment=c, lane=Lane.BULK, idempotency_key=key) for c in given])
    if outcome is not None:
        stores.verdicts.add([make_verdict(c.id, outcome) for c in given], audit=frozenset())


def find(stores, text: str, *, site_id: SiteId = SITE, days: float = 30) -> list[CommentId]:
    return stores.comments.find_by_content(
        site_id, content_key(text), since=NOW - timedelta(days=days)
    )


def test_a_withdrawn_comment_keeps_no_word_of_its_author_and_no_trace_of_its_sender(stores):
    comment = make_full_comment()
    keep_given(stores, comment, key="a key", outcome=Outcome.SPAM)

    withdrawn = [stores.personal_data.withdraw([comment.id, "no"], at=LATER) for _ in range(2)]

    assert withdrawn == [1, 0]
    assert found_by(stores, comment.sender) == []
    assert stores.cases.get(comment.id).comment == replace(
        comment,
        text="",
        author=Author(),
        sender=Sender(),
        form=FormEvidence(),
        post=replace(comment.post, excerpt=None),
        user_agent=None,
    )
    # No column says what the words were.
    with stores.engine.connect() as connection:
        row = connection.execute(sa.select(comments)).mappings().one()
    assert not [name for name, value in row.items() if MARK in str(value)]
    assert row["content_key"] is None
    assert find(stores, comment.text) == find(stores, "") == []


def test_verdict_decisions_and_reports_of_a_withdrawn_comment_stay_without_notes(stores):
    comment = make_full_comment()
    keep_given(stores, comment)
    followed = make_entry(reason=f"{MARK} again").instruction
    verdict = make_verdict(comment.id, Outcome.SPAM, instruction=followed)
    stores.verdicts.add([verdict], audit=frozenset())
    stores.reports.add(make_report(comment.id))
    for ruling in (Ruling.APPROVE, Ruling.REJECT):
        decision = make_decision(f"d-{ruling}", comment.id, ruling, note=f"{MARK} again")
        stores.decisions.add(decision)
    before = stores.cases.get(comment.id)

    stores.personal_data.withdraw([comment.id], at=LATER)

    after = stores.cases.get(comment.id)
    decisions = tuple(replace(one, note=None) for one in before.decisions)
    kept = {"comment": after.comment, "decisions": decisions, "withdrawn_at": LATER}
    erased = replace(verdict, instruction=replace(followed, label=None, reason="erased"))
    assert after == replace(before, verdict=erased, **kept)


def test_a_withdrawn_comment_waits_for_no_verdict(stores):
    gone, stays = make_full_comment(), make_full_comment(site_comment_id="own-18")
    keep_given(stores, gone, stays)

    for at in (NOW, LATER):
        stores.personal_data.withdraw([gone.id], at=at)

    assert stores.cases.get(gone.id).withdrawn_at == NOW
    unjudged = stores.comments.load_unjudged([gone.id, stays.id])
    stranded = stores.comments.find_stranded(
        Lane.BULK, queued_before=LATER, received_before=LATER, limit=10
    )
    assert [attempt.comment.id for attempt in unjudged] == [stays.id]
    assert stranded == [stays.id]
    assert stores.comments.count_pending()[Lane.BULK] == 1


@pytest.mark.parametrize("why", ["unsure", "audit", "report"])
def test_a_withdrawn_comment_leaves_the_review_queue(stores, why):
    comment = make_full_comment()
    keep_given(stores, comment)
    outcome = Outcome.UNSURE if why == "unsure" else Outcome.SPAM
    audit = frozenset([comment.id]) if why == "audit" else frozenset()
    stores.verdicts.add([make_verdict(comment.id, outcome)], audit=audit)
    if why == "report":
        stores.reports.add(make_report(comment.id))
    before = to_review(stores)

    stores.personal_data.withdraw([comment.id], at=LATER)

    assert before == [comment.id]
    assert to_review(stores) == []
    assert not stores.cases.get(comment.id).needs_review


def test_nothing_brings_a_withdrawn_comment_back_into_the_review_queue(stores):
    comment = make_full_comment()
    keep_given(stores, comment, outcome=Outcome.SPAM)
    stores.personal_data.withdraw([comment.id], at=LATER)
    unjudged = make_full_comment(site_comment_id="own-18")
    keep_given(stores, unjudged)
    stores.personal_data.withdraw([unjudged.id], at=LATER)

    stores.reports.add(make_report(comment.id))
    with pytest.raises(ConflictError):
        stores.decisions.add(make_decision("d1", comment.id, Ruling.APPROVE))
    late = stores.verdicts.add([make_verdict(unjudged.id)], audit=frozenset([unjudged.id]))

    assert to_review(stores) == late == []
    assert stores.cases.get(unjudged.id).verdict is None


@pytest.mark.parametrize("key", [None, "a key"])
def test_sending_a_withdrawn_comment_again_does_not_bring_it_back(stores, key):
    comment = make_full_comment()
    keep_given(stores, comment, key=key)
    stores.personal_data.withdraw([comment.id], at=LATER)
    again = replace(comment, id=CommentId("again"), received_at=LATER)

    (answer,) = stores.comments.add(
        [NewComment(comment=again, lane=Lane.BULK, idempotency_key=key)]
    )

    assert (answer.outcome, answer.comment_id) == (AddOutcome.REPEAT, comment.id)
    assert stores.cases.get(comment.id).comment.text == ""
    assert stores.cases.count(CaseFilter()) == 1


def test_judging_and_withdrawing_at_the_same_time_leaves_every_comment_blank(stores):
    given = [make_full_comment(site_comment_id=f"own-{number}") for number in range(20)]
    keep_given(stores, *given)

    stored = []
    for comment in given:
        verdict = [make_verdict(comment.id)]
        judged, _ = at_once(
            partial(stores.verdicts.add, verdict, audit=frozenset()),
            partial(stores.personal_data.withdraw, [comment.id], at=LATER),
        )
        stored += judged

    cases = [stores.cases.get(comment.id) for comment in given]
    assert {case.comment.text for case in cases} == {""}
    assert [case.comment.id for case in cases if case.verdict is not None] == stored
    assert to_review(stores) == []


def test_equal_texts_of_a_site_are_found_newest_first_and_equal_times_by_id(stores):
    text, other_site = make_comment().text, SiteId("site-2")
    for name, days in {"b": 1, "c": 1, "a": 0, "d": 2, "e": 3}.items():
        keep_one(stores, id=CommentId(name), received_at=NOW - timedelta(days=days))
    elsewhere = keep_one(stores, site_id=other_site)

    assert find(stores, text) == ["a", "c", "b", "d", "e"]
    assert find(stores, text, days=2) == ["a", "c", "b", "d"]
    assert find(stores, text, site_id=other_site) == [elsewhere]
    assert find(stores, text, site_id=SiteId("no")) == []


SPAMMER = Sender(address_key="a1", network_key="n1", email_key="e1", name_key="m1")


@pytest.fixture
def kept(stores):
    """Return a function that keeps, judges and perhaps decides a comment, each a minute older."""
    minutes = iter(range(10_000))

    def keep(ruling=None, *, outcome=Outcome.UNSURE, text="Buy at https://pills.com/", **changes):
        at = NOW - timedelta(minutes=next(minutes))
        comment = make_comment(text, **({"received_at": at, "sender": SPAMMER} | changes))
        keep_all(stores.comments, comment)
        stores.verdicts.add([make_verdict(comment.id, outcome)], audit=frozenset())
        if ruling is not None:
            decision = make_decision(f"d-{comment.id}", comment.id, ruling, decided_by="Ola")
            stores.decisions.add(decision)
        stores.search.index_due(limit=100)
        return comment

    return keep


def test_other_comments_are_counted_by_each_trait_and_by_what_came_of_them(stores, kept):
    opened = kept()
    kept(Ruling.REJECT)
    replaced, undone = kept(Ruling.REJECT), kept(Ruling.REJECT)
    stores.decisions.add(make_decision("d-again", replaced.id, Ruling.APPROVE))
    stores.decisions.undo(undone.id, by="Ola", at=NOW)
    kept(sender=Sender(network_key="n1"), text="no link", outcome=Outcome.HAM)
    kept(sender=Sender(address_key="other"), text="no link")

    record = stores.personal_data.look_up(opened, site_ids=None)

    three = {"seen": 3, "approved": 1, "rejected": 1, "waiting": 1}
    assert record.traits == (
        TraitRecord(trait=Trait.ADDRESS, key="a1", **three),
        TraitRecord(trait=Trait.NETWORK, key="n1", seen=4, approved=1, rejected=1, waiting=1),
        TraitRecord(trait=Trait.EMAIL, key="e1", **three),
        TraitRecord(trait=Trait.NAME, key="m1", **three),
        TraitRecord(trait=Trait.DOMAIN, key="pills.com", **three),
    )


def test_only_the_given_sites_are_told_of(stores, kept):
    opened = kept()
    kept(site_id=SiteId("site-2"), author=Author(name="Elsewhere"))

    record = stores.personal_data.look_up(opened, site_ids=(opened.site_id,))

    assert {trait.seen for trait in record.traits} == {0}
    assert record.other_names == record.last == ()


def test_keys_of_before_the_rotation_count_too(stores, kept):
    kept(sender=Sender(address_key="old"), text="none")
    rotated = Sender(address_key="new", before_rotation=Sender(address_key="old"))

    record = stores.personal_data.look_up(kept(sender=rotated, text="none"), site_ids=None)

    assert record.traits == (TraitRecord(trait=Trait.ADDRESS, key="new", seen=1, waiting=1),)


def test_other_names_of_the_same_address_or_e_mail_are_told_at_most_five(stores, kept):
    opened = kept(author=Author(name="Ann"))
    names = [f"Name {number}" for number in range(7)]
    for name in ("Ann", *names):
        kept(author=Author(name=name))
    kept(sender=Sender(network_key="n1"), author=Author(name="Neighbour"))

    record = stores.personal_data.look_up(opened, site_ids=None)

    assert len(record.other_names) == MAX_OTHER_NAMES
    assert set(record.other_names) <= set(names)


def test_the_last_three_comments_are_told_the_newest_first(stores, kept):
    opened = kept()
    others = [kept() for _ in range(4)]

    record = stores.personal_data.look_up(opened, site_ids=None)

    assert [case.comment.id for case in record.last] == [one.id for one in others[:3]]


def test_counting_ends_at_a_thousand(stores, kept):
    opened = kept()
    lot = [make_comment("more", sender=Sender(address_key="a1")) for _ in range(1_001)]
    keep_all(stores.comments, *lot)

    address = stores.personal_data.look_up(opened, site_ids=None).traits[0]

    assert (address.seen, address.capped) == (1_000, True)
