"""How much each piece of evidence weighs: fitted, set by judgement, or learnt here.

Archives of comments keep words, names and links. They keep no form, no address, no mail domain and
no memory of earlier decisions, so no fit can weigh these. Each has a weight by judgement here.
Decisions of this installation move it (`service/learning`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from service.domain.phrase import Phrase
from service.domain.verdict import WeightKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Log-odds weights, fitted by logistic regression on comments the model did not train on.

    Those of histories are set by judgement (`service.scoring.weights`).

    score = base + model x logit(model's p_spam) + sum over signals of weight x strength.
    A detector that has not earned a weight yet counts 0: recorded and shown, but not weighed.
    """

    base: float = 0.0
    model: float = 1.0
    signals: Mapping[str, float] = field(default_factory=dict)

    def of(self, signal_name: str) -> float:
        """Return the weight of a signal, 0.0 for one that has no row in the table."""
        return self.signals.get(signal_name, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Probabilities that part ham (below `ham_cutoff`) and spam (from `spam_cutoff` up)."""

    ham_cutoff: float
    spam_cutoff: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.ham_cutoff <= self.spam_cutoff <= 1.0:
            msg = (
                "cutoffs need 0 <= ham_cutoff <= spam_cutoff <= 1, "
                f"got {self.ham_cutoff} and {self.spam_cutoff}"
            )
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A version's cutoffs, and the error rates they were chosen to keep; None for none stated.

    `ham_called_spam` is the false-positive rate at the spam cutoff, `spam_called_ham` the rate of
    misses at the ham cutoff, both as shares of all comments with that label.
    """

    version: str
    cutoffs: Cutoffs
    ham_called_spam: float | None = None
    spam_called_ham: float | None = None


# A factor of 4.5 on the odds: no piece that nobody measured may say more.
MOST_SET = 1.5
# What a list would weigh that is always right; each has a share of it (`service/signals/listings`).
MOST_OF_A_LIST = MOST_SET


class Family(StrEnum):
    """Where a piece of evidence comes from; pieces of one family may err together."""

    FORM = "form"
    ADDRESS = "address"
    MAIL = "mail"
    LINKS = "links"
    BURSTS = "bursts"
    DECISIONS = "decisions"
    ACCOUNTS = "accounts"
    REACTIONS = "reactions"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetWeight:
    """One weight in log-odds at full strength, why it is that, and what that rests on.

    `yields` says that it counts nothing against a sender with a good record here, `waits`, if
    given, that a moderator looks at the comment, whatever else speaks for it, and why.
    """

    weight: float
    family: Family
    reason: str
    source: str
    yields: bool = True
    waits: Phrase | None = None

    def __post_init__(self) -> None:
        if not 0.0 < abs(self.weight) <= MOST_SET:
            msg = f"a set weight must be within {MOST_SET} and not 0, got {self.weight}"
            raise ValueError(msg)


_JUDGEMENT = "judgement; no published counts"
_AGED = "judgement; authored comments in order"
_SEQUENCES = "judgement; 60 written accounts (tests/field/account_sequences.jsonl)"

SET_WEIGHTS: Mapping[str, SetWeight] = MappingProxyType(
    {
        "honeypot_filled": SetWeight(
            weight=1.5,
            family=Family.FORM,
            reason="people do not see the field, though some browsers fill it for them",
            source=_JUDGEMENT,
        ),
        "too_fast": SetWeight(
            weight=1.0,
            family=Family.FORM,
            reason="nobody reads and types that fast, though some sites measure it wrongly",
            source=_JUDGEMENT,
        ),
        "nothing_typed": SetWeight(
            weight=1.0,
            family=Family.FORM,
            reason="a program put the text in, for its own ends or to help its user",
            source=_JUDGEMENT,
        ),
        "driven_browser": SetWeight(
            weight=1.0,
            family=Family.FORM,
            reason="browsers say so by W3C WebDriver; assistants that act for people say so too",
            source=_JUDGEMENT,
        ),
        "misused_form_token": SetWeight(
            weight=1.0,
            family=Family.FORM,
            reason="each page's script gets its own, though secrets change and pages are copied",
            source=_JUDGEMENT,
        ),
        "listed_address": SetWeight(
            weight=MOST_OF_A_LIST,
            family=Family.ADDRESS,
            reason="strangers share addresses, so each list counts by its basis, age and hits here",
            source="a list's worth by its basis (service/signals/listings.py)",
        ),
        "listed_domain": SetWeight(
            weight=MOST_OF_A_LIST,
            family=Family.LINKS,
            reason="a link to a listed domain may be cited in good faith",
            source="a list's worth by its basis (service/signals/listings.py)",
        ),
        "throwaway_mail": SetWeight(
            weight=MOST_OF_A_LIST,
            family=Family.MAIL,
            reason="who sends much hides the address, and so does who guards it",
            source="a list's worth by its basis (service/signals/listings.py)",
        ),
        "sender_burst": SetWeight(
            weight=0.5,
            family=Family.BURSTS,
            reason="a class or a heated discussion sends as much for an hour",
            source=_JUDGEMENT,
        ),
        "copy_burst": SetWeight(
            weight=1.5,
            family=Family.BURSTS,
            reason="near-copies by many hands are seldom said in earnest",
            source=_JUDGEMENT,
        ),
        "rejected_person_before": SetWeight(
            weight=1.5,
            family=Family.DECISIONS,
            reason="moderators rejected earlier comments of this person",
            source=_JUDGEMENT,
        ),
        "approved_person_before": SetWeight(
            weight=-1.5,
            family=Family.DECISIONS,
            reason="moderators approved earlier comments of this person",
            source=_JUDGEMENT,
        ),
        "rejected_address_before": SetWeight(
            weight=0.7,
            family=Family.DECISIONS,
            reason="strangers share addresses and networks",
            source=_JUDGEMENT,
        ),
        "approved_address_before": SetWeight(
            weight=-0.5,
            family=Family.DECISIONS,
            reason="strangers share addresses and networks",
            source=_JUDGEMENT,
        ),
        "rejected_mail_domain_before": SetWeight(
            weight=1.0,
            family=Family.DECISIONS,
            reason="strangers share mail domains",
            source=_JUDGEMENT,
        ),
        # What moderators rejected is just what the next two say again. Whoever borrows a regular's
        # unverified address gains nothing for it.
        "rejected_target_before": SetWeight(
            weight=0.345,
            family=Family.DECISIONS,
            reason="moderators rejected comments with a link to the same domain",
            source=_JUDGEMENT,
            yields=False,
        ),
        "rejected_copy_before": SetWeight(
            weight=1.5,
            family=Family.DECISIONS,
            reason="moderators rejected comments of nearly the same words",
            source=_JUDGEMENT,
            yields=False,
        ),
        # A good record is just what the first three speak of: it was earned by remarks, or by
        # the comment as it was before.
        # Takes an unknown source below the usual ham cutoff, and one word against it back over.
        "wordless_reaction": SetWeight(
            weight=-1.5,
            family=Family.REACTIONS,
            reason="a like or repost has nothing to read, and its source has no bad record",
            source=_JUDGEMENT,
        ),
        "offer_after_remarks": SetWeight(
            weight=1.0,
            family=Family.ACCOUNTS,
            reason="approvals of harmless remarks do not vouch for the first offer",
            source=_AGED,
            yields=False,
        ),
        "added_by_edit": SetWeight(
            weight=1.5,
            family=Family.ACCOUNTS,
            reason="what moderators approved is not what stands there now",
            source=_AGED,
            yields=False,
        ),
        "rejected_before_edit": SetWeight(
            weight=1.0,
            family=Family.DECISIONS,
            reason="a moderator rejected what it was, which nobody sees in what it is",
            source=_JUDGEMENT,
            yields=False,
            waits=Phrase("is left to a moderator, as one rejected it before it was edited"),
        ),
        "unseen_text": SetWeight(
            weight=1.5,
            family=Family.WORDS,
            reason="nobody types what nobody sees, though some copy it unawares",
            source=_JUDGEMENT,
            yields=False,
            waits=Phrase("is left to a moderator, as it carries text that nobody sees"),
        ),
        "dormant_account": SetWeight(
            weight=1.0,
            family=Family.ACCOUNTS,
            reason="accounts are aged, sold and stolen, though people do come back",
            source=_AGED,
            yields=False,
        ),
        "product_pitch": SetWeight(
            weight=1.5,
            family=Family.ACCOUNTS,
            reason="harmless remarks do not vouch for a pitch, approved or only let through",
            source=_SEQUENCES,
            yields=False,
            waits=Phrase("is left to a moderator, as its account may advertise"),
        ),
    }
)
# Evidence of a sender's history. No file of comments holds it, so a version's own weights for these
# are ignored.
HISTORY = frozenset(
    name
    for name, one in SET_WEIGHTS.items()
    if one.family in (Family.DECISIONS, Family.ACCOUNTS) or name in ("sender_burst", "copy_burst")
)


class LearntWeight(NamedTuple):
    """A weight after so many of this installation's decisions on comments that had the signal."""

    weight: float
    decisions: int


class LearntHere(Protocol):
    """What decisions made of set weights."""

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        """Return what a set weight has become, None where no decision speaks of it."""


class _NothingLearnt:
    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:  # see `LearntHere`
        return None


NOTHING_LEARNT: LearntHere = _NothingLearnt()


class Weighing(NamedTuple):
    """A weight in log-odds, its kind (None: it weighs nothing) and the decisions behind it."""

    weight: float
    kind: WeightKind | None
    decisions: int = 0


def set_weight_of(name: str, weights: Weights) -> float | None:
    """Return the set weight of a signal, before any decision; None for one that is fitted.

    A weight that a version was fitted to counts instead of the set one, except for a sender's
    history; 0 in its file is no weight, as archives do not hold the evidence.
    """
    prior = SET_WEIGHTS.get(name)
    if prior is None or (weights.of(name) and name not in HISTORY):
        return None
    return prior.weight


def weigh_signal(name: str, weights: Weights, learnt: LearntHere) -> Weighing:
    """Return what a signal weighs by this version, this installation's decisions and the table."""
    prior = set_weight_of(name, weights)
    if prior is None:
        own = weights.of(name)
        return Weighing(own, WeightKind.FITTED if own else None)
    found = learnt.weight_of(name, prior=prior)
    if found is None:
        return Weighing(prior, WeightKind.SET)
    return Weighing(found.weight, WeightKind.LEARNT, found.decisions)
