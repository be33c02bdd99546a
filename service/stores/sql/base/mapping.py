"""Maps data classes to columns of the same names, or to JSON, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
Values = dict[str, Any]
Change = Callable[[Any], Any]
_NONE: Mapping[str, str] = {}
# What most fields are, told by one look; a string that is an enum's member is none of them.
_IN_COLUMNS = frozenset({NoneType, str, int, float, bool, datetime})


def writer(
    of: type[DataclassInstance],
    *,
    prefix: str = "",
    columns: Mapping[str, str] = _NONE,
    **writes: Change,
) -> Callable[[Any], Values]:
    """Return how values of a data class become columns, each named for its field.

    `columns` names those that are called otherwise than their field; a field whose metadata says
    `"kept": False` has none. What a field of `writes` becomes, that function says; of any other a
    column takes it as it is or as JSON.
    """
    made = [
        (field.name, prefix + columns.get(field.name, field.name), writes.get(field.name, _written))
        for field in _kept_fields(of)
    ]

    def write(value: object) -> Values:
        return {column: as_kept(getattr(value, name)) for name, column, as_kept in made}

    return write


def reader(
    of: type[Value],
    *,
    prefix: str = "",
    columns: Mapping[str, str] = _NONE,
    **reads: Change,
) -> Callable[[Any], Value]:
    """Return how rows, or what has the same names, become values of a data class, field by field.

    It reads what `writer` wrote. What a column of `reads` becomes, that function says; any other
    becomes what the field's type says. Reading raises `AttributeError` where a column is missing.
    """
    names = tuple(field.name for field in _kept_fields(of))
    read_columns = attrgetter(*(prefix + columns.get(name, name) for name in names))
    changes = [
        (name, change)
        for name, change in _changes(of, reads).items()
        # A column gives moments as they are.
        if change not in (None, _moment)
    ]

    def read(row: object) -> Value:
        # As many columns as names; to have that checked would take as long as all the rest.
        found = dict(zip(names, read_columns(row), strict=False))
        for name, change in changes:
            found[name] = change(found[name])
        return of(**found)

    return read


def json_reader(
    of: type[Value], *, columns: Mapping[str, str] = _NONE, **reads: Change
) -> Callable[[Mapping[str, Any] | None], Value]:
    """Return how a JSON object becomes a value of a data class.

    What it lacks has its default, as has all where there is no object. What no field is named for
    is left out: another version wrote it.
    """
    made = [
        (name, columns.get(name, name), change or _same)
        for name, change in _changes(of, reads).items()
    ]

    def read(kept: Mapping[str, Any] | None) -> Value:
        values = kept or {}
        found = {name: change(values[key]) for name, key, change in made if key in values}
        return of(**found)

    return read


def _kept_fields(of: type[DataclassInstance]) -> list[Field[Any]]:
    return [field for field in fields(of) if field.metadata.get("kept", True)]


def _written(value: Any) -> Any:
    """Return the value of a column for a field. A datetime stays a datetime."""
    return value if type(value) in _IN_COLUMNS else as_json(value)


def as_json(value: Any) -> Any:
    """Return a value as JSON takes it. A data class becomes an object with its fields."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [as_json(one) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    return value


def _changes(of: type[DataclassInstance], reads: Mapping[str, Change]) -> dict[str, Change | None]:
    """Return a function for each field that reads the stored value, None if none is needed."""
    types = get_type_hints(of)
    return {
        field.name: reads.get(field.name) or _change(types[field.name])
        for field in _kept_fields(of)
    }


def _change(kind: Any) -> Change | None:
    """Return the function that reads a value of this type from JSON, None if none is needed."""
    if get_origin(kind) is UnionType:
        inner = _change(next(one for one in get_args(kind) if one is not NoneType))
        if inner is None or inner is _moment:
            return inner
        return lambda kept: None if kept is None else inner(kept)
    if get_origin(kind) is tuple:
        each = _change(get_args(kind)[0])
        return tuple if each is None else lambda kept: tuple(map(each, kept))
    if kind is datetime:
        return _moment
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Enum):
        return kind
    return json_reader(kind) if is_dataclass(kind) else None


def _moment(kept: str | None) -> datetime | None:
    return None if kept is None else datetime.fromisoformat(kept)


def _same(kept: Any) -> Any:
    return kept
