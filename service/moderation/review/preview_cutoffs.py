"""Previews other cutoffs on a site's last comments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta

from service.domain.comment import SiteId
from service.domain.cutoff_preview import CutoffPreview
from service.domain.errors import InvalidInputError, Problem
from service.ports.services import Services
from service.scoring.policy import cutoffs_of
from service.scoring.promise import Promise
from service.scoring.weights import Cutoffs

# Long enough for rare mistakes to show, short enough to be about today's spam.
PREVIEWED = timedelta(days=30)
# What is concluded where no model version can be read: everything is left to a person.
_NO_PROMISE = Cutoffs(ham_cutoff=0.0, spam_cutoff=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What cutoffs would have made of the last 30 days, and what the serving version promises.

    `cutoffs` are those in effect: one that was left open follows the promised one.
    """

    cutoffs: Cutoffs
    counts: CutoffPreview
    promise: Promise | None


def preview_cutoffs(
    site_id: SiteId, services: Services, *, ham_cutoff: float | None, spam_cutoff: float | None
) -> Preview:
    """Return what these cutoffs would have made of a site's comments of the last 30 days.

    None follows the serving version's. Comments that were judged without some evidence stay
    unsure. Raises `NotFoundError` for an unknown site, `InvalidInputError` naming everything that
    is wrong with the cutoffs.
    """
    problems = find_cutoff_problems(ham_cutoff, spam_cutoff)
    if problems:
        raise InvalidInputError(problems)
    site = services.sites.get(site_id)
    promise = services.current_promise()
    settings = replace(site.settings, ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    cutoffs = cutoffs_of(settings, promise.cutoffs if promise else _NO_PROMISE)
    counts = services.cases.cutoff_preview(
        site_id, received_from=services.clock() - PREVIEWED, cutoffs=cutoffs
    )
    return Preview(cutoffs=cutoffs, counts=counts, promise=promise)


def find_cutoff_problems(ham_cutoff: float | None, spam_cutoff: float | None) -> list[Problem]:
    """Return all that is wrong with a site's cutoffs, nothing for good ones."""
    problems = [
        Problem(name, "is no probability", "give a number from 0 to 1, or nothing")
        for name, value in (("ham_cutoff", ham_cutoff), ("spam_cutoff", spam_cutoff))
        if value is not None and (math.isnan(value) or not 0.0 <= value <= 1.0)
    ]
    if (
        not problems
        and ham_cutoff is not None
        and spam_cutoff is not None
        and ham_cutoff > spam_cutoff
    ):
        problems.append(
            Problem("ham_cutoff", "lies above the spam cutoff", "give one that is not above it")
        )
    return problems
