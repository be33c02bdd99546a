"""The blueprint of `/v1`: each of its routes needs a site key."""

from flask import Blueprint, Response

from service.web.edge.auth import API, current_site, raise_refusal
from service.web.edge.operation import JSON
from service.web.edge.static_files import script_integrity

FORM_SCRIPT_HEADER = "Slopsieve-Form-Script"
"""Every response carries the form script's hash, so that sites notice a new version."""

api = Blueprint(API, __name__, url_prefix="/v1")
api.before_request(raise_refusal)


@api.after_request
def _name_form_script(response: Response) -> Response:
    if response.content_type == JSON:
        response.headers[FORM_SCRIPT_HEADER] = script_integrity()
    return response


def site_as_actor() -> str:
    return f"site: {current_site().id}"
