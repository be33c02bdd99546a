"""Decided comments are handed out for training: who ruled is hidden, and nobody else's words go."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Author, Label, Sender
from service.domain.decision import ChosenBy, Ruling
from service.domain.sender import Person
from service.domain.site import SiteSettings
from service.moderation import export_labelled
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment, decide_together, undo_decision
from service.moderation.erasing import erase_person
from service.moderation.export_labelled import decisions_for_training
from service.moderation.revise import report_comment, withdraw_comment
from tests.factories import NOW, OTHER_SITE, SITE
from tests.fakes import FixedClassifier, make_services, make_site, submit_one
from training.data.decisions import read_decisions
from training.retraining.clean import split_decisions


@pytest.fixture
def services(clock):
    sites = [make_site(), make_site(id=OTHER_SITE, name="Kettle blog")]
    services = make_services(sites=sites, clock=clock)
    add_user("olive", services, actor="test")
    add_user("mo", services, actor="test")
    return services


def submit(services, text="The valve was stuck, so I turned it twice.", **changes):
    return submit_one(services, text, **changes).id


def decide(comment_id, services, ruling=Ruling.REJECT, by="mo"):
    decide_comment(comment_id, ruling, services, decided_by=by)


def report(comment_id, services, *, by):
    text, site = services.cases.get(comment_id).comment.text, services.sites.get(SITE)
    report_comment(Label.SPAM, site=site, text=text, services=services, reported_by=by)


def rows_of(services, **asked):
    return list(decisions_for_training(services, **asked))


@pytest.fixture
def read_back(services, tmp_path):
    """Return a function that reads all rows of a file, as training does."""

    def read():
        path = tmp_path / "decisions.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows_of(services)))
        return read_decisions(path)

    return read


def test_a_decided_comment_is_a_row_of_the_data_card_with_what_was_ruled(services, read_back):
    author = Author(name="Mara", url="https://shop.example/")
    comment_id = submit(services, author=author, sender=Sender(email_domain="mail.example"))
    decide(comment_id, services)

    (read,) = read_back()
    assert (read.id, read.example.is_spam, read.example.source) == (comment_id, True, "site:site-1")
    assert read.example.comment.author.url == "https://shop.example/"
    assert read.example.comment.sender.email_domain == "mail.example"
    assert read.verdict.p_spam == 0.5
    assert (read.weight, read.audit, read.is_drawn) == (1.0, False, True)


def test_reviewers_are_the_same_pseudonym_everywhere_and_never_a_name(services):
    first, second = submit(services), submit(services, site_id=OTHER_SITE)
    theirs, others = submit(services), submit(services, site_id=OTHER_SITE)
    for comment_id in (first, second):
        decide(comment_id, services, by="olive")
    for comment_id in (theirs, others):
        decide(comment_id, services, by="site: olive")

    rulings = {row["id"]: row["rulings"][0] for row in rows_of(services)}

    assert rulings[first]["reviewer"] == rulings[second]["reviewer"]
    assert len({rulings[one]["reviewer"] for one in (first, theirs, others)}) == 3
    assert [rulings[one]["is_owner"] for one in (first, theirs)] == [True, False]
    assert "olive" not in json.dumps(list(rulings.values()))


def test_all_names_that_a_site_gives_are_one_reviewer_and_its_reports_another(services):
    services.sites.change_settings(SITE, lambda _: SiteSettings(reports_decide=True))
    for name in ("site", "site: jo", "site: mo", "site: site"):
        decide(submit(services), services, by=name)
    for name in ("jo", "mo"):
        report(submit(services, f"What {name} reports."), services, by=name)

    reviewers = [row["rulings"][0]["reviewer"] for row in rows_of(services)]

    assert len(reviewers) == 6
    assert len(set(reviewers[:4])) == len(set(reviewers[4:])) == 1
    assert reviewers[0] != reviewers[-1]


def test_whoever_has_a_sites_key_outweighs_no_owner_by_making_names_up(services, read_back):
    text = "Boilers that everybody needs, at half of the price."
    owners = submit(services, text)
    decide(owners, services, by="olive")
    for number in range(40):
        theirs = submit(services, text)
        decide(theirs, services, Ruling.APPROVE, by=f"site: reader {number}")

    taught = split_decisions(read_back(), held_share=0.0).taught

    assert [one.decided.id for one in taught] == [owners]


def test_it_says_how_each_ruling_was_made(services):
    services.sites.change_settings(SITE, lambda _: SiteSettings(reports_decide=True))
    by_hand, in_bulk, by_campaign, by_site, imported, reported = (
        submit(services, f"Number {n} of the valves leaks a little.") for n in range(6)
    )
    decide(by_hand, services)
    for comment_id, what in ((in_bulk, ChosenBy.SEARCH), (by_campaign, ChosenBy.CAMPAIGN)):
        decide_together([comment_id], Ruling.REJECT, services, decided_by="mo", what=what)
    decide(by_site, services, by="site")
    decide(imported, services, by="import")
    report(reported, services, by="jo")

    via = {row["id"]: row["rulings"][0]["via"] for row in rows_of(services)}

    assert via == {
        by_hand: "review",
        in_bulk: "stroke",
        by_campaign: "campaign",
        by_site: "api",
        imported: "import",
        reported: "report",
    }


def test_withdrawn_erased_undone_and_undecided_comments_and_policies_are_left_out(services):
    mail = Sender(email_key="e" * 32)
    withdrawn, erased = submit(services), submit(services, sender=mail)
    undone, by_policy, kept = submit(services), submit(services), submit(services)
    submit(services)
    for comment_id in (withdrawn, erased, undone, kept):
        decide(comment_id, services)
    decide(by_policy, services, by=CAMPAIGN_POLICY)
    withdraw_comment(withdrawn, services, by="site")
    erase_person(Person(sender=mail, author_name=None), services, by="olive")
    undo_decision(undone, services, undone_by="mo")

    rows = rows_of(services)

    assert [row["id"] for row in rows] == [kept]


def test_an_overruled_comment_comes_once_with_both_rulings_in_order(services, clock):
    comment_id = submit(services)
    decide(comment_id, services, by="mo")
    clock.advance(hours=1)
    decide(comment_id, services, Ruling.APPROVE, by="olive")

    (row,) = rows_of(services)

    assert row["label"] == "ham"
    assert [(one["ruling"], one["undone"]) for one in row["rulings"]] == [
        ("reject", True),
        ("approve", False),
    ]


def test_the_audit_sample_stands_for_all_that_it_was_drawn_from_and_unsure_ones_for_themselves():
    services = make_services(classifier=FixedClassifier(0.0), audit_share=1.0)
    audited = submit(services)
    decide(audited, services, Ruling.APPROVE)
    (row,) = rows_of(replace(services, audit_share=0.02))
    unsure = make_services(classifier=FixedClassifier(0.5), audit_share=0.02)
    decide(submit(unsure), unsure)

    assert (row["audit"], row["weight"], row["verdict"]["outcome"]) == (True, 50.0, "ham")
    assert [one["weight"] for one in rows_of(unsure)] == [1.0]
    assert [one["weight"] for one in rows_of(replace(services, audit_share=0.0))] == [1.0]


def test_sites_and_moments_narrow_what_is_handed_out(services, clock):
    early, other = submit(services), submit(services, site_id=OTHER_SITE)
    decide(early, services)
    decide(other, services)
    clock.advance(days=2)
    late = submit(services)
    decide(late, services)
    moment = NOW + timedelta(days=1)

    def ids(**asked):
        return [row["id"] for row in rows_of(services, **asked)]

    assert ids(sites=[OTHER_SITE]) == [other]
    assert ids(since=moment) == [late]
    assert ids(until=moment) == [early, other]
    assert ids(sites=[]) == []


def test_a_comment_that_is_ruled_on_anew_while_rows_are_read_comes_once(services, monkeypatch):
    monkeypatch.setattr(export_labelled, "_PORTION", 1)
    first, second = submit(services), submit(services)
    decide(first, services)
    decide(second, services)

    rows = decisions_for_training(services)
    found = [next(rows)]
    decide(second, services, Ruling.APPROVE, by="olive")
    found += list(rows)

    assert [(row["id"], row["label"]) for row in found] == [(first, "spam"), (second, "ham")]
