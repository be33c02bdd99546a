"""The page where an owner hands out, forgets and erases what is held about a person.

What says who it is comes in forms alone: it stands in no address, no cookie and no log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from flask import (
    Response,
    redirect,
    render_template,
    request,
    session,
    stream_with_context,
    url_for,
)
from flask.typing import ResponseReturnValue

from service.domain.errors import InvalidInputError
from service.domain.person import Person
from service.domain.user import Permission
from service.moderation.admin.acts import record_act
from service.moderation.privacy.erase import (
    count_comments,
    erase_person,
    export_person,
    find_person,
)
from service.moderation.privacy.forget import forget_sender
from service.web.edge.language import gettext, ngettext
from service.web.edge.moments import write_moment
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, pages, services

# Some seconds of work; the page says how many are left, and goes on.
ERASED_AT_ONCE = 1_000
_TOLD = "told_personal_data"
_FIELDS = ("email", "name", "address")
_MAX_TYPED_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How many comments of a person are kept, in all and by the sites' names."""

    comments: int
    by_site: tuple[tuple[tuple[Piece, ...], int], ...]


@pages.get("/personal-data")
@needs(Permission.ERASE_PEOPLE)
def personal_data() -> ResponseReturnValue:
    return _page(told=session.pop(_TOLD, ""))


@pages.post("/personal-data")
@needs(Permission.ERASE_PEOPLE)
def find_personal_data() -> ResponseReturnValue:
    return _for_person(
        lambda person: _page(held=_held(person)),
    )


@pages.post("/personal-data/export")
@needs(Permission.ERASE_PEOPLE)
def export_personal_data() -> ResponseReturnValue:
    return _for_person(lambda person: _export(person))


@pages.post("/personal-data/forget")
@needs(Permission.ERASE_PEOPLE)
def forget_personal_data() -> ResponseReturnValue:
    return _for_person(lambda person: _forget(person))


@pages.post("/personal-data/erase")
@needs(Permission.ERASE_PEOPLE)
def erase_personal_data() -> ResponseReturnValue:
    return _for_person(lambda person: _erase(person))


def _for_person(act: Callable[[Person], ResponseReturnValue]) -> ResponseReturnValue:
    """Do this for the person whom the form names, or say why it names none."""
    typed = _typed()
    try:
        person = find_person(
            services.reputation,
            address=typed["address"] or None,
            email=typed["email"] or None,
            name=typed["name"] or None,
        )
    except InvalidInputError:
        refusal = gettext("Give at least one of the three; an address such as 192.0.2.7.")
        return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    return act(person)


def _export(person: Person) -> ResponseReturnValue:
    record_act(services.common, actor=moderator().name, act="export person", subject="person")
    return Response(
        stream_with_context(_lines(person)),
        mimetype="application/jsonl",
        headers={"Content-Disposition": 'attachment; filename="personal-data.jsonl"'},
    )


def _lines(person: Person) -> Iterator[str]:
    for record in export_person(person, services):
        yield json.dumps(record, default=_plain) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return write_moment(value)
    msg = f"no JSON for a {type(value).__name__}"
    raise TypeError(msg)


def _forget(person: Person) -> ResponseReturnValue:
    held = _held(person)
    if not _is_confirmed(held):
        return _unconfirmed(held)
    forgotten = forget_sender(person.sender, services, by=moderator().name)
    return _back(
        ngettext(
            "%(num)s comment lost its sender keys; its text is kept.",
            "%(num)s comments lost their sender keys; their text is kept.",
            forgotten,
        )
    )


def _erase(person: Person) -> ResponseReturnValue:
    held = _held(person)
    if not _is_confirmed(held):
        return _unconfirmed(held)
    erased = erase_person(person, services, by=moderator().name, at_most=ERASED_AT_ONCE)
    told = ngettext("%(num)s comment was erased.", "%(num)s comments were erased.", erased)
    left = _held(person)
    if not left.comments:
        return _back(told)
    return _page(held=left, told=told)


def _is_confirmed(held: Held) -> bool:
    """Return True if the current number of comments was typed: neither act can be undone."""
    return request.form.get("count", "").strip() == str(held.comments)


def _unconfirmed(held: Held) -> ResponseReturnValue:
    refusal = gettext("Nothing was erased: type the number of comments as it stands below.")
    return _page(held=held, refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY


def _back(told: str) -> ResponseReturnValue:
    session[_TOLD] = told
    return redirect(url_for("pages.personal_data"), HTTPStatus.SEE_OTHER)


def _held(
    person: Person,
) -> Held:
    counts = count_comments(person, services.reputation)
    names = {site.id: site.name for site in services.common.sites.all()}
    by_site = sorted((names.get(site_id, site_id), count) for site_id, count in counts.items())
    return Held(
        comments=sum(counts.values()),
        by_site=tuple((part_text(name), count) for name, count in by_site),
    )


def _typed() -> dict[str, str]:
    return {name: request.form.get(name, "").strip()[:_MAX_TYPED_CHARS] for name in _FIELDS}


def _page(*, held: Held | None = None, refusal: str = "", told: str = "") -> str:
    return render_template(
        "personal_data.html", held=held, refusal=refusal, told=told, typed=_typed()
    )
