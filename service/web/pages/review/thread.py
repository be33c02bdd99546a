"""Shows above an opened comment what it answers, as far as that is kept here."""

from __future__ import annotations

from service.domain.case import Case
from service.web.pages.common.pages import moderator, services

# Threads may be endless, or loop.
_MOST_ABOVE = 3


def thread_view(case: Case) -> list[Case]:
    """Return the comments above this one, the first of the thread first, itself left out."""
    above: list[Case] = []
    seen = {case.comment.id}
    current = case
    while current.comment.reply_to and len(above) < _MOST_ABOVE:
        site_id, named = current.comment.site_id, current.comment.reply_to
        found = services.intake.comments.find_by_site_ids(site_id, [named]).get(named)
        if found is None or found in seen or not moderator().sees(site_id):
            break
        seen.add(found)
        current = services.review.cases.get(found)
        above.append(current)
    return above[::-1]
