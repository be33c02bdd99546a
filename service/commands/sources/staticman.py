"""Reads Staticman's comments: a folder with a file for each, below a folder for each page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from service.commands.sources.imported import Broken, Entry, LeftOut, import_flat
from service.commands.sources.opened_folder import MAX_FILE_BYTES, FolderFile, OpenedFolder
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.web.edge.moments import read_any_moment
from service.web.webhooks.payload import own_id

ENDINGS = frozenset({".yml", ".yaml", ".json"})
_NAME = "staticman"
# Of each the first that is there; which ones a form has is its owner's choice.
_TEXT = ("message", "comment", "body", "content", "text")
_URL = ("url", "website", "site")
_DATE = ("date", "timestamp", "created")
# Staticman's own ids (`lib/Staticman.js`); a form may send a page or anything else as a parent.
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{9,13}(?:\.[0-9]{1,6})?")
# Seconds of the year 5138 are milliseconds of 1973.
_MILLISECONDS_FROM = 10**11


def read_staticman(folder: OpenedFolder) -> Iterator[Entry]:
    """Yield the comments in the order of their paths. Raises `InvalidInputError` if none is there.

    What was published there is taken for approved: others wait in pull requests.
    """
    number = 0
    for number, file in enumerate(folder.files(), 1):
        yield _read(number, file)
    if number == 0:
        problem = Problem(
            field="file",
            problem="is a folder without comments of Staticman, which are .yml or .json files",
            remedy="give the folder that `path` of staticman.yml names, such as _data/comments",
        )
        raise InvalidInputError([problem])


def _read(number: int, file: FolderFile) -> Entry:
    if file.content is None:
        remedy = "leave out what is no comment, and see that the others can be read"
        return _broken(number, f"has over {MAX_FILE_BYTES >> 10} KiB or can't be opened", remedy)
    load = _load_json if file.path.suffix.lower() == ".json" else _load_yaml
    try:
        fields = load(file.content)
    except (ValueError, RecursionError):
        return _broken(number, "cannot be read", "see whether it is YAML or JSON, in UTF-8")
    if not isinstance(fields, Mapping):
        return _broken(number, "holds no fields", "give the folder with a file for each comment")
    text = _first(fields, _TEXT)
    if not text.strip():
        return LeftOut(number=number)
    own, parent = _words(fields, "_id"), _words(fields, "_parent")
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": own_id(_NAME, own if _ID.fullmatch(own) else _as_text(file.path)),
            "post_url": _page(file.path),
            "author_name": _words(fields, "name"),
            # Mostly a digest of the address, which is none and is left out unsaid.
            "author_email": email if "@" in (email := _words(fields, "email")) else None,
            "author_url": _first(fields, _URL),
            "written_at": _moment(_first(fields, _DATE)),
            "reply_to": own_id(_NAME, parent) if _ID.fullmatch(parent) else None,
        },
        Ruling.APPROVE,
    )


def _page(path: Path) -> str | None:
    """Return the address of a file's page: the folder that it lies in is named for it."""
    return f"/{_as_text(path.parent)}/" if path.parent.parts else None


def _as_text(path: Path) -> str:
    # Names of files need not be UTF-8.
    return path.as_posix().encode("utf-8", "replace").decode()


def _load_json(content: bytes) -> object:
    return json.loads(content)


def _load_yaml(content: bytes) -> object:
    """Return what a file says, each scalar as its characters: no tag makes anything else of it."""
    # Imported late: hardly anybody needs it.
    import yaml

    try:
        return yaml.load(content.decode("utf-8-sig"), Loader=yaml.BaseLoader)  # noqa: S506  # makes text, lists and dictionaries alone
    except yaml.YAMLError:
        raise ValueError("is no YAML") from None


def _first(fields: Mapping[object, object], names: Sequence[str]) -> str:
    """Return the first of these that is there, an empty string for none."""
    return next((found for name in names if (found := _words(fields, name))), "")


def _words(fields: Mapping[object, object], name: str) -> str:
    """Return a field's characters; a number of JSON counts too, anything else is left out."""
    found = fields.get(name)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return str(found) if is_number else found if isinstance(found, str) else ""


def _moment(given: str) -> datetime | None:
    """Return a time by ISO 8601, in seconds or in milliseconds since 1970: Staticman has all."""
    if not _NUMBER.fullmatch(given):
        return read_any_moment(given)
    seconds = float(given)
    return datetime.fromtimestamp(seconds / 1000 if seconds >= _MILLISECONDS_FROM else seconds, UTC)


def _broken(number: int, problem: str, remedy: str) -> Broken:
    return Broken(number=number, problems=(Problem(field="file", problem=problem, remedy=remedy),))
