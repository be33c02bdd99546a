"""Counts what a campaign replay showed, and writes its page: pure functions over verdicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.verdict import Outcome
from service.scoring.cutoffs import clopper_pearson
from tests.benchmarks.replay_stream import Posted, Shares

# Ham grows worse in this order.
_HARM = {Outcome.HAM: 0, Outcome.UNSURE: 1, Outcome.SPAM: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of one comment."""

    outcome: Outcome
    p_spam: float
    degraded: bool = False


Verdicts = Mapping[str, Judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRow:
    """One campaign: its members in order, with the first rejected and with nothing decided.

    `settled_from` is the first member from which on all go to spam or unsure, None if the last
    one goes to ham; `spam_from` likewise for spam alone. `let_through` counts the members after
    the first that go to ham. What ends in `_undecided` is the same where nothing is decided.
    """

    campaign: str
    is_test: bool
    ids: tuple[str, ...]
    decided: tuple[Judged, ...]
    undecided: tuple[Judged, ...]
    settled_from: int | None
    spam_from: int | None
    spam_from_undecided: int | None
    let_through: int
    let_through_undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A ham comment to which decisions on others gave another outcome."""

    id: str
    shares: Shares
    undecided: Judged
    decided: Judged

    @property
    def is_harmed(self) -> bool:
        """Whether the outcome is worse for the one who wrote it."""
        return _HARM[self.decided.outcome] > _HARM[self.undecided.outcome]


def count_campaigns(
    stream: Sequence[Posted], *, decided: Verdicts, undecided: Verdicts
) -> list[CampaignRow]:
    """Return one row a campaign, by name."""
    members: defaultdict[str, list[Posted]] = defaultdict(list)
    for posted in stream:
        if posted.campaign is not None:
            members[posted.campaign].append(posted)
    rows = []
    for campaign, some in sorted(members.items()):
        ids = tuple(p.id for p in sorted(some, key=lambda p: p.member))
        with_them, without = (tuple(said[i] for i in ids) for said in (decided, undecided))
        rows.append(
            CampaignRow(
                campaign=campaign,
                is_test=all(p.is_test for p in some),
                ids=ids,
                decided=with_them,
                undecided=without,
                settled_from=_all_from(with_them, {Outcome.SPAM, Outcome.UNSURE}),
                spam_from=_all_from(with_them, {Outcome.SPAM}),
                spam_from_undecided=_all_from(without, {Outcome.SPAM}),
                let_through=_n_ham(with_them[1:]),
                let_through_undecided=_n_ham(without[1:]),
            )
        )
    return rows


def changed_ham(
    stream: Sequence[Posted], *, decided: Verdicts, undecided: Verdicts
) -> list[Changed]:
    """Return the ham whose outcome the decisions changed, in the order of the stream."""
    return [
        Changed(id=p.id, shares=p.shares, undecided=undecided[p.id], decided=decided[p.id])
        for p in stream
        if p.campaign is None and undecided[p.id].outcome is not decided[p.id].outcome
    ]


def _all_from(judged: Sequence[Judged], wanted: Collection[Outcome]) -> int | None:
    """Return from which member on, counted from 1, all outcomes are wanted ones."""
    last_other = max((n for n, j in enumerate(judged, 1) if j.outcome not in wanted), default=0)
    return last_other + 1 if last_other < len(judged) else None


def _n_ham(judged: Iterable[Judged]) -> int:
    return sum(one.outcome is Outcome.HAM for one in judged)


def to_record(
    stream: Sequence[Posted],
    *,
    decided: Verdicts,
    undecided: Verdicts,
    test_only: bool,
    **about: Any,
) -> dict[str, Any]:
    """Return everything counted, for JSON: counts, ids and probabilities, no text."""
    rows = count_campaigns(stream, decided=decided, undecided=undecided)
    parts = {"of posts in the test part": [row for row in rows if row.is_test]}
    if not test_only:
        parts = {"all": rows, **parts}
    changed = changed_ham(stream, decided=decided, undecided=undecided)
    groups = _ham_groups(stream)
    return {
        **about,
        "degraded": sum(j.degraded for j in (*decided.values(), *undecided.values())),
        "campaigns": {name: _totals(some) for name, some in parts.items()},
        "ham": {
            name: _ham_totals(some, changed, decided, undecided) for name, some in groups.items()
        },
        "ham_changed": [
            {
                "id": one.id,
                "shares_with_spammer": one.shares.value,
                "is_harmed": one.is_harmed,
                "undecided": _plain(one.undecided),
                "decided": _plain(one.decided),
            }
            for one in changed
        ],
        "rows": [
            {
                "campaign": row.campaign,
                "is_test": row.is_test,
                "ids": list(row.ids),
                "decided": [_plain(j) for j in row.decided],
                "undecided": [_plain(j) for j in row.undecided],
                "settled_from": row.settled_from,
                "spam_from": row.spam_from,
                "spam_from_undecided": row.spam_from_undecided,
                "let_through": row.let_through,
                "let_through_undecided": row.let_through_undecided,
            }
            for row in rows
        ],
    }


def _plain(judged: Judged) -> dict[str, Any]:
    return {"outcome": judged.outcome.value, "p_spam": judged.p_spam}


def _totals(rows: Sequence[CampaignRow]) -> dict[str, Any]:
    return {
        "campaigns": len(rows),
        "settled_from": _members(row.settled_from for row in rows),
        "spam_from": _members(row.spam_from for row in rows),
        "spam_from_undecided": _members(row.spam_from_undecided for row in rows),
        "members_after_first": sum(len(row.ids) - 1 for row in rows),
        "let_through": sum(row.let_through for row in rows),
        "let_through_undecided": sum(row.let_through_undecided for row in rows),
        "called_spam": _n_spam(row.decided for row in rows),
        "called_spam_undecided": _n_spam(row.undecided for row in rows),
    }


def _members(numbers: Iterable[int | None]) -> dict[str, int]:
    """Return how many campaigns were at rest from each member on, in order, "never" last."""
    counts = Counter(numbers)
    in_order = sorted(counts, key=lambda n: (n is None, n or 0))
    return {"never" if n is None else str(n): counts[n] for n in in_order}


def _n_spam(campaigns: Iterable[Sequence[Judged]]) -> int:
    return sum(one.outcome is Outcome.SPAM for some in campaigns for one in some[1:])


def _ham_groups(stream: Sequence[Posted]) -> dict[str, list[Posted]]:
    """Return the ham as a whole, then by what it shares with a spammer, then by source."""
    ham = [posted for posted in stream if posted.campaign is None]
    tests: dict[str, Callable[[Posted], bool]] = {
        "all": lambda p: True,
        "at a spammer's address": lambda p: p.shares is Shares.ADDRESS,
        "in a spammer's network": lambda p: p.shares is Shares.NETWORK,
        "in the test part": lambda p: p.is_test,
    }
    groups = {name: [p for p in ham if holds(p)] for name, holds in tests.items()}
    for source in sorted({posted.source for posted in ham}):
        groups[f"of {source}"] = [p for p in ham if p.source == source]
    return groups


def _ham_totals(
    ham: Sequence[Posted], changed: Sequence[Changed], decided: Verdicts, undecided: Verdicts
) -> dict[str, Any]:
    ids = {posted.id for posted in ham}
    mine = [one for one in changed if one.id in ids]
    n_harmed = sum(one.is_harmed for one in mine)
    return {
        "n": len(ids),
        "undecided": _outcomes(undecided[i] for i in ids),
        "decided": _outcomes(decided[i] for i in ids),
        "harmed": n_harmed,
        "harmed_interval": list(clopper_pearson(n_harmed, len(ids))) if ids else None,
        "better": len(mine) - n_harmed,
    }


def _outcomes(judged: Iterable[Judged]) -> dict[str, int]:
    counts = Counter(one.outcome for one in judged)
    return {outcome.value: counts[outcome] for outcome in Outcome}


def to_markdown(record: Mapping[str, Any]) -> str:
    """Return the page of a record that `to_record` made."""
    return (
        "\n\n".join(
            [
                f"# Campaign replay of {record['version']}",
                _introduction(record),
                _campaign_table(record["campaigns"]),
                _ham_table(record["ham"]),
                _changed_list(record["ham_changed"]),
                _row_table(record),
            ]
        ).rstrip()
        + "\n"
    )


def _introduction(record: Mapping[str, Any]) -> str:
    return (
        f"{record['posted']} comments, one after the other over HTTP, seed {record['seed']}. The "
        "first member of each campaign was rejected once it was judged, a share of ham approved; "
        "then the same stream again with nothing decided. Of both runs' verdicts "
        f"{record['degraded']} were degraded. "
        "The shipped versions were trained on the posts outside the test part. The whole stream "
        "takes minutes, so sightings count in both runs as if it had come within one hour. "
        "Members of a campaign move together: intervals by comment are narrower than the truth."
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _campaign_table(totals: Mapping[str, Mapping[str, Any]]) -> str:
    head = [
        "campaigns", "n", "rest is spam or unsure from member: campaigns",
        "rest is spam from member, nothing decided", "the same, first rejected",
        "members after the first", "to ham, nothing decided", "to ham, first rejected",
        "called spam, nothing decided", "called spam, first rejected",
    ]  # fmt: skip
    return _table(
        head,
        [
            [
                name,
                one["campaigns"],
                *(
                    ", ".join(f"{n}: {count}" for n, count in one[key].items())
                    for key in ("settled_from", "spam_from_undecided", "spam_from")
                ),
                one["members_after_first"],
                one["let_through_undecided"],
                one["let_through"],
                one["called_spam_undecided"],
                one["called_spam"],
            ]
            for name, one in totals.items()
        ],
    )


def _ham_table(groups: Mapping[str, Mapping[str, Any]]) -> str:
    head = [
        "ham", "n", "ham / unsure / spam, nothing decided", "the same, decided",
        "harmed (95 %)", "better",
    ]  # fmt: skip
    rows = []
    for name, one in groups.items():
        low, high = one["harmed_interval"] or (0.0, 1.0)
        rows.append(
            [
                name,
                one["n"],
                _three(one["undecided"]),
                _three(one["decided"]),
                f"{one['harmed']} ({low:.2%} to {high:.2%})",
                one["better"],
            ]
        )
    return _table(head, rows)


def _three(counts: Mapping[str, int]) -> str:
    return " / ".join(str(counts[outcome.value]) for outcome in _HARM)


def _changed_list(changed: Sequence[Mapping[str, Any]]) -> str:
    harmed = [
        f"`{one['id']}` ({one['undecided']['outcome']} {one['undecided']['p_spam']:.3f} to "
        f"{one['decided']['outcome']} {one['decided']['p_spam']:.3f}, shares "
        f"{one['shares_with_spammer']} with a spammer)"
        for one in changed
        if one["is_harmed"]
    ]
    return "Ham harmed: " + ("; ".join(harmed) if harmed else "none") + "."


def _row_table(record: Mapping[str, Any]) -> str:
    rows = [row for row in record["rows"] if row["is_test"] or "all" in record["campaigns"]]
    width = max((len(row["ids"]) for row in rows), default=0)
    head = ["campaign", "test part", *(f"member {n}" for n in range(1, width + 1))]
    head += [
        "rest from",
        "rest is spam from",
        "to ham after the first",
        "the same, nothing decided",
    ]
    return _table(
        head,
        [
            [
                row["campaign"],
                "yes" if row["is_test"] else "no",
                *(f"{one['outcome']} {one['p_spam']:.3f}" for one in row["decided"]),
                *([""] * (width - len(row["ids"]))),
                row["settled_from"] or "never",
                row["spam_from"] or "never",
                row["let_through"],
                row["let_through_undecided"],
            ]
            for row in rows
        ],
    )
