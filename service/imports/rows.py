"""Reads comments in rows: JSON lines and CSV."""

import csv
from collections.abc import Iterator, Mapping
from itertools import count
from typing import cast

from service.domain.decision import Ruling
from service.domain.errors import invalid_input
from service.imports.encodings import LATIN
from service.imports.imported import Entry, Imported, derived_id, import_flat, read_written_at
from service.imports.input_files import Broken, InputFile
from service.web.edge import strict_json
from service.web.edge.errors import UnreadableRequestError

_MAX_CELL_CHARS = 1 << 20
_MAX_ROW_CHARS = 4 << 20
# A last line of characters that no text has.
_END = "\x1c\x00\x1c"
_CLOSE = "see that every quote that opens a cell is closed, and doubled within"
# Our own names, of exports and the data card.
_ALIASES = {
    "text": "text", "comment": "text", "content": "text", "message": "text", "body": "text",
    "site_comment_id": "site_comment_id", "id": "site_comment_id", "comment_id": "site_comment_id",
    "post_url": "post_url", "permalink": "post_url",
    "post_title": "post_title", "title": "post_title", "post_excerpt": "post_excerpt",
    "author_name": "author_name", "author": "author_name", "name": "author_name",
    "author_email": "author_email", "email": "author_email",
    "author_url": "author_url", "website": "author_url",
    "address": "address", "user_ip": "address", "ip": "address",
    "written_at": "written_at", "date": "written_at", "created_at": "written_at",
    "language": "language", "lang": "language", "reply_to": "reply_to", "parent": "reply_to",
    "user_agent": "user_agent", "keep": "keep",
}  # fmt: skip
_RULING_FIELDS = ("label", "status", "decision", "ruling")
_RULINGS = {
    "spam": Ruling.REJECT, "reject": Ruling.REJECT, "rejected": Ruling.REJECT,
    "ham": Ruling.APPROVE, "approve": Ruling.APPROVE, "approved": Ruling.APPROVE,
}  # fmt: skip


def read_jsonl(file: InputFile) -> Iterator[Entry]:
    """Yield the comments of JSON lines, with the API's fields or the data card's."""
    for number, row in json_rows(file):
        yield row if isinstance(row, Broken) else _read_row(number, row)


def json_rows(file: InputFile) -> Iterator[tuple[int, Mapping[str, object] | Broken]]:
    """Yield the objects on each line that is not empty, with the line's number.

    The lines may be those of an array, with commas and brackets around the objects.
    """
    for number, line in file.lines():
        if isinstance(line, Broken):
            yield number, line
        elif line.strip() not in (b"[", b"]"):
            bare = line.strip(b"[], \t\r\n\x1e") or line
            yield from ((number, row) for row in _parse(number, bare))


def read_csv(file: InputFile) -> Iterator[Entry]:
    """Yield the comments of a CSV file whose first row names the columns.

    Raises `InvalidInputError` if no column holds the text.
    """
    csv.field_size_limit(_MAX_CELL_CHARS)
    lines = _Lines(file)
    try:
        # Excel writes its separator alone before the header.
        first = next((line for line in lines if line.strip() and line[:4] != "sep="), "")
        choices = [(one, next(csv.reader([first], delimiter=one), [])) for one in ",;\t|"]
    except (csv.Error, _RowTooLongError):
        choices = []
    for delimiter, names in choices:
        header = [name.strip().lower() for name in names]
        if "text" in (_ALIASES.get(name) for name in header):
            rows = csv.reader(lines, delimiter=delimiter)
            break
    else:
        raise invalid_input("text", "is no column of this file", "name the columns in row one")
    for number in count(2):
        begins = lines.count + 1
        lines.chars = 0
        try:
            row = next(rows, [_END])
        except (csv.Error, _RowTooLongError):
            where = f"lines {begins:,} to {lines.count:,} are left out: a row"
            yield Broken.line(number, f"{where} or a cell in it is too long", _CLOSE)
            continue
        if row == [_END]:
            if file.is_damaged:
                yield Broken.damaged(number)
            return
        if row and row[-1].endswith(_END):
            where = f"lines {begins:,} to the last are left out: a quoted cell"
            yield Broken.line(number, f"{where} does not end", _CLOSE)
            return
        if row:
            yield _read_flat(number, dict(zip(header, row, strict=False)))


class _RowTooLongError(Exception):
    """A row has more characters than any comment."""


class _Lines:
    """Gives a CSV reader its lines, and limits the memory of each row."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._text = file.text()
        self._has_ended = False
        self.count = 0
        # Of the row, whose reader sets it to 0.
        self.chars = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return a line, at the end a mark that reveals an unclosed cell. Raise for a long row."""
        line = self._text.readline(_MAX_ROW_CHARS)
        if not line or (self._file.is_damaged and not line.endswith("\n")):
            if self._has_ended:
                raise StopIteration
            self._has_ended = True
            return _END
        self.count += 1
        self.chars += len(line)
        while len(line) == _MAX_ROW_CHARS and not line.endswith("\n"):
            line = self._text.readline(_MAX_ROW_CHARS)
        if self.chars >= _MAX_ROW_CHARS:
            raise _RowTooLongError
        return line


def _parse(number: int, line: bytes) -> list[Mapping[str, object] | Broken]:
    remedy = "put one JSON object on each line"
    try:
        rows = strict_json.parse(f"[{line.decode('utf-8', LATIN)}]".encode())
    except UnreadableRequestError:
        return [Broken.line(number, "is not JSON", remedy)]
    return [
        row if isinstance(row, dict) else Broken.line(number, "is not a JSON object", remedy)
        for row in cast("list[object]", rows)
    ]


def _read_row(number: int, row: Mapping[str, object]) -> Entry:
    if isinstance(row.get("post"), dict) or isinstance(row.get("author"), dict):
        document = {name: value for name, value in row.items() if name not in _RULING_FIELDS}
        if "site_comment_id" not in document:
            document["site_comment_id"] = derived_id(row)
        return Imported(number=number, document=document, ruling=_ruling(row))
    return _read_flat(number, row)


def _read_flat(number: int, row: Mapping[str, object]) -> Entry:
    given: dict[str, object] = {}
    for name, value in row.items():
        known = _ALIASES.get(name.lower())
        if known and value not in (None, ""):
            given.setdefault(known, value)
    if not isinstance(given.get("text", ""), str):
        return Broken.line(number, "has a text that is not a string", "give every comment its text")
    if not str(given.get("text", "")).strip():
        return None
    given["written_at"] = read_written_at(given.get("written_at"))
    given["site_comment_id"] = given.get("site_comment_id") or derived_id(row)
    return import_flat(number, given, _ruling(row))


def _ruling(row: Mapping[str, object]) -> Ruling | None:
    given = (str(row.get(name, "")).strip().lower() for name in _RULING_FIELDS)
    return next((_RULINGS[one] for one in given if one in _RULINGS), None)
