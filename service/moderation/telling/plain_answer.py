"""The answer for clients that know only spam and ham."""

from __future__ import annotations

from service.domain.case import Case
from service.domain.decision import Mode, Ruling
from service.domain.report import Label
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Verdict

# At the spam cutoff a comment is ham with a chance of 1 - cutoff; blatant spam is ham with at
# most a tenth of that chance.
_BLATANT_SHARE = 0.1


def plain_answer(case: Case, settings: SiteSettings) -> Label | None:
    """Return the one word for a case as it stands, None while its verdict is awaited.

    A moderator's ruling wins. A site that only observes is always told ham. For an unsure
    comment, a degraded one included, the site's `holds_unsure` chooses: told spam, such a client
    puts it where its own moderators find it. What a rule of the site holds is held.
    """
    if case.decision is not None:
        return Label.SPAM if case.decision.ruling is Ruling.REJECT else Label.HAM
    if settings.mode is Mode.OBSERVE:
        return Label.HAM
    if case.verdict is None:
        return None
    if case.verdict.outcome is Outcome.UNSURE:
        holds = settings.holds_unsure or case.verdict.held_by
        return Label.SPAM if holds else Label.HAM
    return Label(case.verdict.outcome.value)


def is_blatant(verdict: Verdict, settings: SiteSettings) -> bool:
    """Return True if a client may discard the comment unseen.

    Only for sites that let verdicts reject, and only far above the spam cutoff: what is thrown
    away is never seen again, so no moderator can make a false positive good.
    """
    if settings.mode is not Mode.ENFORCE or verdict.outcome is not Outcome.SPAM:
        return False
    return 1.0 - verdict.p_spam <= (1.0 - verdict.spam_cutoff) * _BLATANT_SHARE
