"""The page of models: which versions there are, which serves, what retrainings found."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from itertools import chain

from flask import current_app, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.errors import ConflictError, StoreUnavailableError
from service.domain.retraining import Retraining, RetrainingOptions
from service.domain.user import Permission
from service.moderation.learning.ask_retraining import NoTrainerError, ask_retraining
from service.moderation.learning.retrain import SCHEDULE, promote_retrained, refuse_retrained
from service.moderation.learning.versions import promote_version, roll_back
from service.web.edge.ids import is_id
from service.web.edge.language import gettext
from service.web.pages.common.filters import seen_ids
from service.web.pages.common.pages import go_to, moderator, needs, pages, services
from service.web.pages.models.models_view import (
    ANSWERED,
    FIGURES,
    LOST_SHOWN,
    PROVENANCE,
    RETRAININGS_SHOWN,
    cost_in_words,
    mark_of,
    progress_in_words,
    progress_of,
    trained_at,
    verdict_in_words,
)

# The shipped card has 40,000; nobody reads more on a page.
_CARD_CHARS = 120_000


@pages.get("/models")
@needs(Permission.MANAGE_MODELS)
def models() -> ResponseReturnValue:
    return _show()


@pages.get("/models/progress")
@needs(Permission.MANAGE_MODELS)
def models_progress() -> ResponseReturnValue:
    return progress_of(
        services.learning.retrainings.recent(limit=RETRAININGS_SHOWN), services.common.clock()
    )


@pages.get("/models/versions/<version_name>")
@needs(Permission.MANAGE_MODELS)
def models_card(version_name: str) -> ResponseReturnValue:
    card = services.learning.versions.card(version_name)
    return render_template(
        "model_card.html",
        name=version_name,
        card=card and card[:_CARD_CHARS],
        cut=bool(card and len(card) > _CARD_CHARS),
    )


@pages.post("/models/versions/<version_name>/promote")
@needs(Permission.MANAGE_MODELS)
def promote_model(version_name: str) -> ResponseReturnValue:
    try:
        promote_version(version_name, services, by=moderator().name)
    except ConflictError as error:
        return _show(_why_not(error))
    return go_to("pages.models", gettext("%(version)s serves from now on.", version=version_name))


@pages.post("/models/rollback")
@needs(Permission.MANAGE_MODELS)
def roll_model_back() -> ResponseReturnValue:
    # Two clicks in a row must not go back and forth: the form names what it goes back to.
    if request.form.get("to") != services.learning.versions.previous():
        refusal = gettext("Meanwhile another version was promoted. Nothing was changed.")
        return _show(refusal)
    try:
        name = roll_back(services, by=moderator().name)
    except ConflictError as error:
        return _show(_why_not(error))
    return go_to("pages.models", gettext("%(version)s serves from now on.", version=name))


@pages.post("/models/retrainings")
@needs(Permission.MANAGE_MODELS)
def retrain_now() -> ResponseReturnValue:
    options = RetrainingOptions(data=current_app.config["RETRAIN_DATA"])
    try:
        ask_retraining(services, by=moderator().name, options=options)
    except NoTrainerError:
        refusal = gettext("No process that retrains is running; see below for what to do.")
        return _show(refusal)
    except ConflictError:
        refusal = gettext("A retraining is already running.")
        return _show(refusal)
    return go_to("pages.models", gettext("Retraining requested; it starts within seconds."))


@pages.post("/models/retrainings/<id:retraining_id>/promote")
@needs(Permission.MANAGE_MODELS)
def promote_candidate(retraining_id: str) -> ResponseReturnValue:
    found = _find(retraining_id)
    if not found.waits:
        return _answered()
    try:
        promote_retrained(found, services, by=moderator().name)
    except ConflictError as error:
        return _show(_why_not(error))
    return go_to("pages.models", gettext("%(version)s serves from now on.", version=found.version))


@pages.post("/models/retrainings/<id:retraining_id>/refuse")
@needs(Permission.MANAGE_MODELS)
def refuse_candidate(retraining_id: str) -> ResponseReturnValue:
    found = _find(retraining_id)
    if not found.waits:
        return _answered()
    try:
        refuse_retrained(found, services, by=moderator().name)
    except ConflictError:
        return _answered()
    return go_to(
        "pages.models",
        gettext("%(version)s was refused and does not serve.", version=found.version),
    )


def _find(retraining_id: str) -> Retraining:
    return services.learning.retrainings.get(retraining_id)


def _answered() -> ResponseReturnValue:
    refusal = gettext("This candidate was already promoted or refused. Nothing was changed.")
    return _show(refusal)


def _why_not(error: ConflictError) -> str:
    return gettext("Nothing was changed: %(problem)s.", problem=str(error))


def _show(refusal: str = "") -> ResponseReturnValue:
    now = services.common.clock()
    recent = services.learning.retrainings.recent(limit=RETRAININGS_SHOWN)
    html = render_template(
        "models.html",
        refusal=refusal,
        versions=services.learning.versions.all(),
        previous=services.learning.versions.previous(),
        trained_at=trained_at,
        figures=FIGURES,
        provenance=PROVENANCE,
        retrainings=recent,
        now=now,
        schedule=SCHEDULE,
        verdict_in_words=verdict_in_words,
        mark_of=mark_of,
        progress_in_words=progress_in_words,
        cost_in_words=cost_in_words,
        answers=ANSWERED,
        lost_shown=LOST_SHOWN,
        comments=_lost_comments(recent),
        under_way=progress_of(recent, now)["under_way"],
        trainer=_is_heard(),
    )
    return html, HTTPStatus.CONFLICT if refusal else HTTPStatus.OK


def _lost_comments(recent: Sequence[Retraining]) -> set[str]:
    """Return which ids of lost ham are comments that this person may see."""
    lost = [one.report.newly_lost[:LOST_SHOWN] for one in recent if one.report]
    ids = [CommentId(one) for one in chain.from_iterable(lost) if is_id(one)]
    return seen_ids(services.review.cases.find(ids))


def _is_heard() -> bool:
    try:
        return services.learning.trainer_queue.is_heard()
    except StoreUnavailableError:
        # Going back to an earlier version must work on the day on which the queue does not.
        return False
