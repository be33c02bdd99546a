"""Finds the autonomous system of an address in a MaxMind database, mapped into memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import maxminddb

from service.domain.sender import parse_address
from service.start_error import ExitCode, StartError

_NUMBER = "autonomous_system_number"
_MAX_NUMBER = 2**32 - 1


def open_systems(path: Path | None) -> Callable[[str], int | None]:
    """Return what finds an address's system; without a file, none is ever found.

    The file is opened once: a newer one is read after a restart, and must be moved into place,
    never written over. Raises `StartError` for a file that cannot be used.
    """
    if path is None:
        return lambda _address: None
    try:
        reader = maxminddb.open_database(path, maxminddb.MODE_MMAP)
    # The package lets a wrong member of the file's metadata through as a TypeError.
    except (OSError, ValueError, TypeError, maxminddb.InvalidDatabaseError):
        msg = (
            f"SLOPSIEVE_SYSTEMS_FILE cannot be used: {path} is no readable database of autonomous "
            "systems in MaxMind's format (.mmdb)"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER) from None
    return lambda address: _find(reader, address)


def _find(reader: maxminddb.Reader, address: str) -> int | None:
    """Return the number; None for an address that the file does not tell, or tells damaged."""
    try:
        found = reader.get(parse_address(address))
    except (ValueError, maxminddb.InvalidDatabaseError):
        return None
    number = found.get(_NUMBER) if isinstance(found, dict) else None
    return number if isinstance(number, int) and 0 < number <= _MAX_NUMBER else None
