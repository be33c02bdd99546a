"""What a moderator's ruling does, told over SQLite."""

from __future__ import annotations

import pytest

from service.domain.comment import Lane
from service.domain.decision import Action, Mode, Ruling, choose_action
from service.domain.sender import make_sender
from service.domain.verdict import Outcome
from tests.factories import make_comment
from tests.fakes import make_services, submit_to


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def comment(services):
    sender = make_sender(address="192.0.2.7", email="mara@example.org", secret=b"s")
    kept = make_comment(sender=sender)
    submit_to(services, kept, lane=Lane.INTERACTIVE)
    return kept


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
