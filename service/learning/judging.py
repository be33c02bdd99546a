"""Adds what decisions taught to verdicts, and makes training examples of decided cases."""

import math
from collections.abc import Collection
from dataclasses import replace

from models.features import hash_words
from service.domain.case import Case
from service.domain.comment import Comment
from service.domain.decision import IMPORT, Decision, Ruling
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Verdict, WeighedSignal
from service.learning.evidence import pieces_of
from service.learning.features import (
    DecisionSource,
    Features,
    Kind,
    TrainingExample,
    copy_keys,
    count_features,
    name_heaviest,
)
from service.learning.learned_state import LearnedState
from service.learning.numbers import BOUND, PITCH_BOUND_TO_HAM
from service.scoring import residual
from service.scoring.conclude import cutoffs_of, decide, is_beside, logistic
from service.scoring.weights import SET_WEIGHTS, Cutoffs, Family
from service.signals.judged_text import judged_text
from service.signals.offers import pitches

# Of what does not stand in the text only the kind is kept with a verdict: the rest can be erased.
_BESIDE = {
    Kind.DOMAIN: residual.BY_AUTHORS_SITE,
    Kind.NAME: residual.BY_NAME,
    Kind.AUTHOR: residual.BY_AUTHORS_SITE,
    Kind.POST: residual.BY_POST,
}
# Who ages an account by remarks teaches their words, too: what people approved of them says no
# more for the first offer than the account's record does.
_AGED = frozenset(
    name for name, one in SET_WEIGHTS.items() if one.family is Family.ACCOUNTS and not one.yields
)
_BY_A_SITE = {"site": DecisionSource.SITE, "report": DecisionSource.REPORT}
_DEFAULT = SiteSettings()


def apply_residual(
    verdict: Verdict,
    comment: Comment,
    learned: LearnedState,
    *,
    word_hashes: bytes | None,
    promised: Cutoffs,
    settings: SiteSettings = _DEFAULT,
) -> Verdict:
    """Return the verdict with the log-odds that decisions add, at the cutoffs that then apply.

    `verdict` is the version's alone. It is returned unchanged if it is degraded, if the site has
    switched learning off, or if there are no decisions yet.
    """
    if verdict.degraded or not learned.examples or not settings.learns:
        return verdict
    features = count_features(comment, word_hashes, learned.salt)
    found = _find_signal(verdict, comment, features, learned, promised, settings)
    if found is None:
        return verdict
    signal, cutoffs = found
    changed = residual.with_residual(verdict, signal, cutoffs)
    # Words are named where a person reads them: in doubt, and where decisions changed the outcome.
    stays = verdict.outcome is changed.outcome is not Outcome.UNSURE
    if signal is None or stays:
        return changed
    sign = math.copysign(1.0, signal.contribution)
    parts = sign * learned.parts(comment.site_id, features)
    named = name_heaviest(comment, features, parts, learned.salt)
    # Features in the text are marked there, others are named in the reason.
    beside = dict.fromkeys(_BESIDE[one.kind] for one in named if one.span is None)
    spans = sorted((one.span for one in named if one.span), key=lambda span: span.start)
    higher = signal.signal.reason.endswith(residual.HIGHER_CUTOFF)
    reason = residual.reason_of_residual(list(beside), higher_cutoff=higher)
    said = replace(signal, signal=replace(signal.signal, reason=reason, spans=tuple(spans)))
    return replace(
        changed, signals=tuple(said if one is signal else one for one in changed.signals)
    )


def _find_signal(
    verdict: Verdict,
    comment: Comment,
    features: Features,
    learned: LearnedState,
    promised: Cutoffs,
    settings: SiteSettings,
) -> tuple[WeighedSignal | None, Cutoffs] | None:
    """Return the signal of decisions for the version's own verdict, and the cutoffs with it."""

    def here(frozen: float) -> Cutoffs:
        return cutoffs_of(settings, learned.cutoffs(comment.site_id, promised, frozen=frozen))

    frozen = residual.frozen_score(verdict)
    cutoffs = here(frozen)
    if any(map(is_beside, verdict.signals)):
        # What is held back depends on the cutoffs, and they on whether the version alone calls it
        # spam.
        cutoffs = here(_held_at(verdict, here(math.inf)))
        frozen = _held_at(verdict, cutoffs)
    by = learned.residual_of(comment.site_id, features, frozen=frozen)
    # Nor does what approvals add say anything where they were earned by other content.
    was_aged = any(one.signal.name in _AGED and one.contribution > 0 for one in verdict.signals)
    if by is None or (by < 0 and was_aged):
        return None
    promised_here = here(math.inf)
    higher = cutoffs.spam_cutoff > promised_here.spam_cutoff
    by = max(by, -PITCH_BOUND_TO_HAM) if pitches(comment) else by
    signal = residual.residual_signal(by, bound=BOUND, higher_cutoff=higher)
    return signal, cutoffs if signal else promised_here


def _held_at(verdict: Verdict, cutoffs: Cutoffs) -> float:
    return residual.frozen_score(
        replace(verdict, ham_cutoff=cutoffs.ham_cutoff, spam_cutoff=cutoffs.spam_cutoff)
    )


def example_of(
    number: int, case: Case, *, owners: Collection[str], audit_share: float, salt: int
) -> TrainingExample | None:
    """Return the training example of a decided case, or None if it teaches nothing.

    A case teaches nothing without a decision, a verdict or words, or if its verdict is degraded.
    `owners` are the names of the owners' accounts.
    """
    decision, verdict, comment = case.decision, case.verdict, case.comment
    if decision is None or verdict is None or verdict.degraded or not comment.text:
        return None
    comment = judged_text(comment)
    source = source_of(decision, owners)
    return make_example(
        number,
        comment,
        verdict,
        decision,
        source=source,
        teacher=f"account:{decision.decided_by}"
        if source in (DecisionSource.OWNER, DecisionSource.ACCOUNT)
        else f"{source}:{comment.site_id}",
        audited=case.audit,
        audit_share=audit_share,
        salt=salt,
    )


def make_example(
    number: int,
    comment: Comment,
    verdict: Verdict,
    decision: Decision,
    *,
    source: DecisionSource,
    teacher: str,
    audited: bool,
    audit_share: float,
    salt: int,
) -> TrainingExample:
    """Return the training example of a decision on a judged comment."""
    frozen = residual.frozen_score(verdict)
    cutoffs = Cutoffs(ham_cutoff=verdict.ham_cutoff, spam_cutoff=verdict.spam_cutoff)
    word_hashes = hash_words(comment.text)
    features = count_features(comment, word_hashes, salt)
    is_doubt = verdict.outcome is Outcome.UNSURE
    stands_for = 1.0 / audit_share if audited and audit_share > 0 else 0.0
    return TrainingExample(
        number=number,
        decision_id=decision.id,
        comment_id=comment.id,
        site_id=comment.site_id,
        is_spam=decision.ruling is Ruling.REJECT,
        source=source,
        teacher=teacher,
        day=decision.decided_at.toordinal(),
        features=replace(features, copies=copy_keys(word_hashes)),
        frozen=frozen,
        confident=decide(logistic(frozen), cutoffs, degraded=False) is not Outcome.UNSURE,
        drawn=1.0 if is_doubt and verdict.followed is None else stands_for,
        pieces=pieces_of(comment, verdict),
    )


def source_of(decision: Decision, owners: Collection[str]) -> DecisionSource:
    """Return the author of a decision; a site may give any name after its prefix."""
    by = decision.decided_by
    if by == IMPORT:
        return DecisionSource.IMPORT
    person = DecisionSource.OWNER if by in owners else DecisionSource.ACCOUNT
    return _BY_A_SITE.get(by.partition(": ")[0], person)
