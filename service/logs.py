"""Sets up logging: one event, one line, fixed words plus fields, nobody's data."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from pathlib import Path

_OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_MAX_VALUE_CHARS = 200
_MAX_MESSAGE_CHARS = 500
# These tell of every message and every connection; what is worth knowing they say as warnings.
_QUIET = ("celery", "kombu", "amqp", "waitress", "alembic", "sqlalchemy", "urllib3", "py.warnings")


class LineFormatter(logging.Formatter):
    """Writes `time LEVEL words key=value …`, whatever the message holds, in a single line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        parts = [self.formatTime(record), record.levelname, _one_line(record.getMessage())]
        fields = {k: v for k, v in record.__dict__.items() if k not in _OWN_FIELDS}
        fields |= _failure(record)
        parts += [f"{key}={_value(value)}" for key, value in fields.items()]
        return " ".join(parts)


def configure_logging() -> None:
    """Send this process's events to standard error, for `slopsieve up` to prefix and pass on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter("%(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # Says at every request how many are in line: in a rush, a line for each and nothing new.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def _failure(record: logging.LogRecord) -> dict[str, str]:
    """Return an exception's type and place. Its message may quote a comment, so it stays out."""
    if not record.exc_info or record.exc_info[1] is None:
        return {}
    error = record.exc_info[1]
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
    return {"error": type(error).__name__, "at": place}


def _one_line(text: str) -> str:
    first, *more = text.strip().splitlines() or [""]
    return f"{first[:_MAX_MESSAGE_CHARS]}{' …' if more else ''}"


def _value(value: object) -> str:
    text = str(value)[:_MAX_VALUE_CHARS]
    plain = text.isprintable() and not set(text) & set(' "=')
    return text if text and plain else json.dumps(text)
