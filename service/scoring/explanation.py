"""Says in sentences why a verdict came out as it did."""

from service.domain.decision import BY_STAFF, EDIT_POLICY, Decision, Ruling
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.verdict import Outcome, Verdict, WeighedSignal, WeightKind
from service.scoring.conclude import decide
from service.scoring.residual import HIGHER_CUTOFF, SITE_DECISIONS, beside_of, quote_residual
from service.scoring.rules import REASONS
from service.scoring.weights import Cutoffs

# Contributions smaller than this (a factor of 1.05 on the odds) change nothing a person could see.
_WORTH_SAYING = 0.05
_MISSING_IN_WORDS = {
    "model": "the classifier did not respond",
    "history": "the sender's history could not be fetched",
    "detectors": "the detectors could not run",
    "text": "the comment shows no characters",
    "judging": "judging this comment failed",
}
_KIND_IN_WORDS = {
    EntryKind.EMAIL: "its e-mail address",
    EntryKind.ADDRESS: "its network address",
    EntryKind.MAIL_DOMAIN: "its mail domain",
    EntryKind.DOMAIN: "a link to the domain",
    EntryKind.NETWORK: "its network",
    EntryKind.PHRASE: "the phrase",
}
_OUTCOME_IN_WORDS = {
    Outcome.HAM: "ham: the probability lies below the ham cutoff",
    Outcome.UNSURE: "unsure: the probability lies between the two cutoffs",
    Outcome.SPAM: "spam: the probability reaches the spam cutoff",
}


def explain(verdict: Verdict, text: str = "", decision: Decision | None = None) -> list[str]:
    """Return sentences, the weightiest first, that a moderator understands without a manual.

    The words of the comment's own `text` that decisions taught to lean on are quoted. A
    `decision` in force on an earlier version comes first.
    """
    sentences = [_headline(verdict)]
    if decision is not None and decision.decided_by.startswith(EDIT_POLICY):
        ruled = "approved" if decision.ruling is Ruling.APPROVE else "rejected"
        by = decision.decided_by.removeprefix(EDIT_POLICY)
        why = (
            "staff of the site edited it and let it stand"
            if by.startswith(BY_STAFF)
            else f"{by} {ruled} it before the edit"
        )
        sentences.insert(0, f"Stays {ruled}, as {why}. {decision.note}")
    if verdict.instruction is not None or verdict.held_by:
        sentences.append(_beside(verdict, verdict.instruction))
    # It abstains where there is nothing to read.
    if verdict.model_p_spam is not None and verdict.model_contribution:
        sentences.append(
            f"The classifier, from the words alone, gives {percent(verdict.model_p_spam)} for spam "
            f"({verdict.model_contribution:+.2f})."
        )
    sentences += [_about_signal(w, text) for w in verdict.signals]
    sentences += [f"Missing: {_MISSING_IN_WORDS.get(m, m)}." for m in verdict.degraded_by]
    return sentences


def percent(p: float) -> str:
    """Return a probability as a percentage that never claims certainty.

    Near both ends, where the cutoffs lie, it has a decimal.
    """
    if p > 0.9995:
        return ">99.9%"
    if p < 0.0005:
        return "<0.1%"
    return f"{p:.1%}" if p >= 0.95 or p < 0.05 else f"{p:.0%}"


def _headline(verdict: Verdict) -> str:
    if verdict.degraded:
        return "Left to a person: evidence is missing."
    if verdict.held_by:
        return (
            f"Held by a rule of the site: {'; '.join(REASONS[rule] for rule in verdict.held_by)}."
        )
    if verdict.followed is not None:
        return f"Called {verdict.outcome} by {about_instruction(verdict.followed)}."
    return f"Called {_by_evidence(verdict.outcome, verdict)}"


def about_instruction(instruction: Instruction) -> str:
    """Return the entry that a verdict followed as a clause, with its reason."""
    what = _KIND_IN_WORDS[instruction.kind]
    named = f"{what} {instruction.label}" if instruction.label else what
    which = "an allow entry" if instruction.effect is Effect.ALLOW else "a block entry"
    return f"{which} of the moderators: {named} (reason: {instruction.reason})"


def _beside(verdict: Verdict, instruction: Instruction | None) -> str:
    """Return the outcome of the evidence alone, or that the entry could not be followed."""
    if verdict.degraded and instruction:
        return f"It matches {about_instruction(instruction)}, not followed without the evidence."
    cutoffs = Cutoffs(ham_cutoff=verdict.ham_cutoff, spam_cutoff=verdict.spam_cutoff)
    alone = decide(verdict.p_spam, cutoffs, degraded=False)
    return f"By the evidence alone: {_by_evidence(alone, verdict)}"


def _by_evidence(outcome: Outcome, verdict: Verdict) -> str:
    cutoffs = f"cutoffs {percent(verdict.ham_cutoff)} and {percent(verdict.spam_cutoff)}"
    return (
        f"{_OUTCOME_IN_WORDS[outcome]} (probability of spam {percent(verdict.p_spam)}, {cutoffs})."
    )


def _about_signal(weighed: WeighedSignal, text: str) -> str:
    reason = weighed.signal.reason.removesuffix(HIGHER_CUTOFF)
    higher = weighed.signal.reason[len(reason) :]
    reason = reason[:1].upper() + reason[1:]
    if weighed.signal.name == SITE_DECISIONS:
        quoted = ", ".join(f"“{words}”" for words in quote_residual(weighed.signal, text))
        also = " and by" if beside_of(weighed.signal.reason) else ", mostly by"
        reason = f"{reason}{also} {quoted}" if quoted else reason
    if weighed.weight == 0.0:
        return f"{reason} (recorded, not weighed)."
    if abs(weighed.contribution) < _WORTH_SAYING:
        return f"{reason} (hardly counts, {weighed.contribution:+.2f})."
    side = "for spam" if weighed.contribution > 0 else "for ham"
    return f"{reason} ({side}, {weighed.contribution:+.2f}{_right(weighed)}){higher}."


def _right(weighed: WeighedSignal) -> str:
    """Return the origin of a signal's weight; empty for a fitted one."""
    if weighed.kind is WeightKind.SET:
        return ", weight set by judgement"
    if weighed.kind is not WeightKind.LEARNT or not weighed.decisions:
        return ""
    decisions = "decision" if weighed.decisions == 1 else "decisions"
    return f", weight learnt from {weighed.decisions:,} {decisions} here"
