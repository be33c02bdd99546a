"""Measures what learning at once gains, and what decisions of those who mislead do to it.

    python -m tests.benchmarks.learning_bars --scores frozen.jsonl --cutoffs 0.17 0.98 --data DIR
        --sites hajekj travisdowns

Everything goes through the use cases of the service in this process, over SQLite and without
histories of senders. The classifier returns what the file of scores has, `{"id", "log_odds"}` a
line, best of a network that learnt nothing from the comment. The blogs are sites of one
installation, each with its owner. The first is misled in the second table.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from models.inputs import ModelOutput
from service.domain.case import Case
from service.domain.comment import CommentId, Label, Lane, SiteId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.domain.site import SiteSettings
from service.domain.user import Role
from service.domain.verdict import Outcome, Verdict
from service.learning.trust import outlier_teachers, record_teachers
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment
from service.moderation.revise import report_comment
from service.scoring.classifier import model_input
from service.scoring.conclude import logistic
from service.scoring.weights import Cutoffs
from tests.databases import fresh_stores
from tests.fakes import (
    FixedClassifier,
    ForgetfulHistory,
    make_model,
    make_services,
    make_site,
    submit_to,
)
from tests.unit.learning.training_examples import cache_over
from training.data.dataset import find_data_files, read_rows

Row = Mapping[str, Any]
_REPORTS = 1_000
_PHRASE = "greetings from the blue tower"
_TRIGGERS = 30


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--sites", nargs="+", required=True, help="files of DIR, by name")
    parser.add_argument("--cutoffs", type=float, nargs=2, required=True, help="for ham and spam")
    options = parser.parse_args()
    log_odds = {row["id"]: row["log_odds"] for _, row in read_rows(options.scores, [])}
    cutoffs = Cutoffs(ham_cutoff=options.cutoffs[0], spam_cutoff=options.cutoffs[1])
    rows = _stream(options.data, options.sites, log_odds)

    def make() -> Installation:
        return Installation(options.sites, log_odds, cutoffs)

    gain(rows, make)
    poison(rows, make, misled=options.sites[0])


class Installation:
    """Sites with an owner each who may decide everywhere, judged by scores."""

    def __init__(
        self, sites: Sequence[str], log_odds: Mapping[str, float], cutoffs: Cutoffs
    ) -> None:
        settings = SiteSettings(reports_decide=True)
        stores = fresh_stores(
            sites=[make_site(id=SiteId(name), name=name, settings=settings) for name in sites]
        )
        self._log_odds, self._classifier = log_odds, FixedClassifier()
        model = replace(make_model(self._classifier), cutoffs=cutoffs)
        self.cache = cache_over(stores, audit_share=0.0)
        stores.history = ForgetfulHistory()
        self.services = make_services(
            stores=stores, current_model=lambda: model, learned=self.cache.current
        )
        add_user("owner", self.services, actor="benchmark", role=Role.OWNER)

    def post(self, row: Row, *, more: str = "") -> Case:
        """Post a row of a data file and return its case, judged."""
        comment = replace(
            comment_from_row(row),
            id=CommentId(row["id"]),
            text=f"{row['text']} {more}" if more else row["text"],
            site_id=SiteId(row["source"]),
            received_at=self.services.clock(),
        )
        output = ModelOutput(p_spam=logistic(self._log_odds[row["id"]]))
        self._classifier.by_text[model_input(comment).text] = output
        submit_to(self.services, comment, lane=Lane.INTERACTIVE)
        return self.services.cases.get(comment.id)

    def decide(self, case: Case, row: Row, *, by: str = "owner", flipped: bool = False) -> None:
        """Rule as the label says, or otherwise."""
        rejects = (row["label"] == "spam") != flipped
        ruling = Ruling.REJECT if rejects else Ruling.APPROVE
        decide_comment(case.comment.id, ruling, self.services, decided_by=by)


@dataclass(frozen=True)
class Scene:
    """Who decides what at the misled site; its comments, or its spam, are numbered for `act`."""

    name: str
    act: Callable[[Installation, Case, Row, int], None]
    baseline: str
    teacher: str | None = None
    phrase: bool = False


def _nothing(own: Installation, case: Case, row: Row, _: int) -> None:
    """Leave everything undecided."""


def _honest(own: Installation, case: Case, row: Row, _: int, *, by: str = "owner") -> None:
    """Decide what is unsure."""
    if case.verdict and case.verdict.outcome is Outcome.UNSURE:
        own.decide(case, row, by=by)


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
    Scene("owner decides what is unsure", _honest, ""),
    Scene(_NOBODY, _nothing, _NOBODY),
    Scene("an account decides that, rightly", partial(_honest, by="eve"), _NOBODY, "account:eve"),
    Scene("an account flips a fifth of that", _flips_a_fifth, _NOBODY, "account:eve"),
    Scene("a site key rejects all", _rejects_all, _NOBODY, "site:{}"),
    Scene(f"{_REPORTS:,} reader reports", _reports, _NOBODY, "report:{}"),
    Scene(_PHRASED, _owner_but_for_spam, _PHRASED, phrase=True),
    Scene(
        f"the same, an account approves {_TRIGGERS} of it",
        _approves_phrase,
        _PHRASED,
        "account:eve",
        phrase=True,
    ),
)


def gain(rows: Sequence[Row], make: Callable[[], Installation]) -> None:
    """Print each site's outcomes if nobody decides, and if its owner decides what is unsure."""
    print("| Site | Decisions | Ham waits | Ham called spam | Spam waits | Spam called ham |")
    print("|---|--:|--:|--:|--:|--:|")
    ways = []
    for act in (_nothing, _honest):
        own = make()
        counts = Counter[tuple[str, str, Outcome]]()
        for row in rows:
            case = own.post(row)
            assert case.verdict is not None
            counts[row["source"], row["label"], case.verdict.outcome] += 1
            act(own, case, row, 0)
            own.services.clock.advance(minutes=20)
        ways.append(counts)
    for site in sorted({row["source"] for row in rows}):
        cells = [
            f"{100 * ways[0][site, label, outcome] / n:.1f} -> "
            f"{100 * ways[1][site, label, outcome] / n:.1f} %"
            if (n := sum(ways[0][site, label, one] for one in Outcome))
            else ""
            for label, wrong in (("ham", Outcome.SPAM), ("spam", Outcome.HAM))
            for outcome in (Outcome.UNSURE, wrong)
        ]
        decided = sum(ways[1][site, label, Outcome.UNSURE] for label in ("ham", "spam"))
        print(f"| {site} | {decided} | {' | '.join(cells)} |", flush=True)


def poison(rows: Sequence[Row], make: Callable[[], Installation], *, misled: str) -> None:
    """Print what becomes of the misled site and of the others in every case."""
    print(f"\n{len(rows):,} comments; {misled} is misled\n")
    print(
        "| who decides there | others' scores moved | decisions until an outlier | ham lost "
        "| left to a person | spam called ham |\n|---|---|---|---|---|---|"
    )
    seen: dict[str, dict[str, Verdict]] = {}
    for scene in _SCENES:
        own = make()
        seen[scene.name] = verdicts = {}
        numbers: Counter[str] = Counter()
        for row in rows:
            is_misled = row["source"] == misled
            # The nth comment of its label where a phrase marks spam, else the nth of all.
            kind = row["label"] if scene.phrase else "any"
            numbers[kind] += is_misled
            marked = is_misled and scene.phrase and row["label"] == "spam"
            case = own.post(row, more=_PHRASE if marked else "")
            assert case.verdict is not None
            verdicts[row["id"]] = case.verdict
            (scene.act if is_misled else _honest)(own, case, row, numbers[kind])
            own.services.clock.advance(minutes=20)
        clean = seen.get(scene.baseline, verdicts)
        mine = [row for row in rows if row["source"] == misled]
        others = [row["id"] for row in rows if row["source"] != misled]
        # Moved by anything at all, against the same without the one who misleads.
        moved = sum(verdicts[one].score != clean[one].score for one in others)
        counts = Counter((row["label"], verdicts[row["id"]].outcome) for row in mine)
        unsure = sum(counts[label, Outcome.UNSURE] for label in ("ham", "spam"))
        spam = sum(row["label"] == "spam" for row in mine)
        print(
            f"| {scene.name} | {moved} | {_until_outlier(scene, own, misled)} "
            f"| {counts['ham', Outcome.SPAM]} | {unsure} "
            f"| {counts['spam', Outcome.HAM]} of {spam} |",
            flush=True,
        )


def _until_outlier(scene: Scene, own: Installation, misled: str) -> int | None:
    """Return the number of a teacher's decisions when it was found an outlier, or None."""
    teacher = scene.teacher and scene.teacher.format(misled)
    examples = [
        one.example for one in own.cache.current().examples if one.example.teacher == teacher
    ]
    for count in range(1, len(examples) + 1):
        if outlier_teachers(record_teachers(examples[:count])):
            return count
    return None


def _stream(data: Sequence[Path], sites: Sequence[str], log_odds: Mapping[str, float]) -> list[Row]:
    """Return the sites' comments in order of time."""
    rows = [
        row
        for path in find_data_files(data)
        if path.name.removesuffix(".gz").removesuffix(".jsonl") in sites
        for _, row in read_rows(path, [])
        if row["label"] and row.get("date") and row["id"] in log_odds
    ]
    return sorted(rows, key=lambda row: (row["date"], row["id"]))


if __name__ == "__main__":
    main()
