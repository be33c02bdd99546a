"""The pages for moderators. Importing a module here registers its routes."""

from flask import Flask

from service.web.edge.language import register_language
from service.web.pages import (  # noqa: F401  # most only for their routes and filters
    accounts,
    bulk_decisions,
    callbacks,
    campaigns,
    figures,
    log,
    models,
    own_account,
    personal_data,
    presenting,
    reject_and_block,
    review,
    search,
    site_lists,
    sites,
    template_filters,
)
from service.web.pages.blueprint import register_blueprint
from service.web.pages.login import limit_guessing
from service.web.pages.review import register_counts


def register_pages(app: Flask) -> None:
    register_counts(app)
    register_language(app)
    register_blueprint(app)
    limit_guessing(app)
