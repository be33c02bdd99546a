"""Values that refuse to be wrong, and hashes that recognise a sender without naming one."""

from __future__ import annotations

from datetime import datetime

import pytest

from service.domain.comment import FormEvidence
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Action, Mode, Ruling, choose_action
from service.domain.form import FormBehaviour, FormToken
from service.domain.sender import make_sender
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Signal, Span
from service.scoring.weights import Cutoffs
from tests.factories import make_comment, make_verdict


@pytest.mark.parametrize(
    "build",
    [
        lambda: Span(start=3, end=3),
        lambda: Span(start=-1, end=2),
        lambda: Signal(name="x", strength=0.0, reason="r"),
        lambda: Signal(name="x", strength=1.1, reason="r"),
        lambda: Signal(name="x", strength=1.0, reason="r", boundaries=(0,)),
        lambda: Signal(name="x", strength=1.0, reason="r", boundaries=(4, 4)),
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
    one = make_sender(address="192.0.2.7", email="Mara@Example.org ", secret=b"k")
    same = make_sender(address="::ffff:192.0.2.7", email="mara@example.ORG", secret=b"k")

    assert one == same
    assert one.email_domain == "example.org"
    assert "192.0.2" not in repr(one)
    assert "mara" not in repr(one).lower()


def test_neighbours_share_a_network_key_and_nothing_else():
    one = make_sender(address="192.0.2.7", email=None, secret=b"k")
    neighbour = make_sender(address="192.0.2.8", email=None, secret=b"k")
    stranger = make_sender(address="198.51.100.8", email=None, secret=b"k")

    assert one.network_key == neighbour.network_key != stranger.network_key
    assert one.address_key != neighbour.address_key


def test_a_fingerprint_follows_what_the_site_sent_and_nothing_else():
    comment = make_comment("one", site_comment_id="7")
    repeat = make_comment("one", site_comment_id="7", user_agent="another client")
    changed = make_comment("two", site_comment_id="7")

    assert comment.fingerprint() == repeat.fingerprint() != changed.fingerprint()


def test_a_record_never_carries_its_label_into_the_comment():
    row = {"id": "a-1", "text": "hello", "label": "spam", "kind": "spliced", "campaign": "c9"}

    comment = comment_from_row(row)

    assert not any(word in repr(comment) for word in ("spam", "spliced", "c9"))


@pytest.mark.parametrize(
    ("form", "seen"),
    [
        (
            {"seconds_on_page": 2, "honeypot_filled": True},
            FormEvidence(seconds_on_page=2.0, honeypot_filled=True),
        ),
        ({"seconds_on_page": "2", "honeypot_filled": "yes"}, FormEvidence()),
        ({"seconds_on_page": True}, FormEvidence()),
        ({"seconds_on_page": 10**400}, FormEvidence()),
        ({"seconds_on_page": float("nan")}, FormEvidence()),
        (["honeypot_filled"], FormEvidence()),
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
        (
            {"behaviour": {"keys": 10**400, "pastes": -2}, "token": "mine"},
            FormEvidence(behaviour=FormBehaviour(keys=100_000)),
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
        (Mode.OBSERVE, None, None, Action.PUBLISH),
        (Mode.OBSERVE, Outcome.SPAM, None, Action.PUBLISH),
        (Mode.OBSERVE, Outcome.SPAM, Ruling.REJECT, Action.REJECT),
        (Mode.HOLD, None, None, Action.HOLD),
        (Mode.HOLD, Outcome.HAM, None, Action.PUBLISH),
        (Mode.HOLD, Outcome.UNSURE, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, Ruling.APPROVE, Action.PUBLISH),
        (Mode.ENFORCE, None, None, Action.HOLD),
        (Mode.ENFORCE, Outcome.SPAM, None, Action.REJECT),
        (Mode.ENFORCE, Outcome.UNSURE, None, Action.HOLD),
        (Mode.ENFORCE, Outcome.HAM, Ruling.REJECT, Action.REJECT),
    ],
)
def test_the_action_follows_mode_outcome_and_ruling(mode, outcome, ruling, action):
    assert choose_action(mode, outcome, ruling) is action
