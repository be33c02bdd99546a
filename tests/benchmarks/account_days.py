"""Counts aged accounts' payloads that are held, over HTTP, day by day, and regulars held besides.

    python -m tests.benchmarks.account_days FILE... [--against CHECKOUT] --out FILE.json

Starts a Slopsieve by a made-up clock and posts through `/v1`, edits through a hook of the kind
`standard`, as `/v1` takes none. Accounts are aged side by side by the authored remarks, one every
other day each, all approved through `/v1`; then each posts its payload, on which nobody rules. Each
run is one arm: this code with accounts, or without anything that tells who wrote, or another
checkout's code. What decisions teach of words at once is switched off, or with `--spam FILE...` on:
then every site gets spam as well, of which one comment is rejected for four that are approved.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.account_replay import (
    DAYS_APART,
    REMARKS,
    Outcomes,
    Posted,
    as_posted,
    opening,
    read_authored,
    read_regulars,
    remarks_of,
    tell,
    tested_ids,
)
from tests.benchmarks.clocked_service import CHECKOUT, Clocked, clocked
from training.data.dataset import read_rows

# Of the public comments about one in five is spam.
_APPROVED_A_REJECTED = 4
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Arm:
    """What a run tells and does: `spam` is what sites get besides, None where they do not learn."""

    tells_accounts: bool
    spam: Iterator[Posted] | None


class Place:
    """One site of a service, to which accounts post."""

    def __init__(self, service: Clocked, name: str, arm: Arm) -> None:
        self.service, self._arm = service, arm
        self._api = service.add_site(name)
        self._hook = service.command("hooks", "add", name, "standard", "--json")
        if arm.spam is None:
            service.command("sites", "set", name, "--learns-not")
        self._number = self._approved = 0

    def post(self, some: Sequence[Posted]) -> list[dict[str, Any]]:
        """Post comments through `/v1`, in one call, and return the answers with their verdicts."""
        first = self._number + 1
        self._number += len(some)
        bodies = [self._body(one, f"own-{at}", None) for at, one in enumerate(some, first)]
        return self.service.judged_together(self._api, bodies)

    def show(self, one: Posted, *, under: str, text: str | None = None) -> dict[str, Any]:
        """Tell the hook what a comment of the site's own id looks like now."""
        return self.service.edited(self._api, self._hook, self._body(one, under, text))

    def approve(self, answers: Sequence[Mapping[str, Any]]) -> None:
        """Approve comments through `/v1`; where sites get spam, reject as much as belongs to it."""
        for answer in answers:
            self.service.decide(self._api, answer, "approve")
        if self._arm.spam is None:
            return
        before, self._approved = self._approved, self._approved + len(answers)
        due = self._approved // _APPROVED_A_REJECTED - before // _APPROVED_A_REJECTED
        some = list(itertools.islice(self._arm.spam, due))
        for answer in self.post(some) if some else ():
            self.service.decide(self._api, answer, "reject")

    def _body(self, one: Posted, under: str, text: str | None) -> dict[str, Any]:
        comment = one.comment
        author: dict[str, Any] = {"name": comment.author.name, "url": comment.author.url}
        if self._arm.tells_accounts:
            author |= {
                "email": f"{one.account}@example.org",
                "account_id": one.account,
                "account_age_days": 200,
            }
        return {
            "text": comment.text if text is None else text,
            "site_comment_id": under,
            "post": {"title": comment.post.title, "excerpt": comment.post.excerpt},
            "author": author,
        }


def called(answer: Mapping[str, Any]) -> str:
    """Return what a comment was called; a verdict without some evidence is no measurement."""
    verdict = answer["verdict"]
    return "degraded" if verdict["degraded"] else str(verdict["outcome"])


def age(
    place: Place, accounts: Sequence[str], agers: Sequence[Posted], outcomes: dict[str, str]
) -> None:
    """Have every account earn approvals by remarks; note what each remark is called at first."""
    for turn in range(REMARKS):
        remarks = [
            replace(remarks_of(number, agers)[turn], account=account)
            for number, account in enumerate(accounts)
        ]
        answers = place.post(remarks)
        for remark, answer in zip(remarks, answers, strict=True):
            outcomes.setdefault(remark.id, called(answer))
        place.approve(answers)
        place.service.wait(DAYS_APART)
        print(f"round {turn + 1} of {REMARKS}", file=sys.stderr)


def post_payloads(
    service: Clocked,
    payloads: Sequence[Mapping[str, Any]],
    agers: Sequence[Posted],
    outcomes: Outcomes,
    arm: Arm,
) -> None:
    """Post each payload in three ways, each from an aged account, each way at a site of its own."""
    for way, days in (("a comment", 1), ("an edit", 1), ("a comment after 300 days", 300)):
        place = Place(service, f"Payload by {way}", arm)
        rows = [row for row in payloads if way != "an edit" or opening(row) is not None]
        posted = [as_posted(row, f"account-{number}") for number, row in enumerate(rows)]
        age(place, [one.account for one in posted], agers, outcomes["remark that ages an account"])
        if way == "an edit":
            for number, (one, row) in enumerate(zip(posted, rows, strict=True)):
                place.approve([place.show(one, under=f"w-{number}", text=opening(row))])
        service.wait(days)
        if way == "an edit":
            answers = [place.show(one, under=f"w-{at}") for at, one in enumerate(posted)]
        else:
            answers = place.post(posted)
        found = {one.id: called(answer) for one, answer in zip(posted, answers, strict=True)}
        outcomes[f"payload by {way}"] = found


def post_pairs(
    service: Clocked,
    pairs: Sequence[Posted],
    agers: Sequence[Posted],
    outcomes: Outcomes,
    arm: Arm,
) -> None:
    """Post both halves of each pair, each from an aged account."""
    place = Place(service, "Pairs", arm)
    age(place, [one.account for one in pairs], agers, {})
    answers = place.post(pairs)
    found = {one.id: called(answer) for one, answer in zip(pairs, answers, strict=True)}
    outcomes["one of a pair, from an aged account"] = found


def post_regulars(
    service: Clocked,
    regulars: Sequence[Posted],
    outcomes: Outcomes,
    arm: Arm,
    *,
    most: int,
) -> None:
    """Post regulars' comments, each approved, and note those after their writer's seventh.

    The writers of a round post on the same day, the next round two days later.
    """
    place = Place(service, "Blogs", arm)
    of_writer = defaultdict[str, list[Posted]](list)
    for one in _enough(regulars, most):
        of_writer[one.account].append(one)
    for turn in range(max(map(len, of_writer.values()))):
        some = [written[turn] for written in of_writer.values() if turn < len(written)]
        answers = place.post(some)
        if turn >= REMARKS:
            found = {one.id: called(answer) for one, answer in zip(some, answers, strict=True)}
            outcomes["regular"].update(found)
        place.approve(answers)
        service.wait(DAYS_APART)
        print(f"regulars, round {turn + 1}", file=sys.stderr)


def _spam(files: Sequence[Path]) -> list[Posted]:
    """Return the spam of archives, shuffled, each by somebody else."""
    rows = [row for path in files for _, row in read_rows(path, []) if row["label"] == "spam"]
    random.Random(_SEED).shuffle(rows)
    return [as_posted(row, f"spammer-{number}") for number, row in enumerate(rows)]


def _enough(regulars: Sequence[Posted], most: int) -> list[Posted]:
    """Return the first comments, so that as many come after their writer's seventh."""
    known, taken = Counter[str](), list[Posted]()
    for one in regulars:
        if sum(max(0, count - REMARKS) for count in known.values()) == most:
            break
        known[one.account] += 1
        taken.append(one)
    return taken


def main() -> None:
    """Print outcomes by scenario, and write each comment's to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("regulars", nargs="+", type=Path, help="public comments, as JSON lines")
    parser.add_argument("--most", type=int, default=1_000, help="regulars' comments that count")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="what another arm wrote with --out")
    parser.add_argument("--against", type=Path, default=CHECKOUT, help="a folder of other code")
    parser.add_argument("--without-accounts", action="store_true")
    parser.add_argument("--spam", nargs="*", type=Path, help="let sites learn, and get this too")
    options = parser.parse_args()
    agers = [as_posted(row, "ager") for row in read_authored("account-aging")]
    pairs = [as_posted(row, f"pair-{row['id']}") for row in read_authored("sockpuppet-pair")]
    outcomes = defaultdict[str, dict[str, str]](dict)
    spam = iter(_spam(options.spam)) if options.spam else None
    arm = Arm(not options.without_accounts, spam)
    with clocked(options.against.resolve()) as service:
        regulars = list(read_regulars(options.regulars))
        post_regulars(service, regulars, outcomes, arm, most=options.most)
        payloads = read_authored("delayed-payload")
        post_payloads(service, payloads, agers, outcomes, arm)
        post_pairs(service, pairs, agers, outcomes, arm)
    options.out.write_text(json.dumps(outcomes), encoding="utf-8")
    before = json.loads(options.before.read_text(encoding="utf-8")) if options.before else {}
    degraded = sum(one == "degraded" for found in outcomes.values() for one in found.values())
    print(f"degraded verdicts: {degraded}")
    tested = tested_ids()
    for way, found in outcomes.items():
        tell(way, found, before.get(way))
        of_test = {name: outcome for name, outcome in found.items() if name in tested}
        tell(f"{way}, test part", of_test, before.get(way))


if __name__ == "__main__":
    main()
