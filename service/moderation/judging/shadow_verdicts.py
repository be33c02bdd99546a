"""Asks another model version what it says of comments that have their verdicts."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.errors import ModelUnavailableError
from service.domain.shadow_verdict import Origin, ShadowVerdict
from service.domain.site import SiteSettings
from service.ports.models import JudgingModel
from service.ports.services import Services
from service.scoring.inputs import model_input
from service.scoring.policy import cutoffs_of
from service.scoring.shadow_verdict import form_shadow_verdict

log = logging.getLogger(__name__)


def keep_shadow_verdicts(
    ids: Sequence[CommentId], model: JudgingModel, services: Services, *, origin: Origin
) -> int:
    """Keep a version's shadow verdicts of what is judged of `ids`; return how many were formed.

    One call of its classifier for all of them. A comment that makes it raise gets no shadow
    verdict. Verdicts are only read. Raises `StoreUnavailableError`, and `ModelUnavailableError` if
    the classifier can't answer; the whole call can safely be repeated.
    """
    cases = [case for case in services.review.cases.find_judged(ids) if case.withdrawn_at is None]
    if not cases:
        return 0
    settings = {
        site_id: services.common.sites.get(site_id).settings
        for site_id in {case.comment.site_id for case in cases}
    }
    shadow_verdicts = _form(cases, model, settings, origin, services.common.clock())
    services.judging.shadow_verdicts.add(shadow_verdicts)
    return len(shadow_verdicts)


def _form(
    cases: Sequence[Case],
    model: JudgingModel,
    settings: Mapping[SiteId, SiteSettings],
    origin: Origin,
    now: datetime,
) -> list[ShadowVerdict]:
    """Form shadow verdicts of some cases; where that raises, halve them down to the culprit."""
    try:
        outputs = model.classifier.score_batch([model_input(case.comment) for case in cases])
        return [
            form_shadow_verdict(
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
                "no shadow verdict could be formed",
                extra={"comment_id": cases[0].comment.id, "error": type(error).__name__},
            )
            return []
    half = len(cases) // 2
    return [
        *_form(cases[:half], model, settings, origin, now),
        *_form(cases[half:], model, settings, origin, now),
    ]
