"""The page of models: their versions and retrainings."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from html import unescape
from http import HTTPStatus

from flask import current_app, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.errors import ConflictError, StoreUnavailableError
from service.domain.retraining import Retraining, RetrainingOptions, RetrainingState
from service.domain.user import Permission
from service.moderation import retraining
from service.moderation.versions import promote_version
from service.ports.models import VersionInfo
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.edge.language import gettext
from service.web.pages.blueprint import go_to, moderator, pages
from service.web.pages.template_filters import seen_ids

RETRAININGS_SHOWN = 20
# More are shown as a number.
LOST_SHOWN = 50
# The shipped card has 40,000.
_CARD_CHARS = 120_000


@pages.get("/models", needs=Permission.MANAGE_MODELS)
def models() -> ResponseReturnValue:
    return _show()


@pages.get("/models/progress", needs=Permission.MANAGE_MODELS)
def models_progress() -> ResponseReturnValue:
    one = _under_way(services.retrainings.recent(limit=RETRAININGS_SHOWN), services.clock())
    if one is None:
        return {"under_way": ""}
    return {
        "under_way": f"{one.id} {one.state.value}",
        "percent": round(one.share_done * 100),
        "says": unescape(render_template("retraining_progress.html", one=one)),
    }


@pages.get("/models/versions/<version_name>", needs=Permission.MANAGE_MODELS)
def models_card(version_name: str) -> ResponseReturnValue:
    card = services.versions.card(version_name)
    return render_template(
        "model_card.html",
        name=version_name,
        card=card and card[:_CARD_CHARS],
        cut=bool(card and len(card) > _CARD_CHARS),
    )


@pages.post("/models/versions/<version_name>/promote", needs=Permission.MANAGE_MODELS)
def promote_model(version_name: str) -> ResponseReturnValue:
    return _promote_version(version_name)


@pages.post("/models/rollback", needs=Permission.MANAGE_MODELS)
def roll_model_back() -> ResponseReturnValue:
    # The form names the version, so that a double click does not roll back twice.
    previous = services.versions.previous()
    if previous is None or request.form.get("to") != previous:
        return _show(gettext("Meanwhile another version was promoted. Nothing was changed."))
    return _promote_version(previous)


@pages.post("/models/retrainings", needs=Permission.MANAGE_MODELS)
def retrain_now() -> ResponseReturnValue:
    options = RetrainingOptions(data=current_app.config["RETRAIN_DATA"])
    try:
        retraining.ask_retraining(services, by=moderator().name, options=options)
    except retraining.NoTrainerError:
        return _show(gettext("No process that retrains is running; see below for what to do."))
    except ConflictError:
        return _show(gettext("A retraining is already running."))
    return go_to("pages.models", gettext("Retraining requested; it starts within seconds."))


@pages.post("/models/retrainings/<id:retraining_id>/promote", needs=Permission.MANAGE_MODELS)
def promote_candidate(retraining_id: str) -> ResponseReturnValue:
    found = services.retrainings.get(retraining_id)
    if not found.waits:
        return _answered()
    by = moderator().name
    return _promote(found.version, lambda: retraining.promote_retrained(found, services, by=by))


@pages.post("/models/retrainings/<id:retraining_id>/refuse", needs=Permission.MANAGE_MODELS)
def refuse_candidate(retraining_id: str) -> ResponseReturnValue:
    found = services.retrainings.get(retraining_id)
    if not found.waits:
        return _answered()
    try:
        retraining.refuse_retrained(found, services, by=moderator().name)
    except ConflictError:
        return _answered()
    return go_to(
        "pages.models",
        gettext("%(version)s was refused and does not serve.", version=found.version),
    )


def _answered() -> ResponseReturnValue:
    return _show(gettext("This candidate was already promoted or refused. Nothing was changed."))


def _promote_version(name: str) -> ResponseReturnValue:
    return _promote(name, lambda: promote_version(name, services, by=moderator().name))


def _promote(version: str | None, promote: Callable[[], object]) -> ResponseReturnValue:
    """Return a page that says that the version serves, or why `promote` cannot let it."""
    try:
        promote()
    except ConflictError as error:
        return _show(gettext("Nothing was changed: %(problem)s.", problem=str(error)))
    return go_to("pages.models", gettext("%(version)s serves from now on.", version=version))


def _show(refusal: str = "") -> ResponseReturnValue:
    now = services.clock()
    recent = services.retrainings.recent(limit=RETRAININGS_SHOWN)
    lost = [one for run in recent if run.report for one in run.report.newly_lost[:LOST_SHOWN]]
    has_listener = False
    # Rolling back must work while the queue is down.
    with contextlib.suppress(StoreUnavailableError):
        has_listener = services.trainer_queue.has_listener()
    html = render_template(
        "models.html",
        refusal=refusal,
        versions=services.versions.all(),
        previous=services.versions.previous(),
        trained_at=_trained_at,
        retrainings=recent,
        now=now,
        schedule=retraining.SCHEDULE,
        lost_shown=LOST_SHOWN,
        # The lost comments that this user may see.
        comments=seen_ids(services.cases.find([CommentId(one) for one in lost if is_id(one)])),
        under_way=_under_way(recent, now),
        trainer=has_listener,
    )
    return html, HTTPStatus.CONFLICT if refusal else HTTPStatus.OK


def _under_way(recent: Sequence[Retraining], now: datetime) -> Retraining | None:
    asked = RetrainingState.ASKED
    return next((one for one in recent if one.state is asked or one.is_running(now)), None)


def _trained_at(version: VersionInfo) -> datetime | None:
    """Return when a version was trained, or None if its card does not have the time."""
    try:
        moment = datetime.fromisoformat(version.trained_at)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
