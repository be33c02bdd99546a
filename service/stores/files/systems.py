"""Finds the autonomous system of an address in a memory-mapped MaxMind database."""

from collections.abc import Callable
from pathlib import Path

import maxminddb

from service.domain.sender import parse_address
from service.start_error import ExitCode, StartError


def open_systems(path: Path | None) -> Callable[[str], int | None]:
    """Return a function that finds an address's system; without a file it returns None.

    The file is opened once and must never be overwritten. Raise `StartError` if it is unusable.
    """
    if path is None:
        return lambda _address: None
    try:
        reader = maxminddb.open_database(path, maxminddb.MODE_MMAP)
    # maxminddb raises TypeError for a wrong member of the file's metadata.
    except (OSError, ValueError, TypeError, maxminddb.InvalidDatabaseError):
        msg = (
            f"SLOPSIEVE_SYSTEMS_FILE cannot be used: {path} is no readable database of autonomous "
            "systems in MaxMind's format (.mmdb)"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER) from None

    def find(address: str) -> int | None:
        try:
            found = reader.get(parse_address(address))
        except (ValueError, maxminddb.InvalidDatabaseError):
            return None
        number = found.get("autonomous_system_number") if isinstance(found, dict) else None
        return number if isinstance(number, int) and 0 < number < 2**32 else None

    return find
