"""https://github.com/DNNCommunity/Dnn.CommunityForums/issues/109: what is said of an edit is true.

With the edits of https://github.com/coralproject/talk/issues/4122. Near-copies and bursts are those
of others: neither the versions of a comment nor what its author posts on another site.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Author, Comment, Edit
from service.domain.sender import History
from service.moderation.intake import with_sender
from service.signals.detectors.history import added_by_edit, copy_burst, sender_burst
from tests.factories import NOW, make_comment
from tests.fakes import make_services

TEXT = (
    "We put a Vaillant aroTHERM plus into our 1936 house two winters ago, photos and the yearly "
    "figures are on my blog https://althaus-tagebuch.de/waermepumpe/ if you want the radiator sizes"
)
EVERYBODY = {"email": "ruth@posteo.de", "address": "203.0.113.9"}


@pytest.fixture
def history():
    """Return a function that gathers the histories of comments sent within a minute."""
    services = make_services()

    def gather(comments: list[Comment], *, email=None, address=None) -> list[History]:
        found = []
        for second, one in enumerate(comments):
            received = replace(one, received_at=NOW)
            sent = with_sender(received, services, email=email, address=address)
            found += services.history.gather([sent], now=NOW + timedelta(seconds=second))
        return found

    return gather


def versions(number: int, **author) -> list[Comment]:
    """Return a comment and its edits, each changing one word."""
    return [
        make_comment(
            TEXT.replace("two winters", f"{at} winters"),
            site_comment_id="e" if at == 1 else f"e@{at}",
            edit=None if at == 1 else Edit.APPROVED,
            author=Author(**author),
        )
        for at in range(1, number + 1)
    ]


@pytest.mark.parametrize("edit", [Edit.ADDED_LINK, Edit.ADDED_OFFER])
def test_an_edit_is_never_said_to_follow_an_approval_that_a_verdict_of_ham_stands_for(edit):
    reason = added_by_edit(make_comment("See https://a.shop", edit=edit), History()).reason

    assert "approved" not in reason


@pytest.mark.parametrize("account_id", [None, "u-7"])
@pytest.mark.parametrize("sender", [{}, EVERYBODY, {"email": "ruth{}@posteo.de"}])
def test_the_versions_of_one_comment_are_no_others(history, sender, account_id):
    for at, edit in enumerate(versions(60, account_id=account_id)):
        (found,) = history([edit], **{key: given.format(at % 9) for key, given in sender.items()})

        assert copy_burst(edit, found) is None
        assert sender_burst(edit, found) is None


def test_the_versions_of_one_comment_are_one_copy_for_others(history):
    history(versions(9))
    copy = replace(make_comment(TEXT, site_comment_id="f"), site_id="site-2")

    (found,) = history([copy])

    assert found.content.everywhere.seen_day == 1


@pytest.mark.parametrize("sender", [{}, EVERYBODY])
def test_others_copies_count_among_the_versions(history, sender):
    copies = [make_comment(TEXT, author=Author(name=f"Ann {at}")) for at in range(9)]
    history(copies)

    *_, last = history(versions(4), **sender)

    assert copy_burst(versions(4)[-1], last).reason == "came with 9 near-copies within a day"


def test_a_number_in_a_sites_own_id_is_no_version(history):
    copies = [make_comment(TEXT, site_comment_id=f"e@{at}{at}{at}") for at in range(9)]

    *_, last = history([replace(one, site_id=f"site-{at}") for at, one in enumerate(copies)])

    assert copy_burst(copies[-1], last) is not None


@pytest.mark.parametrize(
    ("person", "kept"),
    [
        ({"email": "ruth@posteo.de"}, "c-{}"),
        ({"address": "203.0.113.9"}, "c-{}"),
        ({}, "github:IC_{}"),
    ],
)
def test_the_same_person_s_same_text_on_other_sites_is_a_cross_post(history, person, kept):
    posts = [
        replace(make_comment(TEXT, site_comment_id=kept.format(at)), site_id=f"site-{at}")
        for at in range(9)
    ]

    *_, last = history(posts, **person)

    assert copy_burst(posts[-1], last) is None


@pytest.mark.parametrize("name", ["Ruth", None])
def test_many_people_s_same_text_is_not(history, name):
    for at in range(3):
        post = make_comment(TEXT, author=Author(name=name))
        history([replace(post, site_id=f"site-{at}")], email=f"ruth{at}@posteo.de")
    last = make_comment(TEXT, author=Author(name=name))

    (found,) = history([last], email="ruth@posteo.de")

    assert copy_burst(last, found).reason == "came with 3 near-copies within a day"


PARAGRAPH = (
    "Turn the pump off first, then open the valve a quarter turn and wait until the hissing stops"
    " and water comes out, then close it again."
)
CRASH = "ModuleNotFoundError: subprocess.CalledProcessError: Command returned non-zero exit status"


@pytest.mark.parametrize(
    "quoted",
    [
        f"> {PARAGRAPH}\n\n",
        f'[quote="ruth, post:3, topic:310"]\n{PARAGRAPH}\n[/quote]\n\n',
        f'<blockquote cite="#comment-3">{PARAGRAPH}</blockquote>',
        f"```\n{CRASH}\n{CRASH}\n```\n",
    ],
)
def test_many_people_s_answers_to_one_paragraph_are_no_copies(history, quoted):
    answers = ("Agreed!", "Why?", "No, never.", "Same here.", "Works.")
    posts = [
        make_comment(f"{quoted}{answer}", author=Author(name=f"Ann {at}"))
        for at, answer in enumerate(answers)
    ]

    *_, last = history(posts)

    assert copy_burst(posts[-1], last) is None


@pytest.mark.parametrize(
    "text", [f"> {TEXT}\n\nAgreed!", f"```\n{PARAGRAPH} Telegram: @ruth_77\n```", f"> {PARAGRAPH}"]
)
def test_a_quotation_that_leads_somewhere_or_is_all_there_is_is_compared(history, text):
    posts = [make_comment(text, author=Author(name=f"Ann {at}")) for at in range(5)]

    *_, last = history(posts)

    assert copy_burst(posts[-1], last).reason == "came with 4 near-copies within a day"
