"""Asks another model version what it says of comments that have their verdicts."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.errors import ModelUnavailableError
from service.domain.opinion import Opinion, Origin
from service.domain.site import SiteSettings
from service.ports.models import JudgingModel
from service.ports.services import Services
from service.scoring.inputs import model_input
from service.scoring.opinion import form_opinion
from service.scoring.policy import cutoffs_of

log = logging.getLogger(__name__)


def opine(
    ids: Sequence[CommentId], model: JudgingModel, services: Services, *, origin: Origin
) -> int:
    """Keep a version's opinions of those of `ids` that have verdicts; return how many were formed.

    One call of its classifier for all of them. A comment that makes it raise gets no opinion.
    Verdicts are only read. Raises `StoreUnavailableError`, and `ModelUnavailableError` if the
    classifier can't answer; the whole call can safely be repeated.
    """
    cases = [case for case in services.cases.find_judged(ids) if case.withdrawn_at is None]
    if not cases:
        return 0
    settings = {
        site_id: services.sites.get(site_id).settings
        for site_id in {case.comment.site_id for case in cases}
    }
    opinions = _form(cases, model, settings, origin, services.clock())
    services.opinions.add(opinions)
    return len(opinions)


def _form(
    cases: Sequence[Case],
    model: JudgingModel,
    settings: Mapping[SiteId, SiteSettings],
    origin: Origin,
    now: datetime,
) -> list[Opinion]:
    """Form opinions of some cases; where that raises, halve them until the culprit is alone."""
    try:
        outputs = model.classifier.score_batch([model_input(case.comment) for case in cases])
        return [
            form_opinion(
                case.comment,
                case.verdict,
                output=output,
                model_version=model.version,
                weights=model.weights,
                cutoffs=cutoffs_of(settings[case.comment.site_id], model.cutoffs),
                origin=origin,
                formed_at=now,
            )
            for case, output in zip(cases, outputs, strict=True)
            if case.verdict is not None
        ]
    except ModelUnavailableError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever one comment provokes, others go on
        if len(cases) == 1:
            log.error(  # noqa: TRY400  # a traceback could carry the comment's text
                "no opinion could be formed",
                extra={"comment_id": cases[0].comment.id, "error": type(error).__name__},
            )
            return []
    half = len(cases) // 2
    return [
        *_form(cases[:half], model, settings, origin, now),
        *_form(cases[half:], model, settings, origin, now),
    ]
