"""The page of models: which versions there are, which serves, what retrainings found."""

from __future__ import annotations

from http import HTTPStatus

from flask import current_app, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.errors import ConflictError, StoreUnavailableError
from service.domain.retraining import Retraining, RetrainingOptions
from service.domain.user import Permission
from service.moderation.learning.ask_retraining import NoTrainerError, ask_retraining
from service.moderation.learning.retrain import promote_retrained, refuse_retrained
from service.moderation.learning.versions import promote_version, roll_back
from service.web.edge.ids import is_id
from service.web.edge.language import gettext
from service.web.pages.common.marking import part_text
from service.web.pages.common.pages import moderator, needs, pages, services
from service.web.pages.models.models_view import (
    RETRAININGS_SHOWN,
    progress_of,
    view_retraining,
    view_version,
)

_TOLD = "told_models"
# The shipped card has 40,000; nobody reads more on a page.
_CARD_CHARS = 120_000


@pages.get("/models")
@needs(Permission.MANAGE_MODELS)
def models() -> ResponseReturnValue:
    return _show(told=session.pop(_TOLD, ""))


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
        name=part_text(version_name),
        card=part_text(card[:_CARD_CHARS]) if card else None,
        cut=bool(card and len(card) > _CARD_CHARS),
    )


@pages.post("/models/versions/<version_name>/promote")
@needs(Permission.MANAGE_MODELS)
def promote_model(version_name: str) -> ResponseReturnValue:
    try:
        promote_version(version_name, services.learning, services.common, by=moderator().name)
    except ConflictError as error:
        return _show(refusal=_why_not(error), status=HTTPStatus.CONFLICT)
    return _back(gettext("%(version)s serves from now on.", version=version_name))


@pages.post("/models/rollback")
@needs(Permission.MANAGE_MODELS)
def roll_model_back() -> ResponseReturnValue:
    # Two clicks in a row must not go back and forth: the form names what it goes back to.
    if request.form.get("to") != services.learning.versions.previous():
        refusal = gettext("Meanwhile another version was promoted. Nothing was changed.")
        return _show(refusal=refusal, status=HTTPStatus.CONFLICT)
    try:
        name = roll_back(services.learning, services.common, by=moderator().name)
    except ConflictError as error:
        return _show(refusal=_why_not(error), status=HTTPStatus.CONFLICT)
    return _back(gettext("%(version)s serves from now on.", version=name))


@pages.post("/models/retrainings")
@needs(Permission.MANAGE_MODELS)
def retrain_now() -> ResponseReturnValue:
    options = RetrainingOptions(data=current_app.config["RETRAIN_DATA"])
    try:
        ask_retraining(services.learning, services.common, by=moderator().name, options=options)
    except NoTrainerError:
        refusal = gettext("No process that retrains is running; see below for what to do.")
        return _show(refusal=refusal, status=HTTPStatus.CONFLICT)
    except ConflictError:
        refusal = gettext("A retraining is already running.")
        return _show(refusal=refusal, status=HTTPStatus.CONFLICT)
    return _back(gettext("Retraining requested; it starts within seconds."))


@pages.post("/models/retrainings/<retraining_id>/promote")
@needs(Permission.MANAGE_MODELS)
def promote_candidate(retraining_id: str) -> ResponseReturnValue:
    found = _find(retraining_id)
    if not found.waits:
        return _answered()
    try:
        promote_retrained(found, services.learning, services.common, by=moderator().name)
    except ConflictError as error:
        return _show(refusal=_why_not(error), status=HTTPStatus.CONFLICT)
    return _back(gettext("%(version)s serves from now on.", version=found.version))


@pages.post("/models/retrainings/<retraining_id>/refuse")
@needs(Permission.MANAGE_MODELS)
def refuse_candidate(retraining_id: str) -> ResponseReturnValue:
    found = _find(retraining_id)
    if not found.waits:
        return _answered()
    try:
        refuse_retrained(found, services.learning, services.common, by=moderator().name)
    except ConflictError:
        return _answered()
    return _back(gettext("%(version)s was refused and does not serve.", version=found.version))


def _find(retraining_id: str) -> Retraining:
    return services.learning.retrainings.get(retraining_id if is_id(retraining_id) else "")


def _answered() -> ResponseReturnValue:
    refusal = gettext("This candidate was already promoted or refused. Nothing was changed.")
    return _show(refusal=refusal, status=HTTPStatus.CONFLICT)


def _why_not(error: ConflictError) -> str:
    return gettext("Nothing was changed: %(problem)s.", problem=str(error))


def _back(told: str) -> ResponseReturnValue:
    session[_TOLD] = told
    return redirect(url_for("pages.models"), HTTPStatus.SEE_OTHER)


def _show(*, told: str = "", refusal: str = "", status: int = HTTPStatus.OK) -> ResponseReturnValue:
    now = services.common.clock()
    recent = services.learning.retrainings.recent(limit=RETRAININGS_SHOWN)
    html = render_template(
        "models.html",
        told=told,
        refusal=refusal,
        versions=[view_version(one, now) for one in services.learning.versions.all()],
        previous=services.learning.versions.previous(),
        retrainings=[view_retraining(one, moderator(), now) for one in recent],
        under_way=progress_of(recent, now)["under_way"],
        trainer=_is_heard(),
    )
    return html, status


def _is_heard() -> bool:
    try:
        return services.learning.trainer_queue.is_heard()
    except StoreUnavailableError:
        # Going back to an earlier version must work on the day on which the queue does not.
        return False
