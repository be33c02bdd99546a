"""The page where an owner exports, forgets and erases a person's data.

Identifying data is only sent in forms, and is in no URL, cookie or log.
"""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus

from flask import Response, flash, render_template, request, stream_with_context
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import InvalidInputError
from service.domain.sender import Person
from service.domain.user import Permission
from service.moderation.acts import record_act
from service.moderation.erasing import erase_person, export_person, find_person, forget_sender
from service.web.edge.current import services
from service.web.edge.fields import write_moment
from service.web.edge.language import gettext, ngettext
from service.web.pages.blueprint import go_to, moderator, pages
from service.web.pages.template_filters import site_name

# Some seconds of work; the page shows how many are left.
ERASED_AT_ONCE = 1_000
_FIELDS = ("email", "name", "address")
_MAX_TYPED_CHARS = 400


def _of_person(act: Callable[[Person], ResponseReturnValue]) -> Callable[[], ResponseReturnValue]:
    """Pass the form's person to a view for owners; refuse a form without one."""

    @wraps(act)
    def view() -> ResponseReturnValue:
        named = {name: typed or None for name, typed in _typed().items()}
        try:
            person = find_person(services, **named)
        except InvalidInputError:
            refusal = gettext("Give at least one of the three; an address such as 192.0.2.7.")
            return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
        return act(person)

    return view


@pages.get("/personal-data", needs=Permission.ERASE_PEOPLE)
def personal_data() -> ResponseReturnValue:
    return _page()


@pages.post("/personal-data", needs=Permission.ERASE_PEOPLE)
@_of_person
def find_personal_data(person: Person) -> ResponseReturnValue:
    return _page(services.personal_data.count_by_site(person))


@pages.post("/personal-data/export", needs=Permission.ERASE_PEOPLE)
@_of_person
def export_personal_data(person: Person) -> ResponseReturnValue:
    record_act(services, actor=moderator().name, act="export person", subject="person")
    lines = (
        json.dumps(record, default=write_moment) + "\n"
        for record in export_person(person, services)
    )
    return Response(
        stream_with_context(lines),
        mimetype="application/jsonl",
        headers={"Content-Disposition": 'attachment; filename="personal-data.jsonl"'},
    )


@pages.post("/personal-data/forget", needs=Permission.ERASE_PEOPLE)
@_of_person
def forget_personal_data(person: Person) -> ResponseReturnValue:
    if unconfirmed := _unconfirmed(person):
        return unconfirmed
    forgotten = forget_sender(person.sender, services, by=moderator().name)
    told = ngettext(
        "%(num)s comment lost its sender keys; its text is kept.",
        "%(num)s comments lost their sender keys; their text is kept.",
        forgotten,
    )
    return go_to("pages.personal_data", told)


@pages.post("/personal-data/erase", needs=Permission.ERASE_PEOPLE)
@_of_person
def erase_personal_data(person: Person) -> ResponseReturnValue:
    if unconfirmed := _unconfirmed(person):
        return unconfirmed
    erased = erase_person(person, services, by=moderator().name, at_most=ERASED_AT_ONCE)
    told = ngettext("%(num)s comment was erased.", "%(num)s comments were erased.", erased)
    if not erased:
        told = gettext("No comment matches, and none was erased.")
    left = services.personal_data.count_by_site(person)
    if not left:
        return go_to("pages.personal_data", told)
    flash(told)
    return _page(left)


def _unconfirmed(person: Person) -> ResponseReturnValue | None:
    """Return an error page unless the number of comments was typed, as a confirmation."""
    held = services.personal_data.count_by_site(person)
    if request.form.get("count", "").strip() == str(sum(held.values())):
        return None
    refusal = gettext("Nothing was erased: type the number of comments shown below.")
    return _page(held, refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY


def _typed() -> dict[str, str]:
    return {name: request.form.get(name, "").strip()[:_MAX_TYPED_CHARS] for name in _FIELDS}


def _page(held: Mapping[SiteId, int] | None = None, *, refusal: str = "") -> str:
    return render_template(
        "personal_data.html",
        by_site=sorted((site_name(site_id), count) for site_id, count in (held or {}).items()),
        comments=None if held is None else sum(held.values()),
        refusal=refusal,
        typed=_typed(),
    )
