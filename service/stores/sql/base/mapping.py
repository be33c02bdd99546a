"""Maps data classes to columns of the same names and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")
Values = dict[str, Any]
_NONE: Mapping[str, str] = {}


def _plain(value: object) -> object:
    """Return what a column or JSON holds of a field: an enum's value, a list of a tuple."""
    if isinstance(value, Enum):
        return value.value
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def writer(
    of: type[DataclassInstance],
    *,
    prefix: str = "",
    columns: Mapping[str, str] = _NONE,
    **writes: Callable[[Any], object],
) -> Callable[[Any], Values]:
    """Return how values of a data class become columns, each named for its field.

    `columns` names those that are called otherwise than their field; a field that does not compare
    has none. What a field of `writes` becomes, that function says; of any other `_plain` does.
    """
    made = [
        (field.name, prefix + columns.get(field.name, field.name), writes.get(field.name, _plain))
        for field in fields(of)
        if field.compare
    ]

    def write(value: object) -> Values:
        return {column: as_kept(getattr(value, name)) for name, column, as_kept in made}

    return write


def reader(
    of: type[Value],
    *,
    prefix: str = "",
    columns: Mapping[str, str] = _NONE,
    **reads: Callable[[Any], Any],
) -> Callable[[Any], Value]:
    """Return how rows, or what has the same names, become values of a data class, field by field.

    Each that compares has a column of its name, after `prefix`, or of that in `columns`. What a
    column of `reads` becomes, that function says; any other stays as it is. Reading raises
    `AttributeError` where a column is missing.
    """
    names = tuple(field.name for field in fields(of) if field.compare)
    read_columns = attrgetter(*(prefix + columns.get(name, name) for name in names))
    changes = tuple(reads.items())

    def read(row: object) -> Value:
        # As many columns as names; to have that checked would take as long as all the rest.
        found = dict(zip(names, read_columns(row), strict=False))
        for name, made in changes:
            found[name] = made(found[name])
        return of(**found)

    return read
