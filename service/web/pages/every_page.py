"""Adds every page for moderators to the app: whoever is imported here is served."""

from __future__ import annotations

# ruff: noqa: F401  # Most are imported for their routes and filters.
from flask import Flask

from service.ports.services import Services
from service.web.edge.config import WebConfig
from service.web.edge.language import register_language
from service.web.pages.accounts import (
    accounts_page,
    log_page,
    login,
    me,
    personal_data_page,
    second_factor_page,
)
from service.web.pages.accounts.guessing import limit_guessing
from service.web.pages.common import link_targets, one_sentence, presenting, shell
from service.web.pages.common.pages import register_guarded_pages
from service.web.pages.figures import figures_page
from service.web.pages.models import models_page
from service.web.pages.review import (
    bulk_decisions,
    campaigns_page,
    live_pages,
    review,
)
from service.web.pages.review.review_page import COUNTS
from service.web.pages.review.tab_counts import TabCounts
from service.web.pages.search import search_page
from service.web.pages.sites import callbacks_page, rules_page, site_lists_page, sites_page


def register_pages(app: Flask, services: Services, config: WebConfig) -> None:
    """Add the pages for moderators to an app: signing in, the lists, decisions."""
    app.extensions[COUNTS] = TabCounts(services)
    register_language(app)
    register_guarded_pages(app, config)
    limit_guessing(app)
