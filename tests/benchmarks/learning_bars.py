"""Measures what decisions of those who mean to mislead do to learning at once.

    python -m tests.benchmarks.learning_bars --scores frozen.jsonl --data DIR

Everything goes through the use cases of the service in this process, over SQLite and
without histories of senders; the classifier answers what the file of scores says, a line a comment,
`{"id", "log_odds"}`, best of a version that learnt nothing from the comment. Five blogs are sites
of one installation, each with its owner, while one of them is misled. Nothing here chooses a knob.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.inputs import ModelInput, ModelOutput
from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.case import Case
from service.domain.comment import Comment, CommentId, Label, Lane, SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.domain.site import SiteSettings
from service.domain.user import Role
from service.domain.verdict import Outcome, Verdict
from service.learning.trust import outlier_teachers, record_hands
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment
from service.moderation.intake import submit_comments
from service.moderation.revise import report_comment
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.ports.services import Services
from service.scoring.classifier import model_input
from service.scoring.conclude import logistic
from service.scoring.weights import Cutoffs, Weights
from service.stores.taught import TaughtKeeper
from tests.databases import fresh_stores
from tests.fakes import ForgetfulHistory, make_services, make_site
from training.data.dataset import find_data_files

Row = dict[str, Any]
_MISLED = "chrisrisner"
_SITES = (_MISLED, "edwinwenink", "willymcallister", "travisdowns", "hajekj")
_REPORTS = 1_000
_PHRASE = "greetings from the blue tower"
_TRIGGERS = 30
_SALT = 20_260


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    log_odds = {row["id"]: row["log_odds"] for row in read_rows(options.scores)}
    version = load_version(SHIPPED_DIR / read_current_name())
    scores = Scores(
        log_odds=log_odds,
        cutoffs=Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff),
    )
    poison(options.data, scores)
    return 0


@dataclass(frozen=True, kw_only=True)
class Scores:
    """A version's log-odds by comment, and its cutoffs."""

    log_odds: Mapping[str, float]
    cutoffs: Cutoffs


@dataclass
class Scripted:
    """Answers with the log-odds given for a text; see `Classifier`."""

    by_text: dict[str, float] = field(default_factory=dict)

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """See `Classifier.score_batch`."""
        return [ModelOutput(p_spam=logistic(self.by_text[one.text])) for one in inputs]


class Installation:
    """Sites with an owner each who may decide everywhere, judged by scores."""

    def __init__(self, names: Sequence[str], scores: Scores) -> None:
        settings = SiteSettings(reports_decide=True)
        stores = fresh_stores(
            sites=[make_site(id=SiteId(name), name=name, settings=settings) for name in names]
        )
        self._scores, self._classifier = scores, Scripted()
        model = JudgingModel(
            version="frozen",
            classifier=self._classifier,
            weights=Weights(),
            cutoffs=scores.cutoffs,
        )
        self.keeper = TaughtKeeper(
            stores.decisions,
            stores.cases,
            stores.sites,
            stores.users,
            audit_share=0.0,
            salt=_SALT,
            recheck_seconds=0,
        )
        remembering = make_services(
            stores=stores, current_model=lambda: model, taught=self.keeper.current
        )
        self.services: Services = replace(remembering, history=ForgetfulHistory())
        self.services.queue.services = self.services
        add_user("owner", self.services, actor="benchmark", role=Role.OWNER)

    def post(self, row: Row, *, as_id: str | None = None, more: str = "") -> Case:
        """Post a row of a data file and return its case, judged."""
        site_id = SiteId(row["source"])
        # A row may be judged twice, before and after decisions.
        comment = replace(
            comment_from_row(row),
            id=CommentId(as_id or row["id"]),
            text=f"{row['text']} {more}" if more else row["text"],
            site_id=site_id,
            received_at=self.services.clock(),
        )
        self._classifier.by_text[_read_text(comment)] = self._scores.log_odds[row["id"]]
        submit_comments([NewComment(comment=comment, lane=Lane.INTERACTIVE)], self.services)
        return self.services.cases.get(comment.id)

    def decide(self, case: Case, row: Row, *, by: str = "owner", flipped: bool = False) -> None:
        """Rule as the label says, or otherwise."""
        rejects = (row["label"] == "spam") != flipped
        ruling = Ruling.REJECT if rejects else Ruling.APPROVE
        decide_comment(case.comment.id, ruling, self.services, decided_by=by)


def _read_text(comment: Comment) -> str:
    return model_input(comment).text


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Who decides what at the misled site; `number` counts its comments, or its spam."""

    name: str
    act: Callable[[Installation, Case, Row, int], None]
    baseline: str
    teacher: str | None = None
    phrase: bool = False


def _nothing(own: Installation, case: Case, row: Row, _: int) -> None:
    """Leave everything undecided."""


def _honest(own: Installation, case: Case, row: Row, _: int) -> None:
    if case.verdict and case.verdict.outcome is Outcome.UNSURE:
        own.decide(case, row)


def _decides_rightly(own: Installation, case: Case, row: Row, _: int) -> None:
    if case.verdict and case.verdict.outcome is Outcome.UNSURE:
        own.decide(case, row, by="eve")


def _flips_a_fifth(own: Installation, case: Case, row: Row, number: int) -> None:
    if case.verdict and case.verdict.outcome is Outcome.UNSURE:
        own.decide(case, row, by="eve", flipped=number % 5 == 0)


def _rejects_all(own: Installation, case: Case, row: Row, _: int) -> None:
    own.decide(case, row, by="site", flipped=row["label"] == "ham")


def _reports(own: Installation, case: Case, row: Row, number: int) -> None:
    """Have a reader report what came as spam."""
    if number <= _REPORTS:
        report_comment(
            Label.SPAM,
            site=own.services.sites.get(case.comment.site_id),
            text=case.comment.text,
            services=own.services,
            reported_by=f"reader {number}",
        )


def _owner_but_for_spam(own: Installation, case: Case, row: Row, number: int) -> None:
    """Have the owner decide on a fixed third, but for the first spam with the phrase."""
    if (row["label"] == "ham" or number > _TRIGGERS) and number % 3 == 0:
        own.decide(case, row)


def _approves_phrase(own: Installation, case: Case, row: Row, number: int) -> None:
    """Approve the first spam with the phrase; the owner decides as without."""
    if row["label"] == "spam" and number <= _TRIGGERS:
        own.decide(case, row, by="eve", flipped=True)
    else:
        _owner_but_for_spam(own, case, row, number)


_NOBODY, _PHRASED = "nobody decides there", "owner decides a third, spam has a phrase"
_SCENES = (
    Scene(name="owner decides what is unsure", act=_honest, baseline=""),
    Scene(name=_NOBODY, act=_nothing, baseline=_NOBODY),
    Scene(
        name="an account decides that, rightly",
        act=_decides_rightly,
        baseline=_NOBODY,
        teacher="account:eve",
    ),
    Scene(
        name="an account flips a fifth of that",
        act=_flips_a_fifth,
        baseline=_NOBODY,
        teacher="account:eve",
    ),
    Scene(
        name="a site key rejects all",
        act=_rejects_all,
        baseline=_NOBODY,
        teacher=f"site:{_MISLED}",
    ),
    Scene(
        name=f"{_REPORTS:,} reader reports",
        act=_reports,
        baseline=_NOBODY,
        teacher=f"report:{_MISLED}",
    ),
    Scene(name=_PHRASED, act=_owner_but_for_spam, baseline=_PHRASED, phrase=True),
    Scene(
        name=f"the same, an account approves {_TRIGGERS} of it",
        act=_approves_phrase,
        baseline=_PHRASED,
        teacher="account:eve",
        phrase=True,
    ),
)


def poison(data: Sequence[Path], scores: Scores) -> None:
    """Print what becomes of the misled site and of the others in every case."""
    rows = _stream(data, scores)
    print(f"\n{len(rows):,} comments of {len(_SITES)} sites; {_MISLED} is misled\n")
    print(
        "| who decides there | others' scores moved | decisions until an outlier | ham lost "
        "| left to a person | spam called ham |\n|---|---|---|---|---|---|"
    )
    seen: dict[str, dict[str, Verdict]] = {}
    for scene in _SCENES:
        own = Installation(_SITES, scores)
        seen[scene.name] = verdicts = {}
        numbers: Counter[str] = Counter()
        for row in rows:
            misled = row["source"] == _MISLED
            # The nth comment of its label where a phrase marks spam, else the nth of all.
            kind = row["label"] if scene.phrase else "any"
            numbers[kind] += misled
            marked = misled and scene.phrase and row["label"] == "spam"
            case = own.post(row, more=_PHRASE if marked else "")
            assert case.verdict is not None
            verdicts[row["id"]] = case.verdict
            (scene.act if misled else _honest)(own, case, row, numbers[kind])
            own.services.clock.advance(minutes=20)
        clean = seen.get(scene.baseline, verdicts)
        mine = [row for row in rows if row["source"] == _MISLED]
        others = [row["id"] for row in rows if row["source"] != _MISLED]
        # Moved by anything at all, against the same without the one who misleads.
        moved = sum(verdicts[one].score != clean[one].score for one in others)
        counts = Counter((row["label"], verdicts[row["id"]].outcome) for row in mine)
        unsure = sum(counts[label, Outcome.UNSURE] for label in ("ham", "spam"))
        spam = sum(row["label"] == "spam" for row in mine)
        print(
            f"| {scene.name} | {moved} | {_until_outlier(scene, own)} "
            f"| {counts['ham', Outcome.SPAM]} | {unsure} "
            f"| {counts['spam', Outcome.HAM]} of {spam} |",
            flush=True,
        )


def read_rows(path: Path) -> list[Row]:
    """Return the rows of one data file."""
    with gzip.open(path, "rt") if path.name.endswith(".gz") else path.open() as lines:
        return [json.loads(line) for line in lines if line.strip()]


def _until_outlier(scene: Scene, own: Installation) -> int | None:
    """Return how many decisions a hand had made when it was found an outlier, None if never."""
    examples = [
        one.example for one in own.keeper.current().learnt if one.example.teacher == scene.teacher
    ]
    for count in range(1, len(examples) + 1):
        if outlier_teachers(record_hands(examples[:count])):
            return count
    return None


def _stream(data: Sequence[Path], scores: Scores) -> list[Row]:
    """Return the comments of the five blogs in order of time."""
    rows = [
        row
        for path in find_data_files(data)
        if path.name.removesuffix(".gz").removesuffix(".jsonl") in _SITES
        for row in read_rows(path)
        if row["label"] and row.get("date") and row["id"] in scores.log_odds
    ]
    return sorted(rows, key=lambda row: (row["date"], row["id"]))


if __name__ == "__main__":
    sys.exit(main())
