"""Tells on the next page what was decided on many comments at once, as it stands now."""

from __future__ import annotations

from flask import session

from service.domain.decision import BulkDecision
from service.domain.user import Permission
from service.web.edge.current import services
from service.web.pages.common.pages import moderator, pages, pop_done

_JUST_DONE = "just_done_bulk_decision"


def remember_bulk_decision(bulk_decision: BulkDecision) -> None:
    """Let the next page tell what was done."""
    session[_JUST_DONE] = [bulk_decision.id]


def just_done_bulk_decision() -> BulkDecision | None:
    """Return what was done last on many comments, as it stands now; tell it once."""
    return pop_done(_JUST_DONE, services.bulk_decisions.get)


@pages.app_template_filter()
def may_undo(bulk_decision: BulkDecision) -> bool:
    """Return True if part of it is in force and the signed-in user may undo that."""
    user = moderator()
    decides = all(user.may(Permission.DECIDE, site_id) for site_id in bulk_decision.site_ids)
    in_force = bulk_decision.n_in_force > 0
    return in_force and decides and is_seen(bulk_decision) and user.may(Permission.DECIDE)


def is_seen(bulk_decision: BulkDecision) -> bool:
    """Return True if the user may see all of a bulk decision; an empty one is its maker's.

    Who sees one of its sites alone could not undo it without the others.
    """
    user = moderator()
    if not bulk_decision.site_ids:
        return user.site_ids is None or bulk_decision.decided_by == user.name
    return all(user.sees(site_id) for site_id in bulk_decision.site_ids)
