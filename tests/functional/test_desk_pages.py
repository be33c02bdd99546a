"""Moderators order the queue, make rows lower, and see what a comment answers."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from service.domain.comment import Author, Sender
from service.domain.decision import Ruling
from service.moderation.privacy.erase import erase_person, export_person, find_person
from service.moderation.review.decide import decide_comment
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import hidden_fields, keep, signed_in, token_of


@pytest.fixture
def services():
    made = make_services()
    made.common.sites.add(make_site(id="site-2", name="Another blog"))
    return made


@pytest.fixture
def client(services):
    return signed_in(services)


def rows(page) -> list[str]:
    return re.findall(r'<li class="row[^>]*data-id="([^"]+)"', page.text)


@pytest.mark.parametrize(
    ("sort", "order"), [("doubt", "bca"), ("oldest", "acb"), ("site", "abc"), ("other", None)]
)
def test_the_queue_is_ordered_as_chosen_and_links_keep_the_order(services, client, sort, order):
    kept = {"a": (30, "site-1", 0.9), "b": (10, "site-1", 0.5), "c": (20, "site-2", 0.3)}
    for name, (age, site_id, p_spam) in kept.items():
        received_at = NOW - timedelta(minutes=age)
        keep(
            services,
            make_comment(id=f"com_{name}", site_id=site_id, received_at=received_at),
            p_spam=p_spam,
        )

    page = client.get(f"/review?sort={sort}")

    if order:
        assert rows(page) == [f"com_{name}" for name in order]
        assert f"sort={sort}" in html.unescape(page.text)
        assert f'value="{sort}" selected' in page.text
    else:
        assert rows(page) == rows(client.get("/review"))


def test_rows_are_made_lower_and_higher_again_by_one_button(client):
    action = "/me/density"
    page = client.get("/review?show=all")
    assert "is-compact" not in page.text

    lower = client.post(action, data=hidden_fields(page, action))

    assert lower.location == "/review?show=all"
    page = client.get(lower.location)
    assert 'class="desk is-compact"' in page.text
    client.post(action, data=hidden_fields(page, action))
    assert "is-compact" not in client.get("/review").text


def test_a_comment_stands_below_those_that_it_answers(services, client):
    first = make_comment(
        "How long does it take?", site_comment_id="1", author=Author(name="Ann <b>")
    )
    second = make_comment("About a day.", site_comment_id="2", reply_to="1")
    third = make_comment("Thank you both.", site_comment_id="3", reply_to="2")
    for one in (first, second, third):
        keep(services, one)
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")

    page = client.get(f"/review/comments/{third.id}").text

    thread = re.search(r'<ol class="thread".*?</ol>', page, re.DOTALL)[0]
    assert re.findall(r"<p dir=\"auto\">(.*?)</p>", thread) == [
        "How long does it take?",
        "About a day.",
    ]
    assert "Ann &lt;b&gt;" in thread
    assert "approved" in thread
    assert thread.count(f"/review/comments/{first.id}") == 1


def test_a_thread_that_loops_or_leads_nowhere_ends(services, client):
    one = make_comment("One", site_comment_id="1", reply_to="2")
    two = make_comment("Two", site_comment_id="2", reply_to="1")
    lost = make_comment("Lost", site_comment_id="3", reply_to="nowhere")
    # Another site's numbers are its own.
    other = make_comment("Other", site_id="site-2", site_comment_id="4", reply_to="1")
    for comment in (one, two, lost, other):
        keep(services, comment)

    assert client.get(f"/review/comments/{one.id}").text.count('<p dir="auto">Two</p>') == 1
    for comment in (lost, other):
        assert 'class="thread"' not in client.get(f"/review/comments/{comment.id}").text


KNOWN = Sender(email_key="e" * 64, name_key="n" * 64)


def note_on(client, comment, text):
    action = f"/review/comments/{comment.id}/sender-notes"
    page = client.get(f"/review/comments/{comment.id}")
    return client.post(action, data={**hidden_fields(page, action), "note": text})


def change_note(client, comment, note_id):
    action = f"/review/comments/{comment.id}/sender-notes/{note_id}"
    page = client.get(f"/review/comments/{comment.id}")
    return client.post(action, data=hidden_fields(page, action))


def test_a_note_on_a_sender_stands_beside_their_next_comment_at_that_site(services, client):
    comment = keep(services, make_comment(sender=KNOWN))
    following = keep(services, make_comment(sender=KNOWN))
    elsewhere = keep(services, make_comment(sender=KNOWN, site_id="site-2"))
    namesake = keep(services, make_comment(sender=Sender(name_key="n" * 64)))

    note_on(client, comment, "Writes in <b>verse</b>")

    assert (
        "Writes in &lt;b&gt;verse&lt;/b&gt;" in client.get(f"/review/comments/{following.id}").text
    )
    for other in (elsewhere, namesake):
        assert "verse" not in client.get(f"/review/comments/{other.id}").text
    [entry] = services.common.audit_log.recent(limit=1)
    assert (entry.act, entry.detail) == ("note sender", "")


def test_a_note_is_removed_and_put_back_by_the_same_forms(services, client):
    comment = keep(services, make_comment(sender=KNOWN))
    note_on(client, comment, "Writes in verse")
    [note] = services.review.sender_notes.known_by(["e" * 64])

    change_note(client, comment, note.id)
    assert "1 removed note" in client.get(f"/review/comments/{comment.id}").text
    change_note(client, comment, note.id)

    assert services.review.sender_notes.known_by(["e" * 64]) == [note]
    acts = [entry.act for entry in services.common.audit_log.recent(limit=3)]
    assert acts == ["put note back", "remove note", "note sender"]


def test_a_note_is_refused_that_is_empty_or_about_nobody(services, client):
    comment = keep(services, make_comment(sender=KNOWN))
    unknown = keep(services, make_comment(sender=Sender()))

    assert note_on(client, comment, " ").status_code == 400
    assert note_on(client, comment, "x" * 501).status_code == 400
    assert "sender-notes" not in client.get(f"/review/comments/{unknown.id}").text
    assert services.review.sender_notes.known_by(["e" * 64]) == []


def test_a_note_about_another_sender_is_not_changed_from_here(services, client):
    comment = keep(services, make_comment(sender=KNOWN))
    other = keep(services, make_comment(sender=Sender(email_key="o" * 64)))
    note_on(client, comment, "Writes in verse")
    [note] = services.review.sender_notes.known_by(["e" * 64])
    form = {"csrf_token": token_of(client.get("/review"))}

    answer = client.post(f"/review/comments/{other.id}/sender-notes/{note.id}", data=form)

    assert answer.status_code == 404
    assert services.review.sender_notes.get(note.id) == note


def test_notes_are_handed_out_and_go_with_the_person(services, client):
    person = find_person(services.reputation, email="bo@mail.example")
    comment = keep(services, make_comment(sender=person.sender))
    note_on(client, comment, "Writes in verse")

    exported = [one for one in export_person(person, services) if one["kind"] == "sender_note"]
    erase_person(person, services, by="Ola")

    assert [one["sender_note"]["text"] for one in exported] == ["Writes in verse"]
    assert services.review.sender_notes.known_by([person.sender.email_key]) == []
