"""Makes decided comments for tests of what decisions teach."""

import itertools
import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from service.domain.comment import Author, CommentId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from tests.factories import make_comment
from training.data.dataset import Example
from training.data.decisions import Decided, PastVerdict, RulingMade, Via

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SITE = "site:garden"
_numbers = itertools.count(1)
_WORDS = [
    "valve", "boiler", "wrench", "radiator", "pump", "rusty", "pipe", "cold", "plumber", "seal",
    "thread", "window", "garden", "tomato", "frost", "seed", "spade", "compost", "fence",
    "lawn", "hedge", "rake", "bucket", "barrel", "shed", "glass", "copper", "winter", "spring",
]  # fmt: skip


def begin_anew() -> None:
    """Draw what follows as a fresh process would, so that no test hangs on those before it."""
    global _numbers  # one counter for every factory here
    _numbers = itertools.count(1)


def write_rows(path: Path, *rows: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def some_words(n: int = 14) -> str:
    """Return a text that no other is a copy of."""
    number = next(_numbers)
    draw = random.Random(number)
    return " ".join([*draw.choices(_WORDS, k=n), f"w{'abcdefghij'[number % 10]}{draw.random()}"])


def _some_name() -> str:
    """Return a name without digits, which are counted as one."""
    return "".join("abcdefghij"[int(digit)] for digit in str(next(_numbers))).title()


def make_example(*, is_spam: bool, text: str | None = None, **changes) -> Example:
    comment = make_comment(
        text or some_words(),
        id=changes.pop("id", CommentId(f"d{next(_numbers):06d}")),
        author=changes.pop("author", Author(name=_some_name())),
    )
    values = {"source": SITE, "post_key": f"p{next(_numbers)}"}
    return Example(comment=comment, is_spam=is_spam, **(values | changes))


def make_decided(
    *,
    is_spam: bool,
    by: str = "owner-0",
    p_spam: float = 0.5,
    at: datetime = MONDAY,
    text: str | None = None,
    via: Via = Via.REVIEW,
    audit: bool = False,
    outcome: Outcome = Outcome.UNSURE,
) -> Decided:
    made = RulingMade(
        reviewer=by,
        ruling=Ruling.REJECT if is_spam else Ruling.APPROVE,
        made_at=at,
        via=via,
        is_owner=by.startswith("owner"),
    )
    return Decided(
        example=make_example(is_spam=is_spam, text=text),
        rulings=(made,),
        verdict=PastVerdict(outcome=outcome, p_spam=p_spam),
        audit=audit,
    )
