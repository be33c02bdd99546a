"""Adds every page for moderators to the app: whoever is called here is served."""

from __future__ import annotations

from flask import Flask

from service.ports import Services
from service.web.accounts_page import add_accounts
from service.web.callbacks_page import add_callbacks
from service.web.campaigns_page import add_campaigns
from service.web.config import WebConfig
from service.web.distrust import add_distrust
from service.web.figures_page import add_figures
from service.web.language import register_language
from service.web.live import Live
from service.web.log_page import add_log
from service.web.login import add_login
from service.web.me import add_me
from service.web.models_page import add_models
from service.web.pages import guard_pages, limiter_of, make_pages
from service.web.personal_data_page import add_personal_data
from service.web.review import add_review
from service.web.search_page import add_search
from service.web.second_factor_page import add_second_factor
from service.web.shadow_view import add_shadow
from service.web.shell import shell_of
from service.web.site_lists_page import add_site_lists
from service.web.sites_page import add_sites
from service.web.strokes import add_strokes

LIVE = "slopsieve_live"
"""Under which extension of an app its live updates are found, to be closed before it stops."""


def register_pages(app: Flask, services: Services, config: WebConfig) -> None:
    """Add the pages for moderators to an app: signing in, the lists, decisions."""
    pages = make_pages()
    live = Live(services, max_streams=config.max_streams, every_seconds=config.live_every_seconds)
    app.extensions[LIVE] = live
    add_login(pages, services, limiter_of(app))
    add_review(app, pages, services, live)
    add_callbacks(pages, services)
    add_search(pages, services)
    add_figures(pages, services)
    add_strokes(pages, services)
    add_sites(pages, services)
    add_campaigns(pages, services)
    add_site_lists(pages, services)
    add_distrust(pages, services)
    add_me(pages, services)
    add_second_factor(pages, services, config, limiter_of(app))
    add_accounts(pages, services)
    add_log(pages, services)
    add_models(pages, services, config)
    add_personal_data(pages, services)
    add_shadow(pages, services)
    pages.context_processor(lambda: shell_of(services))
    register_language(app)
    guard_pages(app, pages, services, config)
