"""Weighs whoever ruled by how often others ruled alike.

Nobody knows which rulings are right, but people who are right agree, and who rules at random
agrees with nobody (Dawid and Skene 1979, "Maximum likelihood estimation of observer error-rates
using the EM algorithm", Applied Statistics 28:20-28). With two labels, a reviewer who is right
with probability q is worth 2q - 1: 1 if always right, 0 if they toss a coin (Karger, Oh and Shah
2014, "Budget-optimal task allocation for reliable crowdsourcing systems", Operations Research
62:1-24). Here q is the mean of a Beta distribution that begins at what is assumed of a newcomer and
counts agreements and disagreements:

    weight = max(0, 2 * (3 + agreed) / (5 + agreed + disagreed) - 1)

so a newcomer weighs 0.2, one who agreed 10 times 0.73, 50 times 0.93; who disagreed half the time
or more weighs next to nothing, then nothing.

**Whose agreement counts.** Attackers agree with each other, too. So newcomers vouch for nobody:
a reviewer's word about others counts by what they have earned beyond a newcomer's weight. It
begins with the owners of the installation, who count fully: they may promote any version anyway,
and on a blog with one moderator there is nobody to agree with. If no owner has ruled, whoever ruled
first takes that place, as an attacker comes later than the one who set it up. Beside them, the
audit sample counts half a vote a comment, ten in all: agreeing with confident verdicts, which are
mostly right, shows that somebody rules in earnest, no more.

Cost: in an installation of many sites whose owner never rules, most newcomers weigh little until
the audit sample has shown them to be in earnest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from training.data.alike import IntArray
from training.data.decisions import Decided, RulingMade, Via

# What is assumed of a newcomer: right in 3 of 5, so that they weigh a fifth.
PRIOR_RIGHT, PRIOR_WRONG = 3.0, 2.0
NEWCOMER = 2 * PRIOR_RIGHT / (PRIOR_RIGHT + PRIOR_WRONG) - 1
# From here on a reviewer's word stands without anybody else's: three agreements, no disagreement.
TRUSTED = 0.5
# Some sites report whatever any reader flags: a report is nobody's reading, even where the site
# lets it decide. It stays close to a newcomer's weight and vouches for nobody.
MOST_OF_A_REPORT = 0.25
_MACHINE_VOUCHES = 0.5
_MOST_BY_MACHINE = 10.0
# Weights settle within a few rounds; the number is fixed so that the answer is the same everywhere.
_ROUNDS = 25
_BY_PERSON = frozenset({Via.REVIEW, Via.BULK_DECISION, Via.CAMPAIGN, Via.API})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """One who ruled: `weight` in [0, 1] is how much each of their rulings teaches.

    `agreed` and `disagreed` are what others and the audit sample said of their rulings, each
    comment or campaign at most once. `is_anchor` marks those whose word begins it all.
    """

    weight: float
    agreed: float
    disagreed: float
    is_anchor: bool = False

    @property
    def is_trusted(self) -> bool:
        """Say whether their word stands without anybody else's."""
        return self.weight >= TRUSTED


def weight_of(agreed: float, disagreed: float) -> float:
    """Return what a ruling of a reviewer weighs, in [0, 1); see the head of this file."""
    right = (PRIOR_RIGHT + agreed) / (PRIOR_RIGHT + PRIOR_WRONG + agreed + disagreed)
    return max(0.0, 2 * right - 1)


def weigh_reviewers(
    decided: Sequence[Decided], kin: IntArray, *, without: frozenset[str] = frozenset()
) -> Mapping[str, Reviewer]:
    """Return every reviewer of the rulings by their pseudonym.

    `kin` groups comments that say the same or are of one campaign: on a group everybody has one
    word, that of most of their rulings, so a flood earns no more than one comment. Whoever ruled
    both ways on it equally often has none. A ruling that its own author replaced counts as never
    made, one that somebody else replaced is a disagreement. Those in `without` weigh nothing, and
    what they ruled says nothing of others.
    """
    names = {one.reviewer for row in decided for one in row.rulings}
    anchors = _anchors(decided) - without
    reports = _only(decided, Via.REPORT)
    words = _words(decided, kin, without)
    by_machine = _heard_by_machine(decided)
    weights = {name: 1.0 if name in anchors else weight_of(0, 0) for name in names}
    heard: Mapping[str, tuple[float, float]] = {}
    for _ in range(_ROUNDS):
        heard = _heard(words, {n: _vouches(w) for n, w in weights.items() if n not in reports})
        for name in names - anchors:
            agreed, disagreed = _sum(heard.get(name, (0, 0)), by_machine.get(name, (0, 0)))
            most = MOST_OF_A_REPORT if name in reports else 1.0
            most = 0.0 if name in without else most
            weights[name] = min(most, weight_of(agreed, disagreed))
    answer = {}
    for name in names:
        agreed, disagreed = _sum(heard.get(name, (0, 0)), by_machine.get(name, (0, 0)))
        answer[name] = Reviewer(
            weight=weights[name],
            agreed=agreed,
            disagreed=disagreed,
            is_anchor=name in anchors,
        )
    return answer


def _sum(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], one[1] + other[1]


def _vouches(weight: float) -> float:
    """Return how much somebody's word about others counts: nothing of a newcomer's."""
    return max(0.0, (weight - NEWCOMER) / (1 - NEWCOMER))


def _anchors(decided: Sequence[Decided]) -> frozenset[str]:
    """Return whose word counts fully from the start: owners, else whoever ruled first."""
    by_person = [one for row in decided for one in row.rulings if one.via in _BY_PERSON]
    owners = frozenset(one.reviewer for one in by_person if one.is_owner)
    if owners or not by_person:
        return owners
    return frozenset({min(by_person, key=lambda one: (one.made_at, one.reviewer)).reviewer})


def _only(decided: Sequence[Decided], via: Via) -> frozenset[str]:
    """Return those who ruled in no other way."""
    ways: defaultdict[str, set[Via]] = defaultdict(set)
    for row in decided:
        for one in row.rulings:
            ways[one.reviewer].add(one.via)
    return frozenset(name for name, used in ways.items() if used == {via})


def rulings_in_force(rulings: Iterable[RulingMade]) -> dict[str, Ruling]:
    """Return the last word on a comment of each who ruled on it; older ones are taken back."""
    return {one.reviewer: one.ruling for one in rulings}


def _words(
    decided: Sequence[Decided], kin: IntArray, without: frozenset[str]
) -> list[dict[str, Ruling]]:
    """Return who said what on each group that more than one person ruled on."""
    counts: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row, group in zip(decided, kin.tolist(), strict=True):
        for name, ruling in rulings_in_force(row.rulings).items():
            counts[group][name] += 1 if ruling is Ruling.REJECT else -1
    words = []
    for group in counts.values():
        said = {
            name: Ruling.REJECT if count > 0 else Ruling.APPROVE
            for name, count in sorted(group.items())
            if count and name not in without
        }
        if len(said) > 1:
            words.append(said)
    return words


def _heard(
    words: Sequence[Mapping[str, Ruling]], vouches: Mapping[str, float]
) -> Mapping[str, tuple[float, float]]:
    """Return how much agreement and disagreement everybody met; a group counts one at most."""
    heard: defaultdict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for said in words:
        total = sum(vouches.get(name, 0.0) for name in said)
        if not total:
            continue
        sides = {
            ruling: sum(vouches.get(n, 0.0) for n, r in said.items() if r is ruling)
            for ruling in Ruling
        }
        for name, ruling in said.items():
            own = vouches.get(name, 0.0)
            others = max(1.0, total - own)
            other_side = next(r for r in Ruling if r is not ruling)
            heard[name] = _sum(
                heard[name],
                (max(0.0, sides[ruling] - own) / others, sides[other_side] / others),
            )
    return heard


def _heard_by_machine(decided: Sequence[Decided]) -> Mapping[str, tuple[float, float]]:
    """Return what the audit sample's confident verdicts say of those who ruled on them."""
    heard: defaultdict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for row in decided:
        verdict = row.verdict
        if not row.audit or verdict is None or verdict.degraded or verdict.followed:
            continue
        if verdict.outcome is Outcome.UNSURE:
            continue
        said = Ruling.REJECT if verdict.outcome is Outcome.SPAM else Ruling.APPROVE
        name = row.in_force.reviewer
        agrees = row.in_force.ruling is said
        heard[name] = _sum(
            heard[name], (_MACHINE_VOUCHES * agrees, _MACHINE_VOUCHES * (not agrees))
        )
    bounded = {}
    for name, (agreed, disagreed) in heard.items():
        factor = min(1.0, _MOST_BY_MACHINE / (agreed + disagreed))
        bounded[name] = (agreed * factor, disagreed * factor)
    return bounded
