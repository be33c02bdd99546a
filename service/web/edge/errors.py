"""Converts every error to a problem document (RFC 9457)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

from flask import Flask, Response, g, request
from flask.typing import ResponseReturnValue
from flask_limiter import RateLimitExceeded
from pydantic import BaseModel, ConfigDict, Field
from werkzeug.exceptions import HTTPException

from service.domain.errors import (
    ConflictError,
    InvalidInputError,
    ModelUnavailableError,
    ModerationError,
    NotAuthenticatedError,
    NotFoundError,
    Problem,
    StoreUnavailableError,
)
from service.web.edge.auth import PAGES
from service.web.edge.limits import seconds_to_wait

log = logging.getLogger(__name__)


class Answer(BaseModel):
    """The base of all response models."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def from_value(cls, value: object, **others: object) -> Self:
        """Return the response with these `others` and all other fields from `value`'s attributes.

        Nested values are converted too. Raises `AttributeError` if `value` lacks an attribute.
        """
        names = cls.model_fields.keys() - others.keys()
        return cls(**others, **{name: getattr(value, name) for name in names})


class ProblemField(Answer):
    """One error in the input."""

    field: str = Field(description="The field's path, a parameter or a header.")
    problem: str = Field(description="What is wrong there.")
    remedy: str = Field(description="What to do about it.")


class ProblemAnswer(Answer):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(frozen=True, title="Problem")

    type: str = Field(description="The documentation of this kind of problem.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    errors: list[ProblemField] = Field(description="Every field that is wrong, at most 50.")


PROBLEM_TYPE = "application/problem+json"
# Under these paths every error is JSON.
_API_PATHS = ("v1", "hooks", "public", "openapi.json", "livez", "readyz")
# A hostile body may have thousands of unknown fields.
_MAX_PROBLEMS = 50


class EdgeError(ModerationError):
    """A request that is refused before a use case is called."""

    status = 400

    def __init__(
        self,
        detail: str,
        problems: Sequence[Problem] = (),
        *,
        status: int | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.problems = tuple(problems)
        self.status = status or self.status
        self.retry_after = retry_after
        super().__init__(detail)


class UnreadableRequestError(EdgeError):
    """The body does not match its media type."""


class TooLargeError(EdgeError):
    """The body, or a part of it, is over its limit."""

    status = 413


HTTP_STATUS: Mapping[type[ModerationError], int] = {
    InvalidInputError: 422,
    NotAuthenticatedError: 401,
    NotFoundError: 404,
    ConflictError: 409,
    StoreUnavailableError: 503,
    ModelUnavailableError: 503,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of problem: its anchor on the documentation page and what it means."""

    slug: str
    title: str
    meaning: str


KINDS: Mapping[int, Kind] = {
    400: Kind(
        slug="unreadable-request",
        title="The request cannot be read",
        meaning="The body is not well-formed JSON in UTF-8, or it is nested too deep.",
    ),
    401: Kind(
        slug="not-authenticated",
        title="A valid site key is needed",
        meaning="Send `Authorization: Bearer slop_…` with a key that is not expired or revoked.",
    ),
    404: Kind(
        slug="not-found",
        title="There is no such thing",
        meaning="The path is unknown, or the thing does not exist or belongs to another site.",
    ),
    405: Kind(
        slug="method-not-allowed",
        title="The path does not take this method",
        meaning="The `Allow` header lists the methods that the path takes.",
    ),
    409: Kind(
        slug="conflict",
        title="The request contradicts what is kept",
        meaning="The same key came with other content or not to be kept, the comment was "
        "withdrawn by its site, or the change would lock the site out.",
    ),
    410: Kind(
        slug="gone",
        title="It is gone",
        meaning="The site deleted the comment before it was submitted, or the hook was revoked. "
        "Nothing was stored.",
    ),
    413: Kind(
        slug="too-large",
        title="The request is too large",
        meaning="The body, the comment's text or the number of comments is over its limit.",
    ),
    415: Kind(
        slug="wrong-media-type",
        title="The media type is not understood",
        meaning="Send the body as one of the media types that the operation lists.",
    ),
    422: Kind(
        slug="invalid-input",
        title="The input is refused",
        meaning="Each field that is wrong is named in `errors`, all of them at once.",
    ),
    429: Kind(
        slug="too-many-requests",
        title="Too many requests",
        meaning="Wait for as many seconds as `Retry-After` says.",
    ),
    500: Kind(
        slug="internal-error",
        title="Something went wrong here",
        meaning="The fault is on this side; the log has more under the request's id.",
    ),
    503: Kind(
        slug="unavailable",
        title="Temporarily unavailable",
        meaning="Nothing was kept; the same request may succeed after `Retry-After` seconds.",
    ),
}


def problem(status: int, detail: str, problems: Sequence[Problem] = ()) -> ProblemAnswer:
    """Return the problem document for a status."""
    kind = KINDS.get(status)
    return ProblemAnswer(
        type=f"/docs#problem-{kind.slug}" if kind else "about:blank",
        title=kind.title if kind else HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=[ProblemField.from_value(one) for one in problems[:_MAX_PROBLEMS]],
    )


def problem_of(error: ModerationError) -> ProblemAnswer:
    """Return the problem document for an error of Slopsieve; 500 if `HTTP_STATUS` lacks it."""
    if isinstance(error, EdgeError):
        return problem(error.status, str(error), error.problems)
    status = next((HTTP_STATUS[kind] for kind in type(error).__mro__ if kind in HTTP_STATUS), 500)
    if not isinstance(error, InvalidInputError):
        return problem(status, str(error))
    number = len(error.problems)
    count = "1 problem" if number == 1 else f"{number} problems"
    first = f", the first {_MAX_PROBLEMS} here" if number > _MAX_PROBLEMS else ""
    return problem(status, f"The input has {count}{first}.", error.problems)


def register_errors(app: Flask, error_page: Callable[[int], Response]) -> None:
    """Respond to every error with a problem document or an HTML page.

    `error_page(status)` returns the page. The moderators' pages always get it; a path without a
    route gets it if the client prefers HTML.
    """

    def answer(document: ProblemAnswer, headers: Mapping[str, str]) -> Response:
        status = document.status
        is_api = request.path.lstrip("/").startswith(_API_PATHS)
        if request.blueprint == PAGES or (not is_api and wants_page()):
            response = error_page(status)
        else:
            response = Response(document.model_dump_json(), status, content_type=PROBLEM_TYPE)
            if status == HTTPStatus.UNAUTHORIZED:
                response.headers["WWW-Authenticate"] = 'Bearer realm="slopsieve"'
            if status == HTTPStatus.SERVICE_UNAVAILABLE:
                # Time for the store to recover.
                response.headers["Retry-After"] = "5"
        response.headers.update(headers)
        return response

    def on_our_error(error: ModerationError) -> ResponseReturnValue:
        retry_after = error.retry_after if isinstance(error, EdgeError) else None
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        return answer(problem_of(error), headers)

    def on_http_error(error: HTTPException) -> ResponseReturnValue:
        status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
        if status < HTTPStatus.BAD_REQUEST:
            return error
        kind = KINDS.get(status)
        # Werkzeug's descriptions may quote the request, so they are not used.
        document = problem(status, kind.meaning if kind else HTTPStatus(status).description)
        kept = {"Allow", "Retry-After"}
        headers = {name: value for name, value in error.get_headers() if name in kept}
        if isinstance(error, RateLimitExceeded):
            headers["Retry-After"] = str(seconds_to_wait())
        return answer(document, headers)

    def on_unforeseen(error: Exception) -> ResponseReturnValue:
        log.error(
            "request failed",
            exc_info=error,
            extra={"endpoint": request.endpoint, "request_id": g.get("request_id", "")},
        )
        return answer(problem(500, KINDS[500].meaning), {})

    app.register_error_handler(ModerationError, on_our_error)
    app.register_error_handler(HTTPException, on_http_error)
    app.register_error_handler(Exception, on_unforeseen)


def wants_page() -> bool:
    """Return True if the client prefers HTML to JSON, as browsers do."""
    return request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html"
