"""How much each piece of evidence weighs: fitted, set by judgement, or learnt here.

Archives of comments keep words, names and links. They keep no form, no address, no mail domain and
no memory of earlier decisions, so no fit can weigh these. Each has a weight by judgement here.
Decisions of this installation move it (`service/learning`).
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from service.domain.text import Phrase
from service.domain.verdict import WeightKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Log-odds weights, fitted by logistic regression on comments the model did not train on.

    Those of histories are set by judgement (`SET_WEIGHTS`).

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
            raise ValueError(
                "cutoffs need 0 <= ham_cutoff <= spam_cutoff <= 1, "
                f"got {self.ham_cutoff} and {self.spam_cutoff}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A version's cutoffs, and the error rates they were chosen to keep; None if none is stated.

    `ham_called_spam` is the false-positive rate at the spam cutoff, `spam_called_ham` the rate of
    misses at the ham cutoff, both as shares of all comments with that label.
    """

    version: str
    cutoffs: Cutoffs
    ham_called_spam: float | None = None
    spam_called_ham: float | None = None


# A factor of 4.5 on the odds: no piece that nobody measured may say more. Each list has a share of
# it (`service/signals/listings`).
MOST_SET = 1.5


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


@dataclass(frozen=True, slots=True)
class SetWeight:
    """One weight in log-odds at full strength, by judgement: nobody published counts.

    `yields` says that it counts nothing against a sender with a good record here, `waits`, if
    given, that a moderator looks at the comment, whatever else speaks for it, and why.
    """

    weight: float
    family: Family
    _: KW_ONLY
    yields: bool = True
    waits: Phrase | None = None


SET_WEIGHTS: Mapping[str, SetWeight] = {
    # People do not see the field, though some browsers fill it for them.
    "honeypot_filled": SetWeight(1.5, Family.FORM),
    # Nobody reads and types that fast, though some sites measure it wrongly.
    "too_fast": SetWeight(1.0, Family.FORM),
    # A program put the text in, for its own ends or to help its user.
    "nothing_typed": SetWeight(1.0, Family.FORM),
    # Browsers say so by W3C WebDriver; assistants that act for people say so too.
    "driven_browser": SetWeight(1.0, Family.FORM),
    # Each page's script gets its own, though secrets change and pages are copied.
    "misused_form_token": SetWeight(1.0, Family.FORM),
    # Strangers share addresses, so each list counts by its basis, age and hits here.
    "listed_address": SetWeight(MOST_SET, Family.ADDRESS),
    # A link to a listed domain may be cited in good faith.
    "listed_domain": SetWeight(MOST_SET, Family.LINKS),
    # Who sends much hides the address, and so does who guards it.
    "throwaway_mail": SetWeight(MOST_SET, Family.MAIL),
    # A class or a heated discussion sends as much for an hour.
    "sender_burst": SetWeight(0.5, Family.BURSTS),
    # Near-copies by many hands are seldom said in earnest.
    "copy_burst": SetWeight(1.5, Family.BURSTS),
    "rejected_person_before": SetWeight(1.5, Family.DECISIONS),
    "approved_person_before": SetWeight(-1.5, Family.DECISIONS),
    # Strangers share addresses and networks.
    "rejected_address_before": SetWeight(0.7, Family.DECISIONS),
    "approved_address_before": SetWeight(-0.5, Family.DECISIONS),
    # Strangers share mail domains.
    "rejected_mail_domain_before": SetWeight(1.0, Family.DECISIONS),
    # A good record hides neither of the next two, so that a regular's unverified address is of no
    # use to a spammer.
    "rejected_target_before": SetWeight(0.345, Family.DECISIONS, yields=False),
    "rejected_copy_before": SetWeight(1.5, Family.DECISIONS, yields=False),
    # A like or repost has nothing to read, and its source has no bad record. It takes an unknown
    # source below any ham cutoff (`without_text`), and one word against it takes it back.
    "wordless_reaction": SetWeight(-1.5, Family.REACTIONS),
    # Approvals of harmless remarks do not vouch for the first offer: that is just what a good
    # record speaks of. By authored comments in order, as the next three of accounts.
    "offer_after_remarks": SetWeight(1.0, Family.ACCOUNTS, yields=False),
    # What moderators approved is not what stands there now.
    "added_by_edit": SetWeight(1.5, Family.ACCOUNTS, yields=False),
    # A moderator rejected what it was, which nobody sees in what it is.
    "rejected_before_edit": SetWeight(
        1.0,
        Family.DECISIONS,
        yields=False,
        waits=Phrase("is left to a moderator, as one rejected it before it was edited"),
    ),
    # Nobody types what nobody sees, though some copy it unawares.
    "unseen_text": SetWeight(
        1.5,
        Family.WORDS,
        yields=False,
        waits=Phrase("is left to a moderator, as it carries text that nobody sees"),
    ),
    # A version that learnt little of a language calls its advertisements ham.
    "plain_advertisement": SetWeight(
        1.0,
        Family.WORDS,
        waits=Phrase("is left to a moderator, as it says little but where a trade is to be found"),
    ),
    # Accounts are aged, sold and stolen, though people do come back.
    "dormant_account": SetWeight(1.0, Family.ACCOUNTS, yields=False),
    # Harmless remarks do not vouch for a pitch, approved or only let through: by 60 written
    # accounts (tests/field/account_sequences.jsonl).
    "product_pitch": SetWeight(
        1.5,
        Family.ACCOUNTS,
        yields=False,
        waits=Phrase("is left to a moderator, as its account may advertise"),
    ),
}
# Evidence of a sender's history. No file of comments holds it, so a version's own weights for these
# are ignored.
HISTORY = frozenset(
    name
    for name, one in SET_WEIGHTS.items()
    if one.family in (Family.DECISIONS, Family.ACCOUNTS, Family.BURSTS)
)


class LearntWeight(NamedTuple):
    """A weight after so many of this installation's decisions on comments that had the signal."""

    weight: float
    decisions: int


class LearntHere(Protocol):
    """The set weights after this installation's decisions."""

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        """Return a set weight after decisions, or None if no decision is about it."""


class Weighing(NamedTuple):
    """A weight in log-odds, its kind (None: it weighs nothing) and the decisions behind it."""

    weight: float
    kind: WeightKind | None
    decisions: int = 0


def weigh_signal(name: str, weights: Weights, learnt: LearntHere | None = None) -> Weighing:
    """Return a signal's weight by this version, this installation's decisions and the table.

    A weight that a version was fitted to counts instead of the set one, except for a sender's
    history and what waits for a moderator; 0 in its file is no weight, as archives do not hold the
    evidence.
    """
    own, prior = weights.of(name), SET_WEIGHTS.get(name)
    if prior is None or (own and name not in HISTORY and not prior.waits):
        return Weighing(own, WeightKind.FITTED if own else None)
    found = learnt.weight_of(name, prior=prior.weight) if learnt else None
    if found is None:
        return Weighing(prior.weight, WeightKind.SET)
    return Weighing(found.weight, WeightKind.LEARNT, found.decisions)
