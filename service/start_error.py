"""The error that stops a start: one clear line and an exit code."""

from enum import IntEnum

from service.domain.errors import ModerationError


class ExitCode(IntEnum):
    """The exit codes of a process that could not start, so that scripts can distinguish them."""

    FAILED = 1
    SETTINGS = 2
    DATA_FOLDER = 3
    DATABASE = 4
    VALKEY = 5
    ADDRESS = 6
    PACKAGE = 7
    ALREADY_RUNNING = 8


class StartError(ModerationError):
    """Slopsieve cannot start. The message names the fault and its remedy in one line."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.FAILED) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class SettingsError(StartError):
    """The environment is wrong. The message has one line per fault."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.SETTINGS)
