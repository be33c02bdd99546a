"""The pages of shadow verdicts: what a version on trial, or asked about the archive, would say.

`view_shadow` and the template `models_shadow.html` are a part that another page can hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.back_scoring import BackScoring, JobState
from service.domain.comment import CommentId, SiteId
from service.domain.errors import InvalidInputError
from service.domain.shadow_verdict import (
    Disagreement,
    Harm,
    ShadowVerdictCounts,
    ShadowVerdictScope,
)
from service.domain.user import Permission, User
from service.domain.verdict import Outcome
from service.moderation.judging.differences import tell_differences
from service.ports.services import CommonPorts, JudgingPorts, ReviewPorts, Services
from service.web.edge.language import (
    gettext,
    noted,
    number,
    percent,
    probability,
)
from service.web.pages.common.labels import OUTCOME_HEADINGS, RULED_HEADINGS
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs
from service.web.pages.common.presenting import Moment, tell_time

PAGE_SIZE = 50
# Counting one takes half a second where it has 200,000 shadow verdicts.
_VERSIONS_SHOWN = 5
_JOBS_SHOWN = 10
_MAX_VERSION_CHARS = 100
_MAX_CURSOR_CHARS = 400
_BEGINNING_CHARS = 90
_HARM_NAMES = {
    Harm.APPROVED_CALLED_SPAM: noted("Approved by a person, called spam"),
    Harm.HAM_CALLED_SPAM: noted("Ham, called spam"),
    Harm.REJECTED_CALLED_HAM: noted("Rejected by a person, called ham"),
    Harm.SPAM_CALLED_HAM: noted("Spam, called ham"),
    Harm.OTHER: noted("Otherwise different"),
}
_STATE_NAMES = {
    JobState.RUNNING: noted("running"),
    JobState.PAUSED: noted("paused"),
    JobState.ENDED: noted("ended"),
    JobState.CANCELLED: noted("cancelled"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """One version that has shadow verdicts, in words. `in_shadow` says that it is asked now."""

    shown: tuple[Piece, ...]
    url: str
    in_shadow: bool
    shadow_verdicts: str
    differing: str
    newly_lost: str
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One back-scoring job; `share` is how far it has come."""

    version: tuple[Piece, ...]
    state: str
    done: str
    total: str
    share: float
    percent: str
    asked: Moment
    problem: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowView:
    """What `models_shadow.html` shows: who is in the shadow, versions with verdicts, jobs."""

    in_shadow: str | None
    versions: tuple[VersionView, ...]
    jobs: tuple[JobView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """One row of the table of verdicts and shadow verdicts."""

    verdict: str
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementView:
    """One comment that differs; `beginning` is empty where nothing of it is kept any more."""

    id: CommentId
    harm: str
    verdict: str
    p_spam: str
    shadow_verdict: str
    its_p_spam: str
    ruling: str
    beginning: tuple[Piece, ...]


def add_shadow(pages: Blueprint, services: Services) -> None:
    """Add what readers see of versions that were asked, and the page of how a version differs."""

    @pages.get("/models/shadow")
    @needs(Permission.LOOK)
    def shadow() -> ResponseReturnValue:
        if moderator().may(Permission.MANAGE_MODELS):
            # Theirs is the page that holds this as a part.
            return redirect(url_for("pages.models", _anchor="on-trial"), HTTPStatus.SEE_OTHER)
        return render_template(
            "shadow.html", shadow=view_shadow(services.judging, services.common, moderator())
        )

    @pages.get("/models/differences")
    @needs(Permission.LOOK)
    def differences() -> ResponseReturnValue:
        version = request.args.get("version", "")
        cursor = request.args.get("cursor") or None
        if not version:
            return redirect(url_for("pages.shadow"), HTTPStatus.SEE_OTHER)
        # PostgreSQL can be asked for no NUL.
        if len(version) > _MAX_VERSION_CHARS or "\0" in version:
            abort(HTTPStatus.NOT_FOUND)
        if len(cursor or "") > _MAX_CURSOR_CHARS:
            abort(HTTPStatus.NOT_FOUND)
        scope = ShadowVerdictScope(model_version=version, site_ids=moderator().site_ids)
        try:
            told = tell_differences(scope, services.judging, cursor=cursor, limit=PAGE_SIZE)
        except InvalidInputError:
            abort(HTTPStatus.NOT_FOUND)
        here = "pages.differences"
        return render_template(
            "differences.html",
            version=_version_view(version, services.judging, told.counts, told.n_newly_lost),
            counts=told.counts,
            rows=_matrix(told.counts),
            differing=_present(told.disagreements, services.review, moderator()),
            outcomes=[gettext(name) for name in OUTCOME_HEADINGS.values()],
            further=url_for(here, version=version, cursor=told.next_cursor)
            if told.next_cursor
            else None,
            first=url_for(here, version=version) if cursor else None,
        )


def view_shadow(judging: JudgingPorts, common: CommonPorts, user: User) -> ShadowView:
    """Return what is said of versions that do not serve, of the sites that an account sees."""
    versions = list(judging.shadow_verdicts.versions())[:_VERSIONS_SHOWN]
    jobs = judging.back_scorings.recent(limit=_JOBS_SHOWN)
    return ShadowView(
        in_shadow=judging.shadow_name(),
        versions=tuple(_view_version(one, judging, user.site_ids) for one in versions),
        # Whom they ask about, and how many that is, concerns those alone who see all sites.
        jobs=tuple(_job(one, common) for one in jobs if user.site_ids is None),
    )


def _view_version(
    name: str, judging: JudgingPorts, site_ids: tuple[SiteId, ...] | None
) -> VersionView:
    scope = ShadowVerdictScope(model_version=name, site_ids=site_ids)
    told = tell_differences(scope, judging, limit=1)
    return _version_view(name, judging, told.counts, told.n_newly_lost)


def _version_view(
    name: str, judging: JudgingPorts, counts: ShadowVerdictCounts, n_newly_lost: int
) -> VersionView:
    share = counts.differing / counts.comments if counts.comments else 0.0
    seen = counts.share_seen
    return VersionView(
        shown=part_text(name),
        url=url_for("pages.differences", version=name),
        in_shadow=name == judging.shadow_name(),
        shadow_verdicts=number(counts.comments),
        differing=f"{number(counts.differing)} ({percent(share)})",
        newly_lost=number(n_newly_lost),
        seen="" if seen is None else percent(seen),
    )


def _job(job: BackScoring, common: CommonPorts) -> JobView:
    return JobView(
        version=part_text(job.model_version),
        state=gettext(_STATE_NAMES[job.state]),
        done=number(job.done),
        total=number(job.total),
        share=job.share_done,
        percent=percent(job.share_done),
        asked=tell_time(job.asked_at, common.clock()),
        problem=part_text(job.problem or ""),
    )


def _matrix(counts: ShadowVerdictCounts) -> list[RowView]:
    """Return a row a verdict; each cell says whether shadow verdict and verdict agree in it."""
    return [
        RowView(
            verdict=gettext(OUTCOME_HEADINGS[verdict]),
            cells=tuple(
                (
                    number(counts.among(verdict=verdict, shadow_verdict=shadow_verdict)),
                    verdict is shadow_verdict,
                )
                for shadow_verdict in Outcome
            ),
        )
        for verdict in Outcome
    ]


def _present(
    found: Sequence[Disagreement], review: ReviewPorts, user: User
) -> list[DisagreementView]:
    cases = {
        case.comment.id: case
        for case in review.cases.find_judged([one.comment_id for one in found])
        if user.sees(case.comment.site_id)
    }
    return [
        DisagreementView(
            id=one.comment_id,
            harm=gettext(_HARM_NAMES[one.harm]),
            verdict=gettext(OUTCOME_HEADINGS[one.verdict]),
            p_spam=probability(one.verdict_p_spam),
            shadow_verdict=gettext(OUTCOME_HEADINGS[one.shadow_verdict]),
            its_p_spam=probability(one.p_spam),
            ruling=gettext(RULED_HEADINGS[one.ruling]) if one.ruling else "",
            beginning=part_text(_beginning(cases[one.comment_id].comment.text)),
        )
        for one in found
        if one.comment_id in cases
    ]


def _beginning(text: str) -> str:
    """Return the first words on one line, with an ellipsis where more follow."""
    line = " ".join(text[:300].split())
    return line if len(line) <= _BEGINNING_CHARS else f"{line[:_BEGINNING_CHARS].rstrip()}…"
