"""The words of every page for a verdict's outcome, a ruling, a report and what the site does."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.decision import (
    KEPT_BY_STAFF,
    KEPT_FEW_WORDS,
    KEPT_WORDS,
    Action,
    Ruling,
)
from service.domain.report import Label
from service.domain.verdict import Outcome
from service.web.edge.language import noted


def _outcomes(ham: str, unsure: str, spam: str) -> Mapping[Outcome, str]:
    return {Outcome.HAM: ham, Outcome.UNSURE: unsure, Outcome.SPAM: spam}


OUTCOME_NAMES = _outcomes(noted("ham"), noted("unsure"), noted("spam"))
CALLED = _outcomes(noted("called ham"), noted("unsure"), noted("called spam"))
CALLED_BY = _outcomes(
    noted("Called ham by %(model)s"),
    noted("Called unsure by %(model)s"),
    noted("Called spam by %(model)s"),
)
RULED = {Ruling.APPROVE: noted("approved"), Ruling.REJECT: noted("rejected")}
RULED_HEADINGS = {Ruling.APPROVE: noted("Approved"), Ruling.REJECT: noted("Rejected")}
RULED_BY = {
    Ruling.APPROVE: noted("Approved by %(who)s"),
    Ruling.REJECT: noted("Rejected by %(who)s"),
}
# Of an edit that keeps what a person ruled on the comment before it.
KEPT_BY = {
    Ruling.APPROVE: noted("Stays approved, as %(who)s approved it before the edit"),
    Ruling.REJECT: noted("Stays rejected, as %(who)s rejected it before the edit"),
}
KEPT_WHO = noted("%(who)s, before an edit")
KEPT_BECAUSE = {
    KEPT_WORDS: noted("The edit changes nothing but spelling and formatting."),
    KEPT_FEW_WORDS: noted("The edit changes a few words and adds no link, contact or offer."),
    KEPT_BY_STAFF: noted("Somebody who may moderate at the site made the edit."),
}
REPORTED = {Label.SPAM: noted("Reported as spam"), Label.HAM: noted("Reported as ham")}
REPORTED_BY = {
    Label.SPAM: noted("Reported as spam by %(who)s"),
    Label.HAM: noted("Reported as ham by %(who)s"),
}
SITE_DOES = {
    Action.PUBLISH: noted("The site publishes it."),
    Action.HOLD: noted("The site holds it."),
    Action.REJECT: noted("The site rejects it."),
}
