"""Previews rules on a site's last comments."""

from __future__ import annotations

from datetime import timedelta

from service.domain.comment import SiteId
from service.domain.rules import SiteRules
from service.domain.rules_preview import RulesPreview
from service.ports.services import Services
from service.scoring.rules import preview_rules as preview_past

PREVIEWED = timedelta(days=90)
# About a second's work, most of it looking for links.
MAX_PREVIEWED = 5_000


def preview_rules(site_id: SiteId, rules: SiteRules, services: Services) -> RulesPreview:
    """Return what rules would have held of a site's comments of the last 90 days.

    At most the newest `MAX_PREVIEWED` that were published or held by a rule are looked at.
    """
    since = services.common.clock() - PREVIEWED
    past = services.judging.rule_facts.find_past(site_id, rules, since=since, limit=MAX_PREVIEWED)
    if len(past) == MAX_PREVIEWED:
        since = past[0].comment.received_at
    return preview_past(rules, past, since=since)
