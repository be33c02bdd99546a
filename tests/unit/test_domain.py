"""Values that refuse to be wrong, texts and senders that are known again."""

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.comment import FormEvidence, Sender
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Action, Mode, Ruling, choose_action
from service.domain.form import FormBehaviour, FormToken
from service.domain.sender import SenderSecrets, make_sender, normal_name, one_client
from service.domain.site import SiteSettings
from service.domain.text import content_key, encode_address, normal_address, same_address, unescape
from service.domain.verdict import Outcome, Signal, Span
from service.ids import new_id
from service.scoring.weights import Cutoffs
from tests.factories import make_comment, make_verdict

SECRETS = SenderSecrets(present=b"k")


@pytest.mark.parametrize(
    "build",
    [
        lambda: Span(start=3, end=3),
        lambda: Signal(name="x", strength=1.1, reason="r"),
        lambda: Signal(name="x", strength=1.0, reason="r", boundaries=(0,)),
        lambda: Cutoffs(ham_cutoff=0.9, spam_cutoff=0.1),
        lambda: SiteSettings(ham_cutoff=0.9, spam_cutoff=0.1),
        lambda: SiteSettings(spam_cutoff=float("nan")),
        lambda: make_comment(id=""),
        lambda: make_comment(received_at=datetime(2026, 1, 1)),  # noqa: DTZ001  # naive on purpose
        lambda: make_verdict("c", outcome=Outcome.SPAM, degraded_by=("model",)),
        lambda: make_verdict("c", p_spam=float("nan")),
    ],
)
def test_wrong_values_cannot_be_built(build):
    with pytest.raises(ValueError, match=r".{10}"):
        build()


def test_a_sender_is_recognised_without_being_named():
    one = make_sender(address="192.0.2.7", email="Mara@Example.org ", secrets=SECRETS)
    same = make_sender(address="::ffff:192.0.2.7", email="mara@example.ORG", secrets=SECRETS)

    assert one == same
    assert one.email_domain == "example.org"
    assert "192.0.2" not in repr(one)
    assert "mara" not in repr(one).lower()


def at(address: str) -> Sender:
    return make_sender(address=address, secrets=SECRETS)


def test_neighbours_share_a_network_key_and_nothing_else():
    one, neighbour, stranger = map(at, ("192.0.2.7", "192.0.2.8", "198.51.100.8"))

    assert one.network_key == neighbour.network_key != stranger.network_key
    assert one.address_key != neighbour.address_key


@pytest.mark.parametrize(
    ("form", "seen"),
    [
        (
            {"seconds_on_page": 2, "honeypot_filled": True},
            FormEvidence(seconds_on_page=2.0, honeypot_filled=True),
        ),
        ({"seconds_on_page": True}, FormEvidence()),
        ({"seconds_on_page": float("nan")}, FormEvidence()),
        (
            {"behaviour": {"seconds": 31, "keys": 140, "driven": False}, "token": "valid"},
            FormEvidence(
                behaviour=FormBehaviour(seconds=31.0, keys=140, driven=False),
                token=FormToken.VALID,
            ),
        ),
        (
            {"behaviour": {"seconds": -1, "keys": "9", "touch": True, "x": 3}, "token": ["valid"]},
            FormEvidence(),
        ),
        (None, FormEvidence()),
    ],
)
def test_a_record_tells_what_the_form_saw_as_far_as_it_makes_sense(form, seen):
    assert comment_from_row({"id": "a", "text": "x", "form": form}).form == seen


@pytest.mark.parametrize(
    "row", [{}, {"id": "a"}, {"id": 3, "text": "x"}, {"id": "a", "text": None}]
)
def test_a_record_without_id_or_text_is_refused(row):
    with pytest.raises(ValueError, match="'id' and 'text'"):
        comment_from_row(row)


@pytest.mark.parametrize(
    ("mode", "outcome", "ruling", "action"),
    [
        (Mode.OBSERVE, Outcome.SPAM, None, Action.PUBLISH),
        (Mode.OBSERVE, Outcome.SPAM, Ruling.REJECT, Action.REJECT),
        (Mode.HOLD, None, None, Action.HOLD),
        (Mode.HOLD, Outcome.HAM, None, Action.PUBLISH),
        (Mode.HOLD, Outcome.UNSURE, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, Ruling.APPROVE, Action.PUBLISH),
        (Mode.ENFORCE, None, None, Action.HOLD),
        (Mode.ENFORCE, Outcome.SPAM, None, Action.REJECT),
        (Mode.ENFORCE, Outcome.HAM, Ruling.REJECT, Action.REJECT),
    ],
)
def test_the_action_follows_mode_outcome_and_ruling(mode, outcome, ruling, action):
    assert choose_action(mode, outcome, ruling) is action


def test_an_ipv6_household_and_its_hosting_customer_have_keys_of_their_own():
    one, same_house = at("2001:db8:1:2::7"), at("2001:db8:1:2:ffff::8")
    same_customer, stranger = at("2001:db8:1:3::7"), at("2001:db8:2:2::7")

    assert one.network_key == same_house.network_key != same_customer.network_key
    assert one.wide_network_key == same_house.wide_network_key == same_customer.wide_network_key
    assert stranger.wide_network_key != one.wide_network_key
    assert len({one.address_key, one.network_key, one.wide_network_key}) == 3


@pytest.mark.parametrize(
    "typed",
    [
        "Mara Lindqvist",
        "Mara\u200b Lind\u00adqvist",
        "Ｍａｒａ Ｌｉｎｄｑｖｉｓｔ",
        "\u202eMara\u202c Lindqvist\ufe0f",
    ],
)
def test_a_name_is_one_however_it_is_typed(typed):
    assert normal_name(typed) == "mara lindqvist"


@pytest.mark.parametrize(
    "typed", [None, "", " ", "Al", "...", "Anonymous", " GUEST ", "匿名", "\u200b", "\U0001f600"]
)
def test_a_name_that_names_nobody_has_no_key(typed):
    assert normal_name(typed) is None


@given(st.text(max_size=60))
def test_a_reduced_name_stays_as_it_is(typed):
    once = normal_name(typed)

    assert once is None or normal_name(once) == once


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" ::ffff:192.0.2.7 ", "192.0.2.7"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("unknown", "unknown"),
        ("", ""),
        ("," * 100_000, "," * 64),
    ],
)
def test_one_client_is_an_address_or_an_ipv6_network(address, client):
    assert one_client(address) == client


@pytest.mark.parametrize("text", ["&#" + "1" * 5_000 + ";", "&#x" + "f" * 5_000, "&#" * 30_000])
def test_an_endless_number_is_no_reason_to_fail(text):
    assert len(content_key(text)) == 32


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://kai.example/?a=1&b=2", "http://www.kai.example/?a=1&#038;b=2", True),
        ("kai.example/?a=1&copy=2", "https://kai.example/?a=1&amp;copy=2", True),
        ("/smo\u0308rga\u030as bord/", "/sm%c3%b6rg%C3%A5s%20bord", True),
        ("/50%/", "/50%25/", True),
        *((f"/a{mark}b", f"/a%{ord(mark):X}b", False) for mark in "/&?#+="),
        ("/%2541", "/A", False),
        ("/%F6", "/%FC", False),
    ],
)
def test_an_address_is_the_same_in_every_spelling(one, other, is_same):
    assert same_address(one, other) is is_same
    assert same_address(encode_address(normal_address(one)), one)


def test_entities_become_their_characters():
    assert unescape("&lt;a&gt; &#8217; &nosuch; &#99999999999;") == "<a> ’ &nosuch; \ufffd"


def test_ids_sort_by_the_time_they_were_made():
    first = new_id("c")
    time.sleep(0.002)

    assert first < new_id("c")
