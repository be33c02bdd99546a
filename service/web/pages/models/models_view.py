"""What the page of models shows of versions and retrainings: words, numbers, links to comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.domain.comment import CommentId
from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingReport,
    RetrainingState,
)
from service.domain.user import User
from service.moderation.learning.retrain import SCHEDULE
from service.ports.models import VersionOnShelf
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, noted, number
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import services
from service.web.pages.common.presenting import Moment, tell_time

RETRAININGS_SHOWN = 20
# More are a number: whoever lost so much ham needs no list to refuse.
_LOST_SHOWN = 50
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
_ANSWERED = {
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
_FIGURES = {
    "measured_on": noted("Measured on"),
    "roc_auc": noted("Area under the ROC curve"),
    "caught_at_0.1_%": noted("Spam caught at 0.1 %% of ham lost"),
    "caught_at_1_%": noted("Spam caught at 1 %% of ham lost"),
    "ham_called_spam": noted("Ham called spam"),
    "spam_called_ham": noted("Spam called ham"),
}
_PROVENANCE = {
    "data_fingerprint": noted("Fingerprint of the data"),
    "code": noted("Code"),
    "seed": noted("Seed"),
    "environment": noted("Environment"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """One version: what its card measured, in words and in the order of the table."""

    name: str
    shown: tuple[Piece, ...]
    serves: str
    trained: Moment | None
    figures: tuple[tuple[str, str], ...]
    provenance: tuple[tuple[str, tuple[Piece, ...]], ...]

    @property
    def is_current(self) -> bool:
        """Return True if the version serves."""
        return self.serves == "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostView:
    """A ham comment that the candidate calls spam; `comment` says that it is one of these sites."""

    id: str
    shown: tuple[Piece, ...]
    comment: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView:
    """One release criterion in the training program's own words."""

    passed: bool
    part: tuple[Piece, ...]
    name: tuple[Piece, ...]
    says: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainingView:
    """One retraining. `verdict` is what came of it, `kind` how that is to be marked."""

    id: str
    asked: Moment
    asked_by: tuple[Piece, ...]
    scheduled: bool
    ended: Moment | None
    kind: str
    verdict: str
    progress: str
    percent: int | None
    begun: bool
    decisions: int
    version: str
    version_shown: tuple[Piece, ...]
    answer: str
    problem: tuple[Piece, ...]
    waits: bool
    report: RetrainingReport | None
    took: str
    set_aside: tuple[tuple[tuple[Piece, ...], int], ...]
    checks: tuple[CheckView, ...]
    gains: tuple[tuple[Piece, ...], ...]
    lost: tuple[LostView, ...]
    more_lost: int


def view_version(version: VersionOnShelf, now: datetime) -> VersionView:
    """Return what is shown of a version."""
    return VersionView(
        name=version.name,
        shown=part_text(version.name),
        serves=version.serves,
        trained=_moment(version.trained_at, now),
        figures=tuple(
            (gettext(words), version.figures.get(name) or "–") for name, words in _FIGURES.items()
        ),
        provenance=tuple(
            (gettext(_PROVENANCE[name]), part_text(value))
            for name, value in version.provenance.items()
            if name in _PROVENANCE
        ),
    )


def view_retraining(one: Retraining, user: User, now: datetime) -> RetrainingView:
    """Return what is shown of a retraining to this person."""
    report = one.report
    lost = report.newly_lost if report else ()
    return RetrainingView(
        id=one.id,
        asked=tell_time(one.asked_at, now),
        asked_by=part_text(one.asked_by),
        scheduled=one.asked_by == SCHEDULE,
        ended=tell_time(one.ended_at, now) if one.ended_at else None,
        kind=_kind(one, now),
        verdict=_verdict(one, now),
        # One that was killed may have said how long it would still take; it takes no time now.
        progress=_progress(replace(one, seconds_left=None) if one.is_silent(now) else one)
        if one.is_unfinished()
        else "",
        percent=round(one.share_done * 100) if one.is_unfinished() else None,
        begun=one.started_at is not None,
        decisions=one.decisions,
        version=one.version or "",
        version_shown=part_text(one.version or ""),
        answer=gettext(_ANSWERED[one.answer], who=one.answered_by) if one.answer else "",
        problem=part_text(one.problem or ""),
        waits=one.waits,
        report=report,
        took=_took(report),
        set_aside=_set_aside(report),
        checks=_checks(report),
        gains=tuple(part_text(gain) for gain in report.gains) if report else (),
        lost=_lost(lost[:_LOST_SHOWN], user),
        more_lost=max(0, len(lost) - _LOST_SHOWN),
    )


def progress_of(recent: Sequence[Retraining], now: datetime) -> dict[str, Any]:
    """Return as JSON which retraining is under way and how far, for the page's script."""
    for one in recent:
        waits_its_turn = one.state is RetrainingState.ASKED
        if waits_its_turn or (one.state is RetrainingState.RUNNING and not one.is_silent(now)):
            return {
                "under_way": f"{one.id} {one.state.value}",
                "percent": round(one.share_done * 100),
                "says": _progress(one),
            }
    return {"under_way": ""}


def _verdict(one: Retraining, now: datetime) -> str:
    if one.state is RetrainingState.ENDED and one.recommendation is not None:
        return gettext(_RECOMMENDS[one.recommendation])
    return gettext(_KILLED if one.is_silent(now) else _STATES[one.state])


def _kind(one: Retraining, now: datetime) -> str:
    if one.state is RetrainingState.FAILED or one.is_silent(now):
        return "failed"
    recommended = {Recommendation.PROMOTE: "met", Recommendation.REFUSE: "missed"}
    return recommended.get(one.recommendation, "") if one.recommendation else ""


def _progress(one: Retraining) -> str:
    if not one.step:
        return gettext("No progress reported yet.")
    words = gettext(_STEPS[one.step]) if one.step in _STEPS else one.step
    if one.seconds_left is None:
        return gettext("%(n)s %% done, %(step)s", n=round(one.share_done * 100), step=words)
    return gettext(
        "%(n)s %% done, %(step)s, about %(minutes)s min left",
        n=round(one.share_done * 100),
        step=words,
        minutes=max(1, round(one.seconds_left / 60)),
    )


def _took(report: RetrainingReport | None) -> str:
    if report is None or report.seconds is None:
        return ""
    minutes = number(max(1, round(report.seconds / 60)))
    if report.peak_memory_mb is None:
        return gettext("%(minutes)s min", minutes=minutes)
    megabytes = number(report.peak_memory_mb)
    return gettext("%(minutes)s min, %(megabytes)s MB", minutes=minutes, megabytes=megabytes)


def _set_aside(
    report: RetrainingReport | None,
) -> tuple[tuple[tuple[Piece, ...], int], ...]:
    if report is None:
        return ()
    return tuple((part_text(reason), n) for reason, n in report.set_aside.items())


def _checks(report: RetrainingReport | None) -> tuple[CheckView, ...]:
    """Return the criteria, those that are not met first."""
    checks = sorted(report.checks, key=lambda check: check.passed) if report else ()
    return tuple(
        CheckView(
            passed=check.passed,
            part=part_text(check.part),
            name=part_text(check.name),
            says=part_text(check.says),
        )
        for check in checks
    )


def _lost(ids: Sequence[str], user: User) -> tuple[LostView, ...]:
    """Return the lost ham, linked where it is a comment that this person may see."""
    found = services.review.cases.find([CommentId(one) for one in ids if is_id(one)])
    seen = {case.comment.id for case in found if user.sees(case.comment.site_id)}
    return tuple(LostView(id=one, shown=part_text(one), comment=one in seen) for one in ids)


def _moment(written: str, now: datetime) -> Moment | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return tell_time(moment, now) if moment.tzinfo else None
