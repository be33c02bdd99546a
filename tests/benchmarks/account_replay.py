"""Counts aged accounts' payloads that are held, and regulars' comments that are held besides.

Posted through the use cases that `/v1` and the hooks call, over SQLite, in order and with
accounts. The same file runs with the code of another version, and `--before` compares with what
that wrote.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.inputs import ModelOutput
from service.domain.comment import Comment, CommentId, Lane
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.moderation.intake.revise import submit_version
from service.moderation.intake.senders import with_sender
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.ports.services import Services
from service.scoring.inputs import model_input
from tests.benchmarks.judging_model import current_folder, load_judging_model
from tests.factories import SITE
from tests.fakes import FixedClassifier, make_services
from training.data.dataset import read_dataset, read_rows
from training.data.partition import SEED, partition

_DATA = Path(__file__).parents[2] / "data"
AUTHORED_FILES = sorted(_DATA.glob("authored-t*.jsonl"))
# An account is aged by so many remarks, one every other day, each approved.
REMARKS, DAYS_APART = 7, 2
_FEWEST_OF_A_REGULAR, _MOST_OF_A_REGULAR = 8, 30
_BATCH = 32
# What the model says of most sincere comments or more: of 2,847 of regulars 95 % lie below.
_LIKE_HAM = 0.02

Outcomes = dict[str, dict[str, str]]
"""What each comment was called, by the way in which it came, then by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One comment to be posted: its id in the data, and who writes it."""

    id: str
    comment: Comment
    account: str


class Place:
    """A site with nobody's history, and the model's answers of before."""

    def __init__(self, model: JudgingModel, answers: Mapping[str, ModelOutput]) -> None:
        classifier = FixedClassifier()
        classifier.by_text = dict(answers)
        self.services: Services = make_services(
            current_model=lambda: replace(model, classifier=classifier)
        )
        self._number = 0

    def post(self, one: Posted, *, text: str | None = None, under: str | None = None) -> CommentId:
        """Have a comment judged; with `under` as a version of the comment of that name."""
        self._number += 1
        now = self.services.common.clock()
        comment = replace(
            one.comment,
            id=CommentId(f"com_{self._number:08d}"),
            site_id=SITE,
            text=one.comment.text if text is None else text,
            author=replace(one.comment.author, account_id=one.account, account_age_days=200),
            received_at=now,
            written_at=now,
            site_comment_id=under or f"own-{self._number}",
        )
        email = f"{one.account}@example.org"
        comment = with_sender(
            comment, address=None, email=email, reputation=self.services.reputation
        )
        new = NewComment(comment=comment, lane=Lane.INTERACTIVE)
        kept = submit_version(new, self.services, by="benchmark")
        assert kept is not None
        return kept

    def outcome(self, comment_id: CommentId) -> str:
        """Return what a comment was called."""
        verdict = self.services.review.cases.get(comment_id).verdict
        assert verdict is not None
        return verdict.outcome.value

    def approve(self, comment_id: CommentId) -> None:
        """Approve a comment as a moderator."""
        decide_comment(comment_id, Ruling.APPROVE, self.services, decided_by="moderator")

    def wait(self, days: float) -> None:
        """Let days pass."""
        self.services.common.clock.advance(days=days)  # type: ignore[attr-defined]  # a fixed clock

    def age(self, account: str, remarks: Iterable[Posted]) -> None:
        """Have an account earn approvals by remarks."""
        for remark in remarks:
            self.approve(self.post(replace(remark, account=account)))
            self.wait(DAYS_APART)


def read_authored(kind: str) -> list[Mapping[str, Any]]:
    """Return the authored comments of a kind, in the order of their files."""
    rows = (json.loads(line) for path in AUTHORED_FILES for line in path.open(encoding="utf-8"))
    return [row for row in rows if row["kind"] == kind]


def as_posted(row: Mapping[str, Any], account: str) -> Posted:
    """Return a comment of the data as somebody posts it."""
    return Posted(id=row["id"], comment=comment_from_row(row), account=account)


def opening(row: Mapping[str, Any]) -> str | None:
    """Return what stands before the promotion, None where that is next to nothing."""
    starts = [start for start, _ in row["promo_spans"]]
    cut = row["boundary"] or min(starts, default=0)
    text = row["text"][:cut].strip()
    return text if len(text) >= 40 else None


def read_regulars(files: Sequence[Path]) -> Iterator[Posted]:
    """Yield the comments of those who wrote eight or more, each writer's in order, at most 30."""
    for path in files:
        by_name: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for _, row in read_rows(path, []):
            if row["label"] == "ham" and row.get("author_name"):
                by_name[row["author_name"]].append(row)
        for number, (_, rows) in enumerate(sorted(by_name.items())):
            if len(rows) >= _FEWEST_OF_A_REGULAR:
                rows.sort(key=lambda row: (row.get("date") or "", row["id"]))
                for row in rows[:_MOST_OF_A_REGULAR]:
                    yield as_posted(row, f"{path.stem.partition('.')[0]}-{number}")


def answers_for(model: JudgingModel, comments: Sequence[Comment]) -> dict[str, ModelOutput]:
    """Return what the model says of each text."""
    answers: dict[str, ModelOutput] = {}
    for start in range(0, len(comments), _BATCH):
        inputs = [model_input(one) for one in comments[start : start + _BATCH]]
        outputs = model.classifier.score_batch(inputs)
        answers.update({one.text: output for one, output in zip(inputs, outputs, strict=True)})
    return answers


def _payloads(
    payloads: Sequence[Mapping[str, Any]],
    agers: Sequence[Posted],
    make_place: Callable[[], Place],
    outcomes: Outcomes,
    *,
    called: str,
) -> None:
    for number, row in enumerate(payloads):
        one, first = as_posted(row, f"account-{number}"), opening(row)
        for way, days in (("a comment", 1), ("an edit", 1), ("a comment after 300 days", 300)):
            if way == "an edit" and first is None:
                continue
            place, under = make_place(), "w-1" if way == "an edit" else None
            place.age(one.account, remarks_of(number, agers))
            if under:
                place.approve(place.post(one, text=first, under=under))
            place.wait(days)
            outcomes[f"{called} by {way}"][one.id] = place.outcome(place.post(one, under=under))


def _remarks(agers: Sequence[Posted], make_place: Callable[[], Place], outcomes: Outcomes) -> None:
    for start in range(0, len(agers), REMARKS):
        place = make_place()
        for one in agers[start : start + REMARKS]:
            kept = place.post(replace(one, account=f"ager-{start}"))
            outcomes["remark that ages an account"][one.id] = place.outcome(kept)
            place.approve(kept)
            place.wait(DAYS_APART)


def _pairs(
    pairs: Sequence[Posted],
    agers: Sequence[Posted],
    make_place: Callable[[], Place],
    outcomes: Outcomes,
) -> None:
    for number, one in enumerate(pairs):
        place = make_place()
        place.age(one.account, remarks_of(number, agers))
        outcomes["one of a pair, from an aged account"][one.id] = place.outcome(place.post(one))


def _regulars(regulars: Sequence[Posted], place: Place, outcomes: Outcomes, *, most: int) -> None:
    known = Counter[str]()
    for one in regulars:
        kept = place.post(one)
        if known[one.account] >= REMARKS and len(outcomes["regular"]) < most:
            outcomes["regular"][one.id] = place.outcome(kept)
        known[one.account] += 1
        place.approve(kept)
        place.wait(0.1)


def remarks_of(number: int, agers: Sequence[Posted]) -> list[Posted]:
    """Return the remarks that the account of this number is aged by."""
    return [agers[(number * REMARKS + i) % len(agers)] for i in range(REMARKS)]


def tested_ids() -> set[str]:
    """Return the ids of the authored comments from which no version learns."""
    return {str(e.comment.id) for e in partition(read_dataset(AUTHORED_FILES), seed=SEED).test}


def main() -> None:
    """Print outcomes by scenario, and write each comment's to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("regulars", nargs="+", type=Path, help="public comments, as JSON lines")
    parser.add_argument("--most", type=int, default=1_000, help="regulars' comments that count")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="what another version wrote with --out")
    options = parser.parse_args()
    model = load_judging_model(current_folder())
    tested = tested_ids()
    agers = [as_posted(row, "ager") for row in read_authored("account-aging")]
    payloads = read_authored("delayed-payload")
    pairs = [as_posted(row, f"pair-{row['id']}") for row in read_authored("sockpuppet-pair")]
    regulars = list(read_regulars(options.regulars))
    texts = [one.comment for one in (*agers, *pairs, *regulars)]
    for row in payloads:
        whole = comment_from_row(row)
        texts += [whole, *(replace(whole, text=first) for first in [opening(row)] if first)]
    answers = answers_for(model, texts)
    outcomes: Outcomes = defaultdict(dict)
    _payloads(payloads, agers, lambda: Place(model, answers), outcomes, called="payload")
    # What becomes of them once no model can tell them from a sincere comment.
    whole = (model_input(comment_from_row(row)).text for row in payloads)
    deaf = answers | dict.fromkeys(whole, ModelOutput(p_spam=_LIKE_HAM))
    _payloads(payloads, agers, lambda: Place(model, deaf), outcomes, called="payload unseen")
    _remarks(agers, lambda: Place(model, answers), outcomes)
    _pairs(pairs, agers, lambda: Place(model, answers), outcomes)
    _regulars(regulars, Place(model, answers), outcomes, most=options.most)
    options.out.write_text(json.dumps(outcomes), encoding="utf-8")
    before = json.loads(options.before.read_text(encoding="utf-8")) if options.before else {}
    print(
        f"{model.version}, cutoffs {model.cutoffs.ham_cutoff:.3f}, {model.cutoffs.spam_cutoff:.3f}"
    )
    for way, found in outcomes.items():
        tell(way, found, before.get(way))
        tell(
            f"{way}, test part",
            {name: outcome for name, outcome in found.items() if name in tested},
            before.get(way),
        )


def tell(way: str, found: Mapping[str, str], before: Mapping[str, str] | None) -> None:
    """Print how many were called what, and how many are held that were not."""
    if not found:
        return
    counted = Counter(found.values())
    line = f"{way:50} {len(found):5,}: ham {counted['ham']:5,}"
    line += f", unsure {counted['unsure']:5,}, spam {counted['spam']:5,}"
    if before is not None:
        was = Counter(before[name] for name in found)
        newly = sum(before[name] == "ham" != outcome for name, outcome in found.items())
        line += f"; before {was['ham']:,}, {was['unsure']:,}, {was['spam']:,}; newly held {newly:,}"
    print(line)


if __name__ == "__main__":
    main()
