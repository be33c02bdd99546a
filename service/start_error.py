"""The error for whatever keeps Slopsieve from starting: one clear line and an exit code."""

from __future__ import annotations

from enum import IntEnum

from service.domain.errors import ModerationError


class ExitCode(IntEnum):
    """What a process that could not start exits with, so that scripts can tell why."""

    FAILED = 1
    SETTINGS = 2
    DATA_FOLDER = 3
    DATABASE = 4
    VALKEY = 5
    ADDRESS = 6
    PACKAGE = 7
    ALREADY_RUNNING = 8


class StartError(ModerationError):
    """Slopsieve cannot start; the message says in one line what is wrong and what to do."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.FAILED) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class SettingsError(StartError):
    """The environment is wrong; the message has one line for each thing that is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.SETTINGS)
