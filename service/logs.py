"""Sets up logging: one line per event, with fixed words and fields and no personal data."""

import json
import logging
import re
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from service import PREFIX

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that this thread serves. Every log line of the thread has it."""

_OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_OUR_FILES = tuple(str(Path(__file__).parents[1] / name) for name in ("service", "models"))
_MAX_VALUE_CHARS = 200
_MAX_MESSAGE_CHARS = 500
# The ids of a batch, some 30 characters each.
_MAX_LISTED = 200
# These log every message and connection as INFO; only their warnings are useful.
_QUIET = ("celery", "kombu", "amqp", "waitress", "alembic", "sqlalchemy", "urllib3", "py.warnings")
# The HTTP server's lines continue with a path, or with the client's address and its input.
_SERVER = "waitress"
_REQUEST_PART = re.compile(r" [</].*", re.DOTALL)


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class LineFormatter(logging.Formatter):
    """Formats a record as one line: `time LEVEL words key=value …`."""

    def format(self, record: logging.LogRecord) -> str:
        parts = [self.formatTime(record), record.levelname, _one_line(_words(record))]
        fields = _fields(record)
        parts += [f"{key}={_value(value)}" for key, value in fields.items()]
        return " ".join(parts)


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: time, level, process, event and fields.

    `process` is the process's name in metrics too.
    """

    def __init__(self, process: str = "") -> None:
        super().__init__("%(message)s")
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "event": _one_line(_words(record)),
            "process": self._process,
            "pid": record.process,
            "logger": record.name.removeprefix(PREFIX),
        }
        fields = {key: _json_value(value) for key, value in _fields(record).items()}
        # Last, so that an event's field cannot replace one of these.
        return json.dumps(fields | line)


class WordsFormatter(logging.Formatter):
    """Formats a record as its words alone, followed by an exception's type and place."""

    def format(self, record: logging.LogRecord) -> str:
        failure = (f"{key}={_value(value)}" for key, value in _failure(record).items())
        return " ".join([_one_line(_words(record)), *failure])


def line_of_another(process: str, text: str) -> str:
    """Return another program's line as a line of JSON. A line that is JSON stays as it is."""
    if text.startswith("{") and text.endswith("}"):
        return text
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": at, "level": "INFO", "event": _one_line(text), "process": process})


def configure_logging(form: LogFormat = LogFormat.TEXT, *, process: str = "") -> None:
    """Send this process's events to standard error. `slopsieve up` adds a prefix to each line."""
    handler = logging.StreamHandler(sys.stderr)
    is_json = form is LogFormat.JSON
    handler.setFormatter(JsonFormatter(process) if is_json else LineFormatter("%(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns of each request that waits for a thread, which is too much in a flood.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def configure_command_logging() -> None:
    """Print a command's warnings on standard error as words, without exceptions' messages."""
    handler = logging.lastResort
    if handler is not None:
        handler.setFormatter(WordsFormatter("%(message)s"))


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = {k: v for k, v in record.__dict__.items() if k not in _OWN_FIELDS}
    if (request_id := REQUEST_ID.get()) and "request_id" not in fields:
        fields["request_id"] = request_id
    return fields | _failure(record)


def _failure(record: logging.LogRecord) -> dict[str, str]:
    """Return an exception's type and place in our code, not its message: it may quote a comment."""
    if not record.exc_info or record.exc_info[1] is None:
        return {}
    error = record.exc_info[1]
    frames = traceback.extract_tb(error.__traceback__)
    frames[:] = [one for one in frames if one.filename.startswith(_OUR_FILES)] or frames
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
    return {"error": type(error).__name__, "at": place}


def _words(record: logging.LogRecord) -> str:
    words = record.getMessage()
    return _REQUEST_PART.sub("", words) if record.name == _SERVER else words


def _one_line(text: str) -> str:
    first, *more = text.strip().splitlines() or [""]
    return f"{first[:_MAX_MESSAGE_CHARS]}{' …' if more else ''}"


def _json_value(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [str(one)[:_MAX_VALUE_CHARS] for one in value[:_MAX_LISTED]]
    return str(value)[:_MAX_VALUE_CHARS]


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_value(one) for one in value[:_MAX_LISTED])
    text = str(value)[:_MAX_VALUE_CHARS]
    plain = text.isprintable() and not set(text) & set(' "=')
    return text if text and plain else json.dumps(text)
