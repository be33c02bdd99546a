"""Lets a site read its own figures."""

from __future__ import annotations

from flask import current_app

from service.moderation.insight.figures import FigureBook
from service.web.api.blueprint import api
from service.web.api.figure_answers import FiguresAnswer
from service.web.api.schemas import FiguresQuery
from service.web.edge.auth import current_site
from service.web.edge.operation import operation

FIGURES = "slopsieve_figures"
"""Under which extension of an app its figures are kept for a minute."""


@api.get("/site/figures")
@operation(tag="Site")
def read_figures(query: FiguresQuery) -> FiguresAnswer:
    """Read how the last days went.

    Counts, and estimates with 95 % intervals from the audit sample; the days are UTC days. Counted
    at most once a minute.
    """
    book: FigureBook = current_app.extensions[FIGURES]
    return FiguresAnswer.of(book.read((current_site().id,), days=query.days))
