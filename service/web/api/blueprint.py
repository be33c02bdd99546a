"""The blueprint of `/v1`: each of its routes needs a site key."""

from __future__ import annotations

from flask import Blueprint, Response

from service.web.edge.auth import API, current_site
from service.web.edge.operation import JSON
from service.web.edge.static_files import script_integrity

FORM_SCRIPT_HEADER = "Slopsieve-Form-Script"
"""By this header of every answer a site's pages know the form's script of a new version at once."""

api = Blueprint(API, __name__, url_prefix="/v1")


@api.before_request
def _require_site() -> None:
    current_site()


@api.after_request
def _name_form_script(response: Response) -> Response:
    if response.content_type == JSON:
        response.headers[FORM_SCRIPT_HEADER] = script_integrity()
    return response


def site_as_actor() -> str:
    """Return by which name the log knows the site that calls."""
    return f"site: {current_site().id}"
