"""Lets a site read its own figures."""

from __future__ import annotations

from service.moderation.insight.figures import FigureBook
from service.ports.services import Services
from service.web.api.figure_answers import FiguresAnswer
from service.web.api.route import Call, Reply, Route
from service.web.api.schemas import FiguresQuery


def figure_routes(services: Services) -> list[Route]:
    """Return the route by which a site reads its figures."""
    book = FigureBook(services)

    def read_figures(call: Call) -> Reply:
        figures = book.read((call.site.id,), days=call.query(FiguresQuery).days)
        return Reply(answer=FiguresAnswer.of(figures))

    return [
        Route(
            method="GET",
            path="/site/figures",
            name="read_figures",
            tag="Site",
            summary="Read how the last days went",
            description=(
                "Counts, and estimates with 95 % intervals from the audit sample; the days are "
                "UTC days. Counted at most once a minute."
            ),
            view=read_figures,
            query=FiguresQuery,
            answer=FiguresAnswer,
            answered="The site's figures.",
        )
    ]
