"""Lets only messages that have our producers' form through to a worker; drops all others.

A foreign message, or one that was damaged on its way, would end the process that receives it, and
the next one too. It is taken out of its list with one line in the log, which never quotes it.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kombu import Connection
from kombu.transport import redis

from service.tasks.names import TaskName

log = logging.getLogger(__name__)

_TASKS = frozenset(task.value for task in TaskName)
# As Celery writes it for a task that may take as long as it likes.
_NO_LIMITS = [None, None]


class GatedConnection(Connection):  # type: ignore[misc]  # kombu ships no types
    """A connection to Valkey whose consumers are handed messages of ours alone."""

    def get_transport_cls(self) -> type:
        """Return kombu's transport with the gate in it."""
        return _Transport


def is_ours(message: object) -> bool:
    """Say whether a message that was read from a list has the form that our producers write."""
    match message:
        case {
            "body": str(body),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": dict(headers),
            "properties": {
                "body_encoding": "base64",
                "delivery_tag": str(),
                "delivery_info": {"exchange": str(), "routing_key": str()},
            },
        } if "compression" not in headers:
            try:
                content = json.loads(base64.b64decode(body, validate=True))
            except (ValueError, RecursionError):
                return False
            # What a worker put back says so in a header; ids alone have no other.
            is_task = bool(headers.keys() - {"redelivered"})
            return _asks_for_a_task(headers, content) if is_task else isinstance(content, dict)
        case _:
            return False


def _asks_for_a_task(headers: Mapping[str, Any], content: object) -> bool:
    match content:
        case [[], dict(named), dict(rest)] if not named and not any(rest.values()):
            return (
                headers.get("task") in _TASKS
                and isinstance(headers.get("id"), str)
                and headers.get("eta") is None
                and _is_moment(headers.get("expires"))
                and headers.get("timelimit") == _NO_LIMITS
                and headers.get("retries") == 0
            )
        case _:
            return False


def _is_moment(given: object) -> bool:
    if given is None:
        return True
    try:
        return isinstance(given, str) and datetime.fromisoformat(given).tzinfo is not None
    except ValueError:
        return False


class _QoS(redis.QoS):  # type: ignore[misc]  # kombu ships no types
    """Puts messages of dead workers back; what is none of ours would hold up all behind it."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:  # noqa: FBT001, FBT002  # kombu's own signature
        """Put one message back into its list, or drop it."""
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, AttributeError, RecursionError):
            log.error("a message was not understood", extra={"queue": self.unacked_key})  # noqa: TRY400  # a traceback could carry the message
            self._remove_from_indices(tag).execute()


class _Channel(redis.Channel):  # type: ignore[misc]  # kombu ships no types
    QoS = _QoS

    def _brpop_read(self, **options: Any) -> Any:
        """Read and deliver one message; one that is no JSON is off its list already."""
        self.connection.has_read = False
        try:
            return super()._brpop_read(**options)
        except Exception as error:
            expected = (*self.connection.connection_errors, *self.connection.channel_errors)
            if self.connection.has_read or isinstance(error, (*expected, redis.Empty)):
                raise
            log.error("a message was not understood", extra={"error": type(error).__name__})  # noqa: TRY400  # a traceback could carry the message
            return True


class _Transport(redis.Transport):  # type: ignore[misc]  # kombu ships no types
    Channel = _Channel
    has_read = False

    def _deliver(self, message: object, queue: str) -> None:
        """Hand a message to its consumer."""
        self.has_read = True
        if is_ours(message):
            super()._deliver(message, queue)
        else:
            log.error("a message was not understood", extra={"queue": queue})
