"""What the page of models shows of versions and retrainings: words, numbers, links to comments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingReport,
    RetrainingState,
)
from service.ports.models import VersionOnShelf
from service.web.edge.language import gettext, noted, number

RETRAININGS_SHOWN = 20
# More are a number: whoever lost so much ham needs no list to refuse.
LOST_SHOWN = 50
_STATES = {
    RetrainingState.ASKED: noted("Asked for"),
    RetrainingState.RUNNING: noted("Running"),
    RetrainingState.STOPPED: noted("Stopped"),
    RetrainingState.FAILED: noted("Failed"),
    RetrainingState.ENDED: noted("Ended"),
}
_KILLED = noted("Interrupted")
_RECOMMENDS = {
    Recommendation.PROMOTE: noted("Meets the release criteria"),
    Recommendation.REFUSE: noted("Does not meet the release criteria"),
    Recommendation.NOTHING: noted("Nothing new to learn"),
}
ANSWERED = {
    Answer.PROMOTED: noted("Promoted by %(who)s"),
    Answer.REFUSED: noted("Refused by %(who)s"),
}
# The steps of the training program; one that is not named here is shown as it is.
_STEPS = {
    "read": noted("reading"),
    "fit": noted("fitting"),
    "compare": noted("comparing"),
    "report": noted("reporting"),
}
FIGURES = {
    "measured_on": noted("Measured on"),
    "roc_auc": noted("Area under the ROC curve"),
    "caught_at_0.1_%": noted("Spam caught at 0.1 %% of ham lost"),
    "caught_at_1_%": noted("Spam caught at 1 %% of ham lost"),
    "ham_called_spam": noted("Ham called spam"),
    "spam_called_ham": noted("Spam called ham"),
}
PROVENANCE = {
    "data_fingerprint": noted("Fingerprint of the data"),
    "code": noted("Code"),
    "seed": noted("Seed"),
    "environment": noted("Environment"),
}


def progress_of(recent: Sequence[Retraining], now: datetime) -> dict[str, Any]:
    """Return as JSON which retraining is under way and how far, for the page's script."""
    for one in recent:
        waits_its_turn = one.state is RetrainingState.ASKED
        if waits_its_turn or (one.state is RetrainingState.RUNNING and not one.is_silent(now)):
            return {
                "under_way": f"{one.id} {one.state.value}",
                "percent": round(one.share_done * 100),
                "says": progress_in_words(one, now),
            }
    return {"under_way": ""}


def verdict_in_words(one: Retraining, now: datetime) -> str:
    """Return what came of a retraining."""
    if one.state is RetrainingState.ENDED and one.recommendation is not None:
        return gettext(_RECOMMENDS[one.recommendation])
    return gettext(_KILLED if one.is_silent(now) else _STATES[one.state])


def mark_of(one: Retraining, now: datetime) -> str:
    """Return how what came of a retraining is marked, empty for not at all."""
    if one.state is RetrainingState.FAILED or one.is_silent(now):
        return "failed"
    recommended = {Recommendation.PROMOTE: "met", Recommendation.REFUSE: "missed"}
    return recommended.get(one.recommendation, "") if one.recommendation else ""


def progress_in_words(one: Retraining, now: datetime) -> str:
    """Return how far a retraining is, and how long it still takes unless it was killed."""
    if not one.step:
        return gettext("No progress reported yet.")
    words = gettext(_STEPS[one.step]) if one.step in _STEPS else one.step
    if one.seconds_left is None or one.is_silent(now):
        return gettext("%(n)s %% done, %(step)s", n=round(one.share_done * 100), step=words)
    return gettext(
        "%(n)s %% done, %(step)s, about %(minutes)s min left",
        n=round(one.share_done * 100),
        step=words,
        minutes=max(1, round(one.seconds_left / 60)),
    )


def cost_in_words(report: RetrainingReport | None) -> str:
    """Return how long a retraining took and in how much memory, as far as it says."""
    if report is None or report.seconds is None:
        return ""
    minutes = number(max(1, round(report.seconds / 60)))
    if report.peak_memory_mb is None:
        return gettext("%(minutes)s min", minutes=minutes)
    megabytes = number(report.peak_memory_mb)
    return gettext("%(minutes)s min, %(megabytes)s MB", minutes=minutes, megabytes=megabytes)


def trained_at(version: VersionOnShelf) -> datetime | None:
    """Return when a version was trained, None where its card does not say."""
    try:
        moment = datetime.fromisoformat(version.trained_at)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
