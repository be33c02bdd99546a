"""Adds every page for moderators to the app: whoever is called here is served."""

from __future__ import annotations

from flask import Flask

from service.ports.services import Services
from service.web.edge.config import WebConfig
from service.web.edge.language import register_language
from service.web.pages.accounts.accounts_page import add_accounts
from service.web.pages.accounts.log_page import add_log
from service.web.pages.accounts.login import add_login
from service.web.pages.accounts.me import add_me
from service.web.pages.accounts.personal_data_page import add_personal_data
from service.web.pages.accounts.second_factor_page import add_second_factor
from service.web.pages.common.pages import guard_pages, limiter_of, make_pages
from service.web.pages.common.shell import shell_of
from service.web.pages.figures.figures_page import add_figures
from service.web.pages.models.models_page import add_models
from service.web.pages.review.bulk_decisions import add_bulk_decisions
from service.web.pages.review.campaigns_page import add_campaigns
from service.web.pages.review.reject_and_block import add_reject_and_block
from service.web.pages.review.review import add_review
from service.web.pages.search.search_page import add_search
from service.web.pages.sites.callbacks_page import add_callbacks
from service.web.pages.sites.rules_page import add_rules
from service.web.pages.sites.site_lists_page import add_site_lists
from service.web.pages.sites.sites_page import add_sites


def register_pages(app: Flask, services: Services, config: WebConfig) -> None:
    """Add the pages for moderators to an app: signing in, the lists, decisions."""
    pages = make_pages()
    add_login(pages, services.accounts, services.common, limiter_of(app))
    add_review(app, pages, services)
    add_callbacks(pages, services.telling, services.common)
    add_search(pages, services)
    add_figures(pages, services)
    add_bulk_decisions(pages, services)
    add_sites(pages, services)
    add_rules(pages, services)
    add_campaigns(pages, services)
    add_site_lists(pages, services)
    add_reject_and_block(pages, services)
    add_me(pages, services.accounts, services.common, sends_mail=services.digest.mailer is not None)
    add_second_factor(pages, services.accounts, services.common, config, limiter_of(app))
    add_accounts(pages, services.accounts, services.common)
    add_log(pages, services)
    add_models(pages, services, config)
    add_personal_data(pages, services)
    pages.context_processor(lambda: shell_of(services.telling))
    register_language(app)
    guard_pages(app, pages, services.accounts, services.common, config)
