"""Sixty written accounts of eleven comments each, judged in order with their histories.

Advertisers praise, add one true nuance, and then name what they sell; regulars once name a project,
a talk, a blog or an employer of their own. `account_sequences.jsonl` holds the remarks of each
language, then an account a line: `own` says at which place which comment stands instead of a
remark, `approved` how many of the first comments a moderator approves besides what is held.
The rules were written in sight of one half, drawn by digest, alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from models.inputs import ModelInput, ModelOutput
from service.domain.comment import Author, Comment, Post
from service.domain.decision import Decision, Ruling
from service.domain.sender import make_sender
from service.domain.verdict import Outcome
from service.learning.judging import make_example
from service.learning.taught import Taught
from service.learning.training_example import Hand
from service.moderation.judging.judgement import judge_comments
from service.ports.models import JudgingModel
from service.scoring.inputs import model_input
from service.signals.judged_text import judged_text
from service.stores.files.model_versions import ModelVersions
from tests.factories import NOW, SITE, make_comment
from tests.in_memory import MemoryHistoryStore

_LINES = [
    json.loads(line)
    for line in Path(__file__).with_name("account_sequences.jsonl").read_text("utf-8").splitlines()
]
ACCOUNTS = [line for line in _LINES if "kind" in line]
REMARKS = {line["lang"]: line["remarks"] for line in _LINES if "remarks" in line}


def _drawn(line: dict) -> str:
    return hashlib.sha256(f"{line['kind']} {line['name']}".encode()).hexdigest()


def half(kind: str, *, kept: bool) -> list[dict]:
    drawn = sorted((line for line in ACCOUNTS if line["kind"] == kind), key=_drawn)
    return drawn[15:] if kept else drawn[:15]


def comments_of(account: dict) -> Iterator[tuple[Comment, bool]]:
    """Yield each comment, three days apart, and whether it is about the account's own thing."""
    remarks = iter(REMARKS[account["lang"]])
    for place in range(11):
        own = account["own"].get(str(place))
        title, text = own or next(remarks)
        comment = make_comment(
            text,
            post=Post(title=title),
            author=Author(name=account["name"], account_id="u-7"),
            language=account["lang"],
            received_at=NOW + timedelta(days=3 * place),
        )
        sender = make_sender(
            address=None,
            email="u-7@example.org",
            name=account["name"],
            secret=b"s",
            site_id=SITE,
            account_id="u-7",
        )
        yield replace(comment, sender=sender), own is not None


class Remembering:
    """Answers from what the classifier said of all comments in one batch."""

    def __init__(self, model: JudgingModel) -> None:
        comments = [comment for line in ACCOUNTS for comment, _ in comments_of(line)]
        inputs = list(dict.fromkeys(model_input(judged_text(one)) for one in comments))
        self._known = dict(zip(inputs, model.classifier.score_batch(inputs), strict=True))

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """See `Classifier.score_batch`."""
        return [self._known[one] for one in inputs]


@pytest.fixture(scope="module")
def model() -> JudgingModel:
    shipped = ModelVersions(None).current()
    return replace(shipped, classifier=Remembering(shipped))


def judge(account: dict, model: JudgingModel) -> list[Outcome]:
    """Return what the account's own comments are called, in order, at a site that learns."""
    history, taught, found = MemoryHistoryStore(), Taught(salt=7), []
    for place, (comment, is_own) in enumerate(comments_of(account)):
        now = comment.received_at
        histories = history.gather([comment], now=now)
        (verdict,) = judge_comments([comment], model, histories=histories, now=now, taught=taught)
        if is_own:
            found.append(verdict.outcome)
        elif verdict.outcome is not Outcome.HAM or place < account["approved"]:
            decision = Decision(
                id=f"d{place}",
                comment_id=comment.id,
                ruling=Ruling.APPROVE,
                decided_by="ada",
                decided_at=now,
            )
            history.learn(decision.id, comment, Ruling.APPROVE, at=now)
            example = make_example(
                place + 1,
                comment,
                verdict,
                decision,
                hand=Hand.OWNER,
                teacher="ada",
                audited=False,
                audit_share=0.02,
                salt=7,
            )
            taught = taught.after([example])
    return found


# Before these detectors 4 of 22 and 6 of 21 pitches were held, by `minilm-20`.
@pytest.mark.parametrize(("kept", "held", "accounts"), [(False, 20, 15), (True, 15, 12)])
def test_pitches_wait_after_ten_harmless_comments_and_none_is_called_spam(
    model, kept, held, accounts
):
    outcomes = [judge(account, model) for account in half("advertiser", kept=kept)]

    waiting = [[one is not Outcome.HAM for one in of_account] for of_account in outcomes]
    assert sum(map(sum, waiting)) >= held
    assert sum(map(any, waiting)) >= accounts
    assert all(one is not Outcome.SPAM for of_account in outcomes for one in of_account)


@pytest.mark.parametrize("kept", [False, True])
def test_no_regular_is_held_for_a_project_of_their_own(model, kept):
    for account in half("regular", kept=kept):
        assert set(judge(account, model)) == {Outcome.HAM}, account["name"]
