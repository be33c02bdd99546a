"""Lets only messages that have our producers' form through to a worker; drops all others.

A foreign message, or one that was damaged on its way, would end the process that receives it, and
the next one too. It is taken out of its list with one line in the log, which never quotes it.
"""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

from kombu import Connection
from kombu.transport import redis

from service.tasks.names import COMMENT_ID_FIELD, LANE_QUEUES

log = logging.getLogger(__name__)

_MAX_ID_CHARS = 100
_LANES = frozenset(queue.value for queue in LANE_QUEUES.values())


class GatedConnection(Connection):  # type: ignore[misc]  # kombu ships no types
    """A connection to Valkey whose consumers are handed messages of ours alone."""

    def get_transport_cls(self) -> type:
        """Return kombu's transport with the gate in it."""
        return _Transport


def is_ours(message: object) -> bool:
    """Return True if a message has the form that our producers write."""
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
                content = json.loads(base64.b64decode(body, validate=True).decode())
            except (ValueError, RecursionError):
                return False
            if not isinstance(content, dict) or content.keys() != {COMMENT_ID_FIELD}:
                return False
            comment_id = content[COMMENT_ID_FIELD]
            is_id = isinstance(comment_id, str) and 0 < len(comment_id) <= _MAX_ID_CHARS
            # What a worker put back says so in a header; there are no others.
            return is_id and not headers.keys() - {"redelivered"}
        case _:
            return False


class _QoS(redis.QoS):  # type: ignore[misc]  # kombu ships no types
    """Puts messages of dead workers back; what is none of ours would hold up all behind it."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:  # noqa: FBT001, FBT002  # kombu's own signature
        """Put one message back into its list, or drop it."""
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, AttributeError, RecursionError):
            log.exception("a message was not understood", extra={"queue": self.unacked_key})
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
            log.exception("a message was not understood")
            return True


class _Transport(redis.Transport):  # type: ignore[misc]  # kombu ships no types
    Channel = _Channel
    has_read = False

    def _deliver(self, message: object, queue: str) -> None:
        """Hand a message to its consumer."""
        self.has_read = True
        if queue in _LANES and is_ours(message):
            super()._deliver(message, queue)
        else:
            log.error("a message was not understood", extra={"queue": queue})
